// The form for a review below a product. Visitors see the review once the store has looked at it.
import { field, isTrap } from "units/inc_page.js";

export function main({ product, url }) {
  const { method, post, query } = shop.request;
  const state = { product, url, sent: query.reviewed === "1", errors: [], values: {} };
  if (method !== "POST" || post.do !== "review") {
    return shop.render("main.htm", state);
  }
  const values = { name: field(post, "name"), rating: Number(field(post, "rating")), text: field(post, "text") };
  const errors = wrong(values);
  if (errors.length === 0 && !isTrap(post)) {
    try {
      shop.reviews.add({ product, ...values });
    } catch (error) {
      if (error.code !== "LIMIT") {
        throw error;
      }
      errors.push({ field: "text", key: "too_many" });
    }
  }
  if (errors.length) {
    shop.status(422);
    return shop.render("main.htm", { ...state, errors, values });
  }
  shop.redirect(url + "?reviewed=1#reviews", 303);
  return "";
}

/** What is wrong with the fields: their names and the keys of the words. */
function wrong({ name, rating, text }) {
  const errors = [];
  if (![1, 2, 3, 4, 5].includes(rating)) {
    errors.push({ field: "rating", key: "wrong_rating" });
  }
  if (!name || name.length > 80) {
    errors.push({ field: "name", key: "wrong_name" });
  }
  if (text.length < 10 || text.length > 5000) {
    errors.push({ field: "text", key: "wrong_text" });
  }
  return errors;
}
