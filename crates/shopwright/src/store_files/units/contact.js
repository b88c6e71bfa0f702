// The contact form: what a visitor writes becomes an event that people and agents of the store see.
import { at, field, isTrap, show } from "units/inc_page.js";

export function main() {
  const { method, post, query } = shop.request;
  const page = { path: at("contact"), form: at("contact"), sent: query.sent === "1", errors: [], values: {} };
  if (method !== "POST") {
    return show("main.htm", page);
  }
  const values = { name: field(post, "name"), email: field(post, "email"), text: field(post, "text") };
  const errors = wrong(values);
  if (errors.length) {
    shop.status(422);
    return show("main.htm", { ...page, is_hidden: true, errors, values });
  }
  // A program is told the same as a person.
  if (!isTrap(post)) {
    shop.event("kMessageNew", { ...values, language: shop.language });
  }
  shop.redirect(at("contact") + "?sent=1", 303);
  return "";
}

/** What is wrong with the fields: their names and the keys of the words. */
function wrong({ name, email, text }) {
  const errors = [];
  if (!name || name.length > 80) {
    errors.push({ field: "name", key: "wrong_name" });
  }
  if (email.length > 200 || !/^[^\s@<>"',;]+@[^\s@<>"',;]+\.[^\s@<>"',;]+$/.test(email)) {
    errors.push({ field: "email", key: "wrong_email" });
  }
  if (text.length < 5 || text.length > 5000) {
    errors.push({ field: "text", key: "wrong_text" });
  }
  return errors;
}
