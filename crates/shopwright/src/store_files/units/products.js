// The store's own tool PRODUCTS: found by words, category, state and article number; added, changed, hidden, restored.
import { done, most, named, namedOrGone, no, only, page, withWords } from "units/inc_tools.js";

const COLUMNS = `p.id, p.name, p.state, b.name as brand, p.main_category_id as category,
  (select count(*) from variants v where v.product_id = p.id and v.deleted is null) as variants`;
const FROM = "from products p left join brands b on b.id = p.brand_id";

/** Products, one row each. */
export function CmdList(userId, { words = "", category, brand, state, after = 0, limit }) {
  const params = { after };
  const where = ["p.deleted is null", "p.id > :after", withWords("p.name_folded", words, params)];
  if (category !== undefined) {
    where.push("p.id in (select pc.product_id from product_categories pc join category_closure cc " +
      "on cc.descendant = pc.category_id where cc.ancestor = :category)");
    params.category = category;
  }
  for (const [column, value] of Object.entries(named({ brand_id: brand, state }))) {
    where.push(`p.${column} = :${column}`);
    params[column] = value;
  }
  const count = most(limit);
  const rows = shop.select(`select ${COLUMNS} ${FROM} where ${where.join(" and ")} order by p.id limit ${count + 1}`, params);
  return rows.length ? page("products", rows, count)
    : { result: true, message: "No product fits. Ask with fewer words, or without state and category.", detail: { count: 0, last: null, more: false },
      tables: { products: [] } };
}

/** The product of an article number, GTIN or manufacturer's number; else those whose name begins with the text. */
export function CmdSearch(userId, { text, limit }) {
  const params = { code: text.trim(), folded: text.trim().toLowerCase() };
  const count = most(limit);
  const codes = shop.select(
    `select distinct ${COLUMNS} ${FROM} join variants v on v.product_id = p.id
     where p.deleted is null and v.deleted is null and (v.sku_folded = :folded or v.gtin = :code or v.mpn = :code)
     order by p.id limit ${count + 1}`, params);
  if (codes.length) {
    return page("products", codes, count);
  }
  return CmdList(userId, { words: text, limit });
}

/** One product with its variants, their prices and stock, its categories and attributes. */
export function CmdCard(userId, { id }) {
  const product = shop.one(
    `select id, name, text, state, kind, brand_id, tax_class_id, main_category_id, rating_sum, rating_count, changed
     from products where id = :id and deleted is null`, { id });
  if (!product) {
    return missing(id);
  }
  product.path = shop.value(
    "select path from slugs where entity = 'products' and elem_id = :id and language = :language and state = 'kCurrent'",
    { id, language: shop.config("language") });
  const variants = shop.select(
    `select v.id, v.sku, v.gtin, v.option_key, v.tracked, v.cost, v.cost_currency,
       (select cast(sum(s.on_hand - s.reserved) as bigint) from stock s where s.variant_id = v.id) as available
     from variants v where v.product_id = :id and v.deleted is null order by v.position, v.id`, { id });
  const prices = shop.select(
    `select pr.id, pr.variant_id, l.name as list, l.currency, pr.min_quantity, pr.amount, pr.compare_at,
       pr.valid_from, pr.valid_until
     from prices pr join price_lists l on l.id = pr.list_id join variants v on v.id = pr.variant_id
     where v.product_id = :id and v.deleted is null order by pr.variant_id, l.position, pr.min_quantity`, { id });
  const categories = shop.select(
    `select c.id, c.name from product_categories pc join categories c on c.id = pc.category_id
     where pc.product_id = :id order by c.id`, { id });
  return {
    result: true,
    message: `Product ${id} with ${variants.length} variants. Amounts are in minor units of their currency.`,
    detail: product,
    tables: { variants, prices, categories },
  };
}

