// What is shown where there is no page, or none any more.
import { show } from "units/inc_page.js";

export function main() {
  return show("main.htm", {
    is_hidden: true,
    departments: shop.categories.tree({ depth: 1 }),
    popular: shop.products.list({ sort: "popular", per: 4, total: false }).items,
  });
}
