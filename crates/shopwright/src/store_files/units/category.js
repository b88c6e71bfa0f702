// A category: its products by page, sorted, and narrowed by what they have in common.
import { address, numbers, show, summary } from "units/inc_page.js";

const SORTS = ["popular", "new", "price", "price_down", "name", "rating"];
const PER = 24;

export function main({ id }) {
  const category = shop.categories.get(id);
  if (!category) {
    shop.status(404);
    return shop.unit("not_found");
  }
  const query = shop.request.query;
  const page = Number(query.page ?? 1);
  const sort = SORTS.includes(query.sort) ? query.sort : category.sort;
  const filters = chosen(query);
  const found = Number.isInteger(page) && page >= 1
    ? shop.products.list({ category: id, page, per: PER, sort, filters, facets: true })
    : null;
  if (!found || (page > 1 && found.items.length === 0)) {
    shop.status(404);
    return shop.unit("not_found");
  }
  const fields = { ...listed(filters), sort: sort === category.sort ? "" : sort };
  const at = (number) => address(category.url, { ...fields, page: number > 1 ? number : "" });
  const isNarrowed = Object.keys(filters).length > 0;
  return show("main.htm", {
    // Pages are addresses of their own; filters and sorts are not.
    path: address(category.url, { page: page > 1 ? page : "" }),
    urls: page > 1 || isNarrowed ? null : category.urls,
    is_hidden: isNarrowed || fields.sort !== "",
    description: category.seo_description ?? summary(category.text),
    category,
    found,
    sort,
    sorts: SORTS,
    filters,
    own_sort: fields.sort,
    chosen: taken(found.facets, (name, key) => {
      const others = (filters[name] ?? []).filter((one) => one !== key);
      const rest = { ...filters, [name]: others.length < (filters[name] ?? []).length ? others : [] };
      return address(category.url, { ...listed(rest), sort: fields.sort });
    }),
    pages: numbers(page, found.pages).map((number) => ({ number, url: number ? at(number) : null, here: number === page })),
    previous: page > 1 ? at(page - 1) : null,
    next: page < found.pages ? at(page + 1) : null,
  });
}

/** The choices in an address: every field that begins with `f_`. */
function chosen(query) {
  const filters = {};
  for (const [name, value] of Object.entries(query)) {
    if (/^f_[a-z0-9_]{1,60}$/i.test(name)) {
      const values = (Array.isArray(value) ? value : [value]).filter((one) => one !== "");
      if (values.length) {
        filters[name] = values;
      }
    }
  }
  return filters;
}

/** Lists as forms write them. */
function listed(filters) {
  return Object.fromEntries(Object.entries(filters).map(([name, values]) => [name + "[]", values]));
}

/** What is chosen, each with the address without it. */
function taken(facets, without) {
  return facets.flatMap((facet) => facet.choices.filter((choice) => choice.chosen).map((choice) => ({
    name: facet.choices.length === 1 && choice.name === facet.name ? choice.name : facet.name + ": " + choice.name,
    url: without("f_" + facet.key, choice.key),
  })));
}
