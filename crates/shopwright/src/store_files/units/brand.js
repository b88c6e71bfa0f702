// A brand: what the shop has of it, by page, sorted and narrowed as a category is.
import { listing } from "units/category.js";
import { brand as data } from "units/inc_seo.js";

export function main({ id }) {
  const brand = shop.brands.get(id);
  if (!brand || !brand.url) {
    shop.status(404);
    return shop.unit("not_found");
  }
  const step = { id: brand.id, name: brand.name, url: brand.url };
  return listing(
    { ...brand, sort: "popular", path: [step], children: [] },
    shop.request.query,
    { filters: { f_brand: [String(brand.id)] }, data: [data(brand)] },
  );
}
