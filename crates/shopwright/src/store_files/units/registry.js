// The store's own tool REGISTRY: lists of keys with names, which the owner may extend: kinds of notes, states of tasks, keys of events.
import { done } from "units/inc_tools.js";

/** All lists, or one. */
export function CmdList(userId, { branch }) {
  const values = shop.select(
    `select r.id, r.branch, r.skey, coalesce(n.name, r.name) as name, r.position from registry r
     left join names n on n.entity = 'registry' and n.elem_id = r.id and n.language = :language
     ${branch === undefined ? "" : "where r.branch = :branch"} order by r.branch, r.position, r.id`,
    branch === undefined ? { language: shop.config("language") } : { language: shop.config("language"), branch });
  return values.length || branch === undefined
    ? { result: true, message: `${values.length} values.`, detail: { count: values.length }, tables: { values } }
    : { result: false, message: `There is no list [${branch}]. CmdList of REGISTRY without branch shows all.` };
}

/** A key and its name: a new one at the end of its list, or another name for one that is there. */
export function CmdSave(userId, { branch, skey, name }) {
  const answer = shop.staff.save_registry(branch, skey, name);
  return done(answer, answer.is_new ? `${skey} is in the list ${branch}.` : `${skey} is called ${name} now.`, "CmdList of REGISTRY shows the lists.");
}
