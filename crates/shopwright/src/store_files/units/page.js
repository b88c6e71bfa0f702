// A page that the owner wrote.
import { show, summary } from "units/inc_page.js";
import { crumbs } from "units/inc_seo.js";

export function main({ id }) {
  const page = shop.pages.get(id);
  if (!page) {
    shop.status(404);
    return shop.unit("not_found");
  }
  return show("main.htm", {
    path: page.url,
    urls: page.urls,
    data: page.url ? [crumbs([{ name: page.name, url: page.url }])] : [],
    description: page.seo_description ?? summary(page.text),
    page,
  });
}
