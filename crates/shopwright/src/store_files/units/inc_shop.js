// What cart, checkout, order and account have in common: forms that were sent, own addresses, what is wrong.
import { show } from "units/inc_page.js";

/** The fields of the form that was sent; null where a page was only asked for. */
export function sent() {
  return shop.request.method === "POST" ? shop.request.post : null;
}

/** One of the store's own pages, in the language of this page. */
export function own(path) {
  return shop.language === shop.config("language") ? path : "/" + shop.language + path;
}

/** Sends the visitor on after a form, so that going back or reloading sends nothing twice. */
export function go(path) {
  shop.redirect(path, 303);
  return "";
}

/** Where a visitor wanted to go before they signed in: a page of this store, or none. */
export function wanted(next) {
  return typeof next === "string" && /^\/(?![\/\\])[\w\-.~%\/?=&+]*$/.test(next) ? next : null;
}

/** Lines with their pictures in the size that lists show. */
export function withThumbs(lines) {
  return lines.map((line) => ({
    ...line,
    thumb: line.image ? shop.image(line.image, { width: 160, height: 160, fit: "cover" }) : null,
  }));
}

/** Shows a page that is one visitor's own, with what is wrong on it. */
export function showOwn(template, page, problems = []) {
  if (problems.length) {
    shop.status(422);
  }
  return show(template, {
    is_hidden: true,
    links: { cart: own("/cart"), checkout: own("/checkout"), account: own("/account") },
    problems,
    ...page,
  });
}
