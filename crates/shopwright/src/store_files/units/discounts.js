// The store's own tool DISCOUNTS: discounts in percent, with a limit of uses and, where one is named, a coupon.

/** Discounts, the newest first. */
export function CmdList() {
  const discounts = shop.select(
    `select p.id, p.name, p.enabled, p.action, p.value, p.conditions, p.valid_from, p.valid_until, p.usage_limit, p.used, c.code
     from promotions p left join coupons c on c.promotion_id = p.id where p.deleted is null order by p.id desc limit 1000`);
  return { result: true, message: `${discounts.length} discounts; of kPercent the value is in millionths.`,
    detail: { count: discounts.length }, tables: { discounts } };
}

/** A new discount. */
export function CmdAdd(userId, { name, percent, limit, until, code, category = [], product = [] }) {
  const part = Math.round(percent * 10000);
  if (part < 1 || part > 1000000 || limit < 1) {
    return { result: false, message: "`percent` lies above 0 and at most at 100; `limit` is at least 1." };
  }
  if (code !== undefined && !/^[A-Z0-9-]{3,40}$/.test(code)) {
    return { result: false, message: `[${code}] is no code: 3 to 40 capitals, digits and "-".` };
  }
  if (code !== undefined && shop.one("select id from coupons where code_folded = :folded", { folded: code.toLowerCase() })) {
    return { result: false, message: `The code ${code} is taken. CmdList of DISCOUNTS shows the codes.` };
  }
  const conditions = {};
  for (const [key, ids, tool] of [["categories", category, "CmdTree of CATEGORIES"], ["products", product, "CmdList of PRODUCTS"]]) {
    const unknown = ids.filter((id) => !shop.one(`select id from ${key} where id = :id and deleted is null`, { id }));
    if (unknown.length) {
      return { result: false, message: `There are no ${key} ${unknown.join(", ")}. ${tool} shows them.` };
    }
    if (ids.length) {
      conditions[key] = ids;
    }
  }
  // It holds to the end of its last day in the store's zone.
  const valid_until = until === undefined ? null : shop.moment(until, 1);
  const [id] = shop.insert("promotions", { name, action: "kPercent", value: String(part), usage_limit: limit, valid_until,
    coupon_only: code !== undefined, conditions: JSON.stringify(conditions), author_id: userId });
  if (code !== undefined) {
    shop.insert("coupons", { promotion_id: id, code, code_folded: code.toLowerCase(), usage_limit: limit, valid_until, author_id: userId });
  }
  return { result: true, message: `Discount ${id} of ${percent} % holds for at most ${limit} orders` + (code ? ` with the code ${code}.` : "."),
    detail: { id, percent, limit } };
}

/** Ends a discount; orders that used it keep it. Without `apply` it only shows it. */
export function CmdStop(userId, { id, apply }) {
  const discount = shop.one("select id, name, enabled, used, usage_limit from promotions where id = :id and deleted is null", { id });
  if (!discount) {
    return { result: false, message: `There is no discount ${id}. CmdList of DISCOUNTS shows the discounts.` };
  }
  if (!apply) {
    return { result: true, message: `${discount.name} would end, and did not. Show it to the person, then call with apply true.`, detail: discount };
  }
  shop.execute("update promotions set enabled = false, version = version + 1 where id = :id", { id });
  return { result: true, message: `${discount.name} holds no more.`, detail: discount };
}
