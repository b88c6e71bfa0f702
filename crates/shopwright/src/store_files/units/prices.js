// The store's own tool PRICES: reads prices, sets one, and changes many by a percentage.

/** Prices of products, or of all. */
export function CmdList(userId, { product = [], limit }) {
  const ids = product.map(Number).filter(Number.isSafeInteger);
  const most = Math.min(Math.max(Number(limit), 1), 5000);
  const prices = shop.select(
    `select pr.variant_id as variant, v.sku, v.product_id as product, p.name, pr.list_id as list, l.currency,
       c.decimals, pr.min_quantity, pr.amount, pr.compare_at
     from prices pr join variants v on v.id = pr.variant_id join products p on p.id = v.product_id
       join price_lists l on l.id = pr.list_id join currencies c on c.code = l.currency
     ${ids.length ? `where v.product_id in (${ids.join(", ")})` : ""}
     order by v.product_id, v.position, v.id, pr.list_id, pr.min_quantity limit ${most}`);
  for (const row of prices) {
    row.price = decimal(row.amount, row.decimals);
  }
  return { result: true, message: `${prices.length} prices.`, detail: { count: prices.length }, tables: { prices } };
}

/** The price of one variant in a list. */
export function CmdSet(userId, { variant, price, list }) {
  const found = list === undefined
    ? shop.one(`${LISTS} where l.customer_group_id is null order by l.priority desc, l.id limit 1`)
    : shop.one(`${LISTS} where l.id = :list`, { list });
  if (!found) {
    return { result: false, message: `There is no list of prices ${list}. CmdList shows the lists that have prices.` };
  }
  const amount = minor(price, found.decimals);
  if (amount === null) {
    return { result: false, message: `[${price}] is no price in ${found.currency}: write it like 12.50, with at most ${found.decimals} decimals.` };
  }
  if (!shop.one("select id from variants where id = :variant and deleted is null", { variant })) {
    return { result: false, message: `There is no variant ${variant}. CmdCard of PRODUCTS shows the variants of a product.` };
  }
  const before = shop.one(
    `select amount, compare_at, min_quantity from prices where variant_id = :variant and list_id = :list and valid_from is null
     order by min_quantity limit 1`, { variant, list: found.id });
  const { compare_at = null, min_quantity = 1 } = before ?? {};
  const { problem } = shop.staff.set_prices([{ variant, list: found.id, amount, compare_at, min_quantity }]);
  if (problem) {
    return { result: false, message: `Nothing was changed: ${problem}.` };
  }
  return {
    result: true,
    message: before ? `Variant ${variant} costs ${price} ${found.currency}; it was ${decimal(before.amount, found.decimals)}.`
      : `Variant ${variant} costs ${price} ${found.currency}; it had no price in this list.`,
    detail: { variant, list: found.id, amount, before: before?.amount ?? null },
  };
}

/** Prices of a category, a brand or named products, by a percentage. Without `apply` it only shows them. */
export function CmdChange(userId, { percent, category, brand, product = [], apply }) {
  const part = Math.round(percent * 100);
  if (part <= -10000 || part > 100000) {
    return { result: false, message: "`percent` lies above -100 and at most at 1000." };
  }
  const where = [];
  const params = {};
  if (category !== undefined) {
    where.push("v.product_id in (select pc.product_id from product_categories pc join category_closure cc " +
      "on cc.descendant = pc.category_id where cc.ancestor = :category)");
    params.category = category;
  }
  if (brand !== undefined) {
    where.push("v.product_id in (select p.id from products p where p.brand_id = :brand)");
    params.brand = brand;
  }
  const ids = product.map(Number).filter(Number.isSafeInteger);
  if (ids.length) {
    where.push(`v.product_id in (${ids.join(", ")})`);
  }
  if (where.length === 0) {
    return { result: false, message: "Say which prices: `category`, `brand` or `product`. All at once are not changed." };
  }
  const prices = shop.select(
    `select pr.variant_id as variant, pr.list_id as list, pr.min_quantity, pr.valid_from, pr.valid_until, pr.compare_at,
       pr.amount as before, (pr.amount * ${10000 + part} + 5000) / 10000 as after
     from prices pr join variants v on v.id = pr.variant_id
     where v.deleted is null and (pr.valid_until is null or pr.valid_until > :now) and ${where.join(" and ")}
     order by pr.variant_id, pr.list_id, pr.min_quantity`, { ...params, now: new Date().toISOString() });
  const detail = { count: prices.length, percent, applied: apply };
  if (prices.length === 0) {
    return { result: false, message: "No price fits. CmdList shows prices by product.", detail };
  }
  if (!apply) {
    return {
      result: true,
      message: `${prices.length} prices would change, and none did. Show them to the person, then call with apply true.`,
      detail, tables: { prices },
    };
  }
  const { problem } = shop.staff.set_prices(prices.map(({ before, after, ...price }) => ({ ...price, amount: after })));
  if (problem) {
    return { result: false, message: `Nothing was changed: ${problem}.`, detail };
  }
  return { result: true, message: `${prices.length} prices changed by ${percent} %.`, detail, tables: { prices } };
}

const LISTS = "select l.id, l.currency, c.decimals from price_lists l join currencies c on c.code = l.currency";

/** An amount in minor units as people write it. */
function decimal(amount, decimals) {
  const digits = String(amount).padStart(decimals + 1, "0");
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** The minor units of a price as people write it; null is none. */
function minor(text, decimals) {
  const found = /^(\d{1,12})(?:\.(\d+))?$/.exec(text);
  if (!found || (found[2] ?? "").length > decimals) {
    return null;
  }
  return Number(found[1] + (found[2] ?? "").padEnd(decimals, "0"));
}
