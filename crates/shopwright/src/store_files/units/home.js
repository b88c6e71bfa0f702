// The store's home page: its departments and what is bought most and new.
import { at, home, show, summary } from "units/inc_page.js";
import { organization, website } from "units/inc_seo.js";

/** Pages of text that buyers want to know of before they buy, by their keys. */
const PROMISES = ["delivery", "returns", "about"];

export function main() {
  const popular = shop.products.list({ sort: "popular", per: 8, total: false }).items;
  return show("main.htm", {
    path: home(),
    data: [organization(), website(at("search"))],
    shot: popular.find((product) => product.image)?.image ?? null,
    urls: shop.pages.homes(),
    departments: shop.categories.tree({ depth: 2, pictures: true }),
    popular,
    shots: popular.filter((product) => product.image).slice(0, 3),
    brands: shop.brands.list().filter((brand) => brand.url).slice(0, 24),
    fresh: shop.products.list({ sort: "new", per: 8, total: false }).items,
    promises: PROMISES.map((key) => shop.pages.get(key))
      .filter((page) => page && page.url)
      .map((page) => ({ name: page.name, url: page.url, text: summary(page.text, 90) })),
  });
}
