// The store's own tool BRANDS: brands and their pages.
import { done, most, named, no, only, page, withWords } from "units/inc_tools.js";

/** Brands with how many products they have. */
export function CmdList(userId, { words = "", after = 0, limit }) {
  const params = { after };
  const count = most(limit);
  return page("brands", shop.select(
    `select b.id, b.name, b.site, b.position, (select count(*) from products p where p.brand_id = b.id and p.deleted is null) as products
     from brands b where b.deleted is null and b.id > :after and ${withWords("b.name_folded", words, params)}
     order by b.id limit ${count + 1}`, params), count);
}

/** A new brand. */
export function CmdAdd(userId, { name, text, site, position, path }) {
  const answer = shop.staff.save_brand(null, named({ name, text, site, position, path }));
  return done(answer, `Brand ${answer.brand} is there.`, NEXT);
}

/** What is named changes, everything else stays. */
export function CmdChange(userId, { id, name, text, site, position, path }) {
  const fields = named({ name, text, site, position, path });
  return done(shop.staff.save_brand(id, fields), `Brand ${id}: ${Object.keys(fields).join(", ")} changed.`, NEXT);
}

/** Takes a brand away that no product has. Without `apply` it only shows it. */
export function CmdRemove(userId, { id, apply }) {
  const brand = shop.one("select id, name from brands where id = :id and deleted is null", { id });
  if (!brand) {
    return no(`There is no brand ${id}. ${NEXT}`);
  }
  return apply ? done(shop.staff.remove_brand(id), `Brand ${brand.name} is gone.`, "CmdList of PRODUCTS with brand shows its products.")
    : only(`Brand ${brand.name} would go, if no product is of it`, brand);
}

const NEXT = "CmdList of BRANDS shows the brands.";
