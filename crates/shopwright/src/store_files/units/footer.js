// The foot of every page: departments, the owner's menu, the languages.
import { at } from "units/inc_page.js";

export function main() {
  return shop.render("main.htm", {
    store: shop.config("name"),
    departments: shop.categories.tree({ depth: 1 }).slice(0, 7),
    items: shop.menus.get("footer"),
    contact: at("contact"),
    homes: shop.pages.homes(),
    language: shop.language,
  });
}
