// The store's own tool USERS: people who work in the store, and their groups. Nobody locks themselves out.
import { done, named, namedOrGone, no, only } from "units/inc_tools.js";

/** People and groups. */
export function CmdList() {
  const users = shop.select("select u.id, u.login, u.name, u.blocked, u.main_group from users u order by u.id");
  const groups = shop.select(
    `select g.id, g.skey, g.name, (select count(*) from users u where u.main_group = g.id) as people
     from groups g order by g.position, g.id`);
  const more_groups = shop.select("select user_id, group_id from user_groups order by user_id, group_id");
  return { result: true, message: `${users.length} people, ${groups.length} groups.`, detail: { count: users.length }, tables: { users, groups, more_groups } };
}

/** A new person; who owns the server sets the password. */
export function CmdAdd(userId, { login, name, main_group, groups }) {
  const answer = shop.staff.save_user(null, named({ login, name, main_group, groups }));
  return done(answer, `${login} is there and may sign in once \`shopwright store passwd\` has set a password.`, NEXT);
}

/** What is named changes, everything else stays; `groups` are all groups beside the main one. */
export function CmdChange(userId, { id, name, main_group, groups }) {
  const fields = { ...named({ name, groups }), ...namedOrGone({ main_group }) };
  if (Object.keys(fields).length === 0) {
    return no("Nothing is named that could change. tool_list with USERS shows the fields.");
  }
  return done(shop.staff.save_user(id, fields), `Person ${id}: ${Object.keys(fields).join(", ")} changed.`, NEXT);
}

/** They may not work any more, from now on; their open sessions end. Without `apply` it only shows who. */
export function CmdBlock(userId, { id, apply }) {
  const user = shop.one("select id, login, name, blocked from users where id = :id", { id });
  if (!user) {
    return no(`There is no person ${id}. ${NEXT}`);
  }
  return apply ? done(shop.staff.save_user(id, { blocked: true }), `${user.login} may not work here any more.`, NEXT)
    : only(`${user.login} could not work here any more`, user);
}

/** They may work again. */
export function CmdUnblock(userId, { id }) {
  return done(shop.staff.save_user(id, { blocked: false }), `Person ${id} may work again.`, NEXT);
}

const NEXT = "CmdList of USERS shows people and groups.";
