// The store's own tool VARIANTS: what is sold of a product: sizes, colours, weights; article numbers, measures, costs.
import { done, named, namedOrGone, no, only } from "units/inc_tools.js";

/** The variants of a product with the values of its options. */
export function CmdList(userId, { product }) {
  const variants = shop.select(
    `select v.id, v.sku, v.gtin, v.mpn, v.position, v.weight, v.length, v.width, v.height, v.tracked, v.backorder,
       v.min_quantity, v.max_quantity, v.step, v.cost, v.cost_currency
     from variants v where v.product_id = :product and v.deleted is null order by v.position, v.id`, { product });
  if (variants.length === 0) {
    return no(`There is no product ${product}. CmdList of PRODUCTS shows the products.`);
  }
  const options = shop.select(
    `select vv.variant_id as variant, o.name as option_name, ov.name as value_name
     from variant_values vv join product_options o on o.id = vv.option_id join product_option_values ov on ov.id = vv.value_id
     where o.product_id = :product order by vv.variant_id, o.position`, { product });
  return { result: true, message: `${variants.length} variants. Costs are in minor units.`, detail: { count: variants.length }, tables: { variants, options } };
}

/** More variants; a variant that is there changes. */
export function CmdAdd(userId, { product, rows }) {
  const answer = shop.staff.import_products([{ product, variants: rows }], { apply: true });
  const [problem] = answer.problems ?? [];
  if (answer.problem || problem) {
    return no(`Nothing was changed: ${answer.problem ?? `${problem.column} [${problem.value}] ${problem.why}`}. CmdList of VARIANTS shows the options of a product.`);
  }
  if (answer.jump_count) {
    return no(`Nothing was changed: ${answer.jump_count} prices would change by more than half. CmdSet of PRICES sets a price.`);
  }
  return { result: true, message: `The variants of product ${product} are as the rows say.`, detail: { product } };
}

/** What is named changes, everything else stays. */
export function CmdChange(userId, { id, sku, gtin, mpn, position, weight, length, width, height, tracked, backorder, min_quantity, max_quantity, step, cost }) {
  const fields = {
    ...named({ position, tracked, min_quantity, step, backorder }),
    ...namedOrGone({ sku, gtin, mpn, weight, length, width, height, max_quantity, cost }),
  };
  if (fields.backorder === -1) {
    fields.backorder = null;
  }
  return done(shop.staff.change_variant(id, fields), `Variant ${id}: ${Object.keys(fields).join(", ")} changed.`, NEXT);
}

/** It is sold no more; orders keep it. Without `apply` it only shows it. */
export function CmdRemove(userId, { id, apply }) {
  const variant = shop.one("select id, sku, product_id as product from variants where id = :id and deleted is null", { id });
  if (!variant) {
    return no(`There is no variant ${id}. ${NEXT}`);
  }
  return apply ? done(shop.staff.remove_variant(id), `Variant ${id} is sold no more.`, NEXT)
    : only(`Variant ${id} [${variant.sku ?? ""}] of product ${variant.product} would be sold no more`, variant);
}

const NEXT = "CmdList of VARIANTS shows the variants of a product.";
