// What somebody searched for: products, the best first, and departments of that name.
import { address, at, numbers, show } from "units/inc_page.js";

const PER = 24;

export function main() {
  const query = shop.request.query;
  const typed = typeof query.q === "string" ? query.q.trim().slice(0, 200) : "";
  const page = Number(query.page ?? 1);
  if (!Number.isInteger(page) || page < 1) {
    shop.status(404);
    return shop.unit("not_found");
  }
  const found = typed ? shop.search(typed, { page, per: PER }) : { items: [], total: 0, pages: 0, meant: null };
  if (page > 1 && found.items.length === 0) {
    shop.status(404);
    return shop.unit("not_found");
  }
  const here = (number) => address(at("search"), { q: typed, page: number > 1 ? number : "" });
  return show("main.htm", {
    is_hidden: true,
    typed,
    found,
    departments: typed ? named(shop.categories.tree({ depth: 3 }), found.meant ?? typed) : [],
    ideas: found.total === 0 ? shop.categories.tree({ depth: 1 }) : [],
    popular: found.total === 0 ? shop.products.list({ sort: "popular", per: 4, total: false }).items : [],
    pages: numbers(page, found.pages).map((number) => ({ number, url: number ? here(number) : null, here: number === page })),
    previous: page > 1 ? here(page - 1) : null,
    next: page < found.pages ? here(page + 1) : null,
  });
}

/** Departments whose name holds every word. */
export function named(branches, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (name) => words.every((word) => name.toLowerCase().includes(word));
  return branches.flatMap((branch) => [
    ...(fits(branch.name) ? [{ name: branch.name, url: branch.url }] : []),
    ...named(branch.children ?? [], typed),
  ]).slice(0, 6);
}
