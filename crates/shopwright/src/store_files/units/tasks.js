// The store's own tool TASKS: tasks that the person gave or got; new ones, and ones handed to a colleague.

const MINE = "(t.creator_id = :userId or t.executor_id = :userId)";

/** Open tasks of the person, the newest first. */
export function CmdList(userId, { state }) {
  const tasks = shop.select(
    `select t.id, t.name, t.body, t.state, c.login as creator, e.login as executor, t.changed
     from tasks t join users c on c.id = t.creator_id join users e on e.id = t.executor_id
     where ${MINE} and ${state === undefined ? "t.state <> 'kClose'" : "t.state = :state"} order by t.id desc limit 1000`,
    state === undefined ? { userId } : { userId, state });
  return { result: true, message: `${tasks.length} tasks.`, detail: { count: tasks.length }, tables: { tasks } };
}

/** A new task for a colleague. */
export function CmdAdd(userId, { login, name, text = "" }) {
  const { problem, task } = shop.staff.add_task(login, name, text);
  return problem ? { result: false, message: `${problem}.` }
    : { result: true, message: `Task ${task} waits for ${login}.`, detail: { task } };
}

/** A task goes to a colleague. */
export function CmdHand(userId, { id, login, note = "" }) {
  if (!shop.one(`select t.id from tasks t where t.id = :id and ${MINE}`, { id, userId })) {
    return { result: false, message: `You have no task ${id}. CmdList of TASKS shows yours.` };
  }
  const { problem } = shop.staff.hand_task(id, login, note);
  return problem ? { result: false, message: `${problem}.` }
    : { result: true, message: `Task ${id} waits for ${login} now.`, detail: { id, login } };
}
