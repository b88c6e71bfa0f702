// The store's own tool EVENTS: what happened in the store and for whom. `data` may hold what visitors wrote.
import { most, named, page } from "units/inc_tools.js";

/** Events, the newest first; without `all` those for the person and their groups. */
export function CmdList(userId, { key, state, all, before, limit }) {
  const where = [all ? "1 = 1" : `(e.to_user = :userId or e.to_group in (select main_group from users where id = :userId)
    or e.to_group in (select group_id from user_groups where user_id = :userId))`];
  const params = { ...named({ key, state, before }), ...(all ? {} : { userId }) };
  for (const column of ["key", "state"].filter((column) => params[column] !== undefined)) {
    where.push(`e.${column} = :${column}`);
  }
  if (before !== undefined) {
    where.push("e.id < :before");
  }
  const count = most(limit);
  return page("events", shop.select(
    `select e.id, e.key, e.state, e.time, e.user_id as author, u.login as for_person, g.name as for_group, e.data from events e
     left join users u on u.id = e.to_user left join groups g on g.id = e.to_group
     where ${where.join(" and ")} order by e.id desc limit ${count + 1}`, params), count, "before");
}
