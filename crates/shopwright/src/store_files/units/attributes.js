// The store's own tool ATTRIBUTES: what products are described and filtered by, and the values they have.
import { named, no, only } from "units/inc_tools.js";

const TYPES = ["kText", "kInt", "kDecimal", "kBool", "kDate", "kChoice", "kChoices"];

/** Attributes with their choices. */
export function CmdList() {
  const attributes = shop.select(
    `select id, skey, name, type, decimals, measure, filter, search, compare, position,
       (select count(*) from attribute_values v where v.attribute_id = a.id) as used
     from attributes a order by position, id`);
  const choices = shop.select("select id, attribute_id as attribute, skey, name, position from attribute_choices order by attribute_id, position, id");
  return { result: true, message: `${attributes.length} attributes.`, detail: { count: attributes.length }, tables: { attributes, choices } };
}

/** The values of a product. */
export function CmdOf(userId, { product }) {
  const values = shop.select(
    `select v.id, v.variant_id as variant, a.id as attribute, a.name, a.type, a.decimals, a.measure, c.name as choice, v.int_value, v.text_value, v.date_value
     from attribute_values v join attributes a on a.id = v.attribute_id left join attribute_choices c on c.id = v.choice_id
     where v.product_id = :product order by a.position, a.id, v.id`, { product });
  return { result: true, message: `${values.length} values. Of kDecimal the number is without its point: decimals says where it stands.`,
    detail: { count: values.length }, tables: { values } };
}

/** A new attribute. */
export function CmdAdd(userId, { skey, name, type, decimals, measure, filter, search, compare, position, choices = [] }) {
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(skey) || !TYPES.includes(type)) {
    return no(`A key is like colour_2, a type one of ${TYPES.join(", ")}.`);
  }
  if (shop.one("select id from attributes where skey = :skey", { skey })) {
    return no(`The key ${skey} is taken. ${NEXT}`);
  }
  if (choices.length && !type.startsWith("kChoice")) {
    return no("Choices are for kChoice and kChoices only.");
  }
  const [id] = shop.insert("attributes", named({ skey, name, type, decimals, measure, filter, search, compare, position, author_id: userId }));
  for (const choice of choices) {
    addChoice(userId, id, choice);
  }
  return { result: true, message: `Attribute ${id} is there.`, detail: { id } };
}

/** What is named changes, everything else stays; key and type stay what they are. */
export function CmdChange(userId, { id, name, measure, filter, search, compare, position }) {
  const fields = named({ name, measure, filter, search, compare, position });
  if (!shop.one("select id from attributes where id = :id", { id })) {
    return missing(id);
  }
  if (Object.keys(fields).length === 0) {
    return no("Nothing is named that could change. tool_list with ATTRIBUTES shows the fields.");
  }
  const sets = Object.keys(fields).map((column) => `${column} = :${column}`);
  shop.execute(`update attributes set ${sets.join(", ")}, version = version + 1, author_id = :userId where id = :id`, { ...fields, id, userId });
  return { result: true, message: `Attribute ${id}: ${Object.keys(fields).join(", ")} changed.`, detail: { id } };
}

/** A new choice of an attribute. */
export function CmdAddChoice(userId, { id, name }) {
  const attribute = shop.one("select type from attributes where id = :id", { id });
  if (!attribute) {
    return missing(id);
  }
  if (!attribute.type.startsWith("kChoice")) {
    return no(`Attribute ${id} is of the type ${attribute.type}, which has no choices.`);
  }
  return { result: true, message: `${name} can be chosen.`, detail: { id, choice: addChoice(userId, id, name) } };
}

/** The value of a product; several of kChoices. It replaces what it had. */
export function CmdSet(userId, { product, id, value }) {
  const attribute = shop.one("select id, name, type, decimals from attributes where id = :id", { id });
  if (!attribute) {
    return missing(id);
  }
  if (!shop.one("select id from products where id = :product and deleted is null", { product })) {
    return no(`There is no product ${product}. CmdList of PRODUCTS shows the products.`);
  }
  if (value.length > 1 && attribute.type !== "kChoices") {
    return no(`Attribute ${id} has one value only.`);
  }
  const rows = value.map((one) => valueOf(attribute, one));
  const at = rows.indexOf(null);
  if (at >= 0) {
    return no(`[${value[at]}] is no value of ${attribute.name}, which is of the type ${attribute.type}. ${NEXT}`);
  }
  shop.execute("delete from attribute_values where product_id = :product and attribute_id = :id and variant_id is null", { product, id });
  shop.insert("attribute_values", rows.map((row) => ({ product_id: product, attribute_id: id, ...row })));
  return { result: true, message: `${attribute.name} of product ${product} is ${value.join(", ")}.`, detail: { product, id } };
}

/** Takes the value of a product away. Without `apply` it only shows it. */
export function CmdClear(userId, { product, id, apply }) {
  const values = shop.select("select id from attribute_values where product_id = :product and attribute_id = :id", { product, id });
  if (values.length === 0) {
    return no(`Product ${product} has no value of attribute ${id}. CmdOf of ATTRIBUTES shows its values.`);
  }
  if (!apply) {
    return only(`${values.length} values would go`, { product, id, count: values.length });
  }
  shop.execute("delete from attribute_values where product_id = :product and attribute_id = :id", { product, id });
  return { result: true, message: `${values.length} values are gone.`, detail: { product, id, count: values.length } };
}

const NEXT = "CmdList of ATTRIBUTES shows attributes and choices.";

function missing(id) {
  return no(`There is no attribute ${id}. ${NEXT}`);
}

function addChoice(userId, attribute, name) {
  const known = shop.one("select id from attribute_choices where attribute_id = :attribute and name = :name", { attribute, name });
  if (known) {
    return known.id;
  }
  const position = shop.value("select count(*) from attribute_choices where attribute_id = :attribute", { attribute });
  const [id] = shop.insert("attribute_choices", { attribute_id: attribute, skey: `c${position + 1}_${attribute}`, name, position, author_id: userId });
  return id;
}

/** The column of an attribute's type with the value; null for what it cannot hold. */
function valueOf({ id, type, decimals }, value) {
  const text = String(value).trim();
  switch (type) {
    case "kText":
      return text ? { text_value: text } : null;
    case "kInt":
      return /^-?\d{1,15}$/.test(text) ? { int_value: Number(text) } : null;
    case "kDecimal": {
      const found = /^(-?\d{1,9})(?:\.(\d+))?$/.exec(text);
      return found && (found[2] ?? "").length <= decimals ? { int_value: Number(found[1] + (found[2] ?? "").padEnd(decimals, "0")) } : null;
    }
    case "kBool":
      return ["true", "yes", "1"].includes(text) ? { int_value: 1 } : ["false", "no", "0"].includes(text) ? { int_value: 0 } : null;
    case "kDate":
      return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? { date_value: text } : null;
    default: {
      const choice = shop.one("select id from attribute_choices where attribute_id = :id and (name = :text or skey = :text)", { id, text });
      return choice && { choice_id: choice.id };
    }
  }
}
