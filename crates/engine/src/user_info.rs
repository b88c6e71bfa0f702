//! What both endpoints tell of a person: options, main group, memory, open tasks.

use db::{Tx, notes, rights, tasks, users};
use wire::{Group, MemoryCount, Person, Stop, Tasks};

/// What lets an agent see the memory: notes that can be listed but not loaded would lock its session.
pub(crate) const MEMORY: [&str; 2] = ["AGENT_MEMORY_LIST", "AGENT_MEMORY_LOAD"];
/// The scheduler's command in the tree of operations.
const SCHEDULER: &str = "SCHEDULER";

/// A person with their options.
pub(crate) fn person(tx: &mut Tx, user: &users::User) -> Result<Person, Stop> {
    let options = users::options(tx, user.id)?;
    Ok(Person { id: user.id, login: user.login.clone(), name: user.name.clone(), options })
}

/// A person's main group.
pub(crate) fn main_group(tx: &mut Tx, user: &users::User, language: &str) -> Result<Option<Group>, Stop> {
    let Some(id) = user.main_group else { return Ok(None) };
    let Some(group) = users::group(tx, id, language)? else { return Ok(None) };
    let options = users::group_options(tx, id)?;
    Ok(Some(Group { id: group.id, skey: group.skey, name: group.name, options }))
}

/// The notes a person's agents see.
pub(crate) fn memory(tx: &mut Tx, user: i64, groups: &[i64]) -> Result<MemoryCount, Stop> {
    Ok(MemoryCount { notes: notes::count(tx, user, groups)?, critical: notes::critical(tx, user, groups)? })
}

/// A person's open tasks, if the scheduler is theirs to see.
pub(crate) fn open_tasks(
    tx: &mut Tx,
    user: i64,
    is_demo: bool,
    language: &str,
) -> Result<Option<Tasks>, Stop> {
    if !is_demo && !rights::is_granted(tx, user, SCHEDULER)? {
        return Ok(None);
    }
    let wire_count = |count: tasks::StateCount| wire::StateCount {
        state: count.state,
        name: count.name,
        count: count.count,
    };
    let waiting = tasks::waiting(tx, user, language)?.into_iter().map(wire_count).collect();
    let given = tasks::given(tx, user, language)?.into_iter().map(wire_count).collect();
    Ok(Some(Tasks { waiting, given }))
}
