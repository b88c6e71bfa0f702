// The store's own tool PRODUCT_FIND: products by words, category and state, and the card of one.

/** Products, one row each. */
export function CmdList(userId, { words = "", category, state, after = 0, limit }) {
  const where = ["p.id > :after"];
  const params = { after };
  for (const [at, word] of words.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 8).entries()) {
    where.push(`p.name_folded like :word${at}`);
    params[`word${at}`] = `%${word.replace(/[%_]/g, "")}%`;
  }
  if (category !== undefined) {
    where.push("p.id in (select pc.product_id from product_categories pc join category_closure cc " +
      "on cc.descendant = pc.category_id where cc.ancestor = :category)");
    params.category = category;
  }
  if (state !== undefined) {
    where.push("p.state = :state");
    params.state = state;
  }
  const most = Math.min(Math.max(Number(limit), 1), 1000);
  const rows = shop.select(
    `select p.id, p.name, p.state, b.name as brand, p.main_category_id as category,
       (select count(*) from variants v where v.product_id = p.id) as variants
     from products p left join brands b on b.id = p.brand_id
     where ${where.join(" and ")} order by p.id limit ${most + 1}`, params);
  const more = rows.length > most;
  const products = rows.slice(0, most);
  const last = products[products.length - 1]?.id ?? null;
  return {
    result: true,
    message: products.length === 0 ? "No product fits. Ask with fewer words, or without state and category."
      : `${products.length} products.` + (more ? ` There are more: call again with after ${last}.` : ""),
    detail: { count: products.length, last, more },
    tables: { products },
  };
}

/** One product with its variants, their prices and stock. */
export function CmdCard(userId, { id }) {
  const product = shop.one(
    "select id, name, text, state, kind, brand_id, main_category_id, rating_sum, rating_count from products where id = :id",
    { id });
  if (!product) {
    return { result: false, message: `There is no product ${id}. CmdList of PRODUCT_FIND shows the products.` };
  }
  const variants = shop.select(
    `select v.id, v.sku, v.gtin, v.tracked, v.cost, v.cost_currency,
       (select sum(s.on_hand - s.reserved) from stock s where s.variant_id = v.id) as available
     from variants v where v.product_id = :id order by v.position, v.id`, { id });
  const prices = shop.select(
    `select pr.id, pr.variant_id, l.name as list, l.currency, pr.min_quantity, pr.amount, pr.compare_at,
       pr.valid_from, pr.valid_until
     from prices pr join price_lists l on l.id = pr.list_id join variants v on v.id = pr.variant_id
     where v.product_id = :id order by pr.variant_id, l.position, pr.min_quantity`, { id });
  return {
    result: true,
    message: `Product ${id} with ${variants.length} variants. Amounts are in minor units of their currency.`,
    detail: product,
    tables: { variants, prices },
  };
}