/** Shown products by how many pieces were sold, the fewest first. */
export function CmdSales(userId, { days, best, limit }) {
  const since = new Date(Date.now() - Math.min(Math.max(days, 1), 3650) * 86400000).toISOString();
  const products = shop.select(
    `select p.id, p.name,
       (select coalesce(cast(sum(l.quantity - l.cancelled - l.returned) as bigint), 0) from order_lines l
        join orders o on o.id = l.order_id
        where l.product_id = p.id and o.placed >= :since and o.state <> 'kCancel') as sold,
       (select coalesce(cast(sum(s.on_hand) as bigint), 0) from stock s join variants v on v.id = s.variant_id
        where v.product_id = p.id and v.deleted is null) as on_hand
     from products p where p.deleted is null and p.state = 'kShown'
     order by sold ${best ? "desc" : "asc"}, on_hand desc, p.id limit ${most(limit)}`, { since });
  return {
    result: true,
    message: `${products.length} products by what was sold in ${days} days. CmdChange of PRICES reprices them by number.`,
    detail: { count: products.length, since },
    tables: { products },
  };
}

/** A new product, which nobody sees before CmdRestore. */
export function CmdAdd(userId, { name, text, brand, category, path, attributes, variants, sku, price, stock }) {
  const row = named({ name, text, brand, category, path, attributes, variants, sku, price, stock });
  const answer = shop.staff.import_products([row], { apply: true, keyless: true });
  const [problem] = answer.problems ?? [];
  if (answer.problem || problem) {
    return no(`Nothing was added: ${answer.problem ?? `${problem.column} [${problem.value}] ${problem.why}`}.`);
  }
  const [{ product, what }] = answer.products;
  if (what !== "new") {
    return no(`Product ${product} is there already, with this address or article number: CmdChange changes it.`, { id: product });
  }
  return { result: true, message: `Product ${product} is a draft. CmdRestore shows it to visitors.`, detail: { id: product } };
}

/** What is named changes, everything else stays. */
export function CmdChange(userId, { id, name, text, kind, path, brand, tax_class, category, categories }) {
  const fields = { ...named({ name, text, kind, path, categories }), ...namedOrGone({ brand, tax_class, category }) };
  if (Object.keys(fields).length === 0) {
    return no("Nothing is named that could change. tool_list with PRODUCTS shows the fields.");
  }
  return done(shop.staff.change_product(id, fields), `Product ${id}: ${Object.keys(fields).join(", ")} changed.`, NEXT);
}

/** Visitors see them no more; orders keep them. Without `apply` it only shows which. */
export function CmdHide(userId, { id, apply }) {
  const { products, gone } = find(id);
  if (gone.length) {
    return missing(gone.join(", "));
  }
  const seen = products.filter((product) => ["kShown", "kUnlisted"].includes(product.state));
  if (!apply) {
    return only(`${seen.length} of ${products.length} products would go from the shop's pages`, { count: seen.length }, { products });
  }
  return each(seen, "kArchive", "hidden");
}

/** Visitors see them again. */
export function CmdRestore(userId, { id }) {
  const { products, gone } = find(id);
  if (gone.length) {
    return missing(gone.join(", "));
  }
  const bare = products.filter(({ priced }) => priced === 0).map((product) => product.id);
  const answer = each(products, "kShown", "shown");
  if (answer.result && bare.length) {
    answer.message += ` Without a price, so that nobody can buy them: ${bare.join(", ")}; CmdSet of PRICES sets one.`;
  }
  return answer;
}

const NEXT = "CmdList of PRODUCTS shows the products.";

function missing(id) {
  return no(`There is no product ${id}. ${NEXT}`);
}

function find(ids) {
  const wanted = [...new Set(ids.map(Number))];
  const products = shop.select(
    `select p.id, p.name, p.state, (select count(*) from prices pr join variants v on v.id = pr.variant_id
       where v.product_id = p.id and v.deleted is null) as priced
     from products p where p.deleted is null and p.id in (${wanted.join(", ")}) order by p.id`);
  return { products, gone: wanted.filter((id) => !products.some((product) => product.id === id)) };
}

function each(products, state, word) {
  for (const { id } of products) {
    const { problem } = shop.staff.change_product(id, { state });
    if (problem) {
      return no(`Nothing was changed: product ${id}: ${problem}.`);
    }
  }
  return { result: true, message: `${products.length} products are ${word}.`, detail: { count: products.length, applied: true }, tables: { products } };
}
