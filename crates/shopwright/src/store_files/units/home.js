// The store's home page: its departments and what is bought most and new.
import { home, show } from "units/inc_page.js";

export function main() {
  return show("main.htm", {
    path: home(),
    urls: shop.pages.homes(),
    departments: shop.categories.tree({ depth: 2 }),
    popular: shop.products.list({ sort: "popular", per: 8 }).items,
    fresh: shop.products.list({ sort: "new", per: 8 }).items,
  });
}
