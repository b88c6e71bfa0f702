// The store's own tool STOCK: what lies where, counted, received, moved; and what came and went.
import { done, most, no, page } from "units/inc_tools.js";

/** What lies in the locations; available is on_hand without what is promised. */
export function CmdList(userId, { product = [], variant = [], below, after = 0, limit }) {
  const where = ["s.id > :after", "v.deleted is null"];
  const params = { after };
  for (const [column, ids] of [["v.product_id", product], ["s.variant_id", variant]]) {
    if (ids.length) {
      where.push(`${column} in (${ids.map(Number).join(", ")})`);
    }
  }
  if (below !== undefined) {
    where.push("v.tracked and s.on_hand - s.reserved < :below");
    params.below = below;
  }
  const count = most(limit);
  return page("stock", shop.select(
    `select s.id, s.variant_id as variant, v.sku, v.product_id as product, s.location_id as location, l.name as location_name,
       s.on_hand, s.reserved, s.on_hand - s.reserved as available, s.incoming, s.low
     from stock s join variants v on v.id = s.variant_id join locations l on l.id = s.location_id
     where ${where.join(" and ")} order by s.id limit ${count + 1}`, params), count);
}

/** Where goods lie. */
export function CmdLocations() {
  const locations = shop.select("select id, name, country, priority, sells, pickup from locations where deleted is null order by priority desc, id");
  return { result: true, message: `${locations.length} locations; the first that sells is meant where none is named.`, detail: {}, tables: { locations } };
}

/** What was counted: the difference is a correction. */
export function CmdCount(userId, { variant, count, location, reason = "" }) {
  return told(shop.staff.set_stock(variant, { count, location, reason }), variant);
}

/** What came, or with a number below zero, what is gone. */
export function CmdAdd(userId, { variant, pieces, location, reason = "" }) {
  return told(shop.staff.set_stock(variant, { add: pieces, location, reason }), variant);
}

/** From one location to another. */
export function CmdMove(userId, { variant, from, to, pieces }) {
  return done(shop.staff.move_stock(variant, from, to, pieces), `${pieces} of variant ${variant} lie in location ${to} now.`, NEXT);
}

/** What came and went of a variant, the newest first. */
export function CmdMoves(userId, { variant, before, limit }) {
  const count = most(limit);
  const params = before === undefined ? { variant } : { variant, before };
  const moves = shop.select(
    `select id, location_id as location, quantity, kind, reason, time, author_id as author from stock_moves
     where variant_id = :variant ${before === undefined ? "" : "and id < :before"} order by id desc limit ${count + 1}`, params);
  return moves.length || shop.one("select id from variants where id = :variant", { variant }) ? page("moves", moves, count, "before")
    : no(`There is no variant ${variant}. CmdCard of PRODUCTS shows the variants of a product.`);
}

const NEXT = "CmdList of STOCK shows what lies where, CmdCard of PRODUCTS the variants.";

function told(answer, variant) {
  return done(answer, `Of variant ${variant} ${answer.on_hand} lie in location ${answer.location}, ${answer.before} before.`, NEXT);
}
