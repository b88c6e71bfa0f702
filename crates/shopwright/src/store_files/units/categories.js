// The store's own tool CATEGORIES: the tree of the catalogue.
import { done, named, no, only } from "units/inc_tools.js";

/** The tree, each category behind the one above it, with how many products lie directly in it. */
export function CmdTree(userId, { parent }) {
  const categories = shop.select(
    `select c.id, c.parent_id as parent, c.position, c.name, c.state, c.sort, s.path,
       (select count(*) from product_categories pc where pc.category_id = c.id) as products
     from categories c left join slugs s on s.entity = 'categories' and s.elem_id = c.id and s.state = 'kCurrent' and s.language = :language
     where c.deleted is null ${parent === undefined ? "" : "and c.id in (select descendant from category_closure where ancestor = :parent)"}
     order by c.position, c.id`, named({ language: shop.config("language"), parent }));
  if (parent !== undefined && categories.length === 0) {
    return missing(parent);
  }
  const rows = below(categories, parent === undefined ? null : categories.find(({ id }) => id === parent).parent, parent);
  return { result: true, message: `${rows.length} categories.`, detail: { count: rows.length }, tables: { categories: rows } };
}

/** A new category. */
export function CmdAdd(userId, { name, text, parent, position, state, sort, path }) {
  const answer = shop.staff.save_category(null, named({ name, text, parent, position, state, sort, path }));
  return done(answer, `Category ${answer.category} is there.`, NEXT);
}

/** What is named changes, everything else stays; with `parent` it moves with all below it, 0 is the top. */
export function CmdChange(userId, { id, name, text, parent, position, state, sort, path }) {
  const fields = named({ name, text, parent: parent === 0 ? null : parent, position, state, sort, path });
  return done(shop.staff.save_category(id, fields), `Category ${id}: ${Object.keys(fields).join(", ")} changed.`, NEXT);
}

/** Takes a category away; its products stay. Without `apply` it only shows it. */
export function CmdRemove(userId, { id, apply }) {
  const category = shop.one(
    `select id, name, (select count(*) from product_categories pc where pc.category_id = c.id) as products
     from categories c where id = :id and deleted is null`, { id });
  if (!category) {
    return missing(id);
  }
  return apply ? done(shop.staff.remove_category(id), `Category ${id} is gone; its ${category.products} products stay.`, NEXT)
    : only(`Category ${category.name} would go; its ${category.products} products would stay without it`, category);
}

const NEXT = "CmdTree of CATEGORIES shows the categories.";

function missing(id) {
  return no(`There is no category ${id}. ${NEXT}`);
}

/** The tree as a list: each category, then those that lie in it. */
function below(all, parent, only, depth = 0) {
  return all.filter((row) => row.parent === parent && (only === undefined || row.id === only))
    .flatMap((row) => [{ ...row, depth }, ...below(all, row.id, undefined, depth + 1)]);
}
