// The store's own tool ELEMENT_FILES: pictures and documents of products, categories, brands and pages.
import { most, named, no, only, page } from "units/inc_tools.js";

const KINDS = ["kImage", "kDocument"];

/** Files of a row, in the order in which pages show them; or of all rows of a table. */
export function CmdList(userId, { entity, elem_id, after = 0, limit }) {
  const count = most(limit);
  return page("files", shop.select(
    `select id, entity, elem_id, kind_key, position, real_name, mime, bytes, width, height, alt from files
     where entity = :entity and id > :after ${elem_id === undefined ? "" : "and elem_id = :elem_id"}
     order by ${elem_id === undefined ? "id" : "position, id"} limit ${count + 1}`, named({ entity, elem_id, after })), count);
}

/** What is named changes, everything else stays. */
export function CmdChange(userId, { id, alt, position, kind_key }) {
  const fields = named({ alt, position, kind_key });
  if (!find(id)) {
    return missing(id);
  }
  if (Object.keys(fields).length === 0 || (kind_key !== undefined && !KINDS.includes(kind_key))) {
    return no(`Name at least one of alt, position, kind_key; kind_key is one of ${KINDS.join(", ")}.`);
  }
  const sets = Object.keys(fields).map((column) => `${column} = :${column}`);
  shop.execute(`update files set ${sets.join(", ")}, version = version + 1, author_id = :userId where id = :id`, { ...fields, id, userId });
  return { result: true, message: `File ${id}: ${Object.keys(fields).join(", ")} changed.`, detail: { id } };
}

/** Takes a file away from its row. Without `apply` it only shows it. */
export function CmdRemove(userId, { id, apply }) {
  const file = find(id);
  if (!file) {
    return missing(id);
  }
  if (!apply) {
    return only(`${file.real_name} would go from ${file.entity} ${file.elem_id}`, file);
  }
  shop.execute("delete from files where id = :id", { id });
  return { result: true, message: `${file.real_name} is gone from ${file.entity} ${file.elem_id}.`, detail: file };
}

function find(id) {
  return shop.one("select id, entity, elem_id, kind_key, real_name from files where id = :id", { id });
}

function missing(id) {
  return no(`There is no file ${id}. CmdList of ELEMENT_FILES shows the files of a row.`);
}
