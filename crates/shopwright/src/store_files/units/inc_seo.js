// What search engines read beside the page itself, as schema.org names it. Only what the page shows belongs in here.
import { base, home } from "units/inc_page.js";

const CONTEXT = "https://schema.org";

/** The store as a business, for the home page. */
export function organization() {
  return { "@context": CONTEXT, "@type": "Organization", name: shop.config("name"), url: base() + "/" };
}

/** The store as a site, with its search. */
export function website(search) {
  return {
    "@context": CONTEXT,
    "@type": "WebSite",
    name: shop.config("name"),
    url: base() + home(),
    inLanguage: shop.language,
    potentialAction: {
      "@type": "SearchAction",
      target: { "@type": "EntryPoint", urlTemplate: base() + search + "?q={search_term_string}" },
      "query-input": "required name=search_term_string",
    },
  };
}

/** The way from the top to this page; steps have a name and an address. */
export function crumbs(path) {
  return {
    "@context": CONTEXT,
    "@type": "BreadcrumbList",
    itemListElement: path.map((step, at) => ({
      "@type": "ListItem",
      position: at + 1,
      name: step.name,
      item: base() + step.url,
    })),
  };
}

/** The products of a page of a list, in its order. */
export function list(items) {
  return {
    "@context": CONTEXT,
    "@type": "ItemList",
    itemListElement: items.map((item, at) => ({ "@type": "ListItem", position: at + 1, url: base() + item.url })),
  };
}

/** A brand. */
export function brand(brand) {
  return { "@context": CONTEXT, "@type": "Brand", name: brand.name, url: base() + brand.url };
}
