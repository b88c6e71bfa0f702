// A category: its products by page, sorted, and narrowed by what they have in common.
import { address, numbers, show, summary } from "units/inc_page.js";
import { crumbs, list } from "units/inc_seo.js";

const SORTS = ["popular", "new", "price", "price_down", "name", "rating"];
const PER = 24;

export function main({ id }) {
  const category = shop.categories.get(id);
  if (!category) {
    shop.status(404);
    return shop.unit("not_found");
  }
  return listing(category, shop.request.query, { category: id });
}

/** The page of a list of products: of a category, or of what else has a name, an address and products. `of` says
 * which: a category's number, or filters that no visitor takes away. */
export function listing(category, query, of) {
  const page = Number(query.page ?? 1);
  // Pages past the last one with a number begin behind a product.
  const after = typeof query.after === "string" && query.after !== "" ? query.after : null;
  const sort = SORTS.includes(query.sort) ? query.sort : category.sort;
  const filters = chosen(query);
  const found = Number.isInteger(page) && page >= 1
    ? shop.products.list({ category: of.category, page, after, per: PER, sort, filters: { ...filters, ...of.filters }, facets: true })
    : null;
  if (!found || ((page > 1 || after) && found.items.length === 0)) {
    shop.status(404);
    return shop.unit("not_found");
  }
  found.facets = found.facets.filter((facet) => !of.filters?.["f_" + facet.key]);
  const fields = { ...listed(filters), sort: sort === category.sort ? "" : sort };
  const at = (number) => address(category.url, { ...fields, page: number > 1 ? number : "" });
  const next = page < found.pages && !after
    ? at(page + 1)
    : found.next && address(category.url, { ...fields, after: found.next });
  const isNarrowed = Object.keys(filters).length > 0;
  return show("category/main.htm", {
    // Pages are addresses of their own; filters and sorts are not.
    path: address(category.url, after ? { after } : { page: page > 1 ? page : "" }),
    urls: page > 1 || after || isNarrowed ? null : category.urls,
    data: [crumbs(category.path), list(found.items), ...(of.data ?? [])],
    shot: found.items.find((item) => item.image)?.image ?? null,
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
    pages: numbers(after ? found.pages : page, found.pages).map((number) => ({ number, url: number ? at(number) : null, here: !after && number === page })),
    previous: page > 1 ? at(page - 1) : null,
    next: next || null,
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
