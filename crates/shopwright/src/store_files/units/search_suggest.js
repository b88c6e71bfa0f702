// What the search field suggests while somebody types: departments and products, as data for the page's script.
import { at, address } from "units/inc_page.js";

const MOST = 6;

export function main() {
  const query = shop.request.query;
  const typed = typeof query.q === "string" ? query.q.trim().slice(0, 100) : "";
  if (typed.length < 2) {
    return { items: [] };
  }
  const found = shop.search(typed, { per: MOST });
  return {
    meant: found.meant,
    all: address(at("search"), { q: typed }),
    total: found.total,
    items: found.items.map((product) => ({
      name: product.name,
      url: product.url,
      price: product.price ? product.price.text : "",
      image: product.image ? shop.image(product.image, { width: 160 }).url : "",
    })),
  };
}
