//! `engine_db_unlocks`: frees tables in work.
//!
//! Leases end by themselves when their holder is gone, so this is for a window
//! that lives and was forgotten. Without names only what the
//! person's own calls left goes, never an open window; another's lease, and a
//! window's, goes only by name, and another's only by an administrator's word.

use db::leases::{self, Lease};
use db::{seconds, users};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use crate::{EngineCx, LocalContext, Presented, Right, Table};

crate::tool!("engine_db_unlocks", right: Right::Command("AGENT_ENGINE_DB_UNLOCKS"), effect: Destroys,
    refuses: [lease_not_own, unknown_table], run: run, present: present);

/// Frees tables in work: those that this person's calls left, or the named ones; another's only for an administrator.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Names
    tables: Option<Vec<String>>,
}

/// What is free now.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// What was freed: a table of `table`, `since` (in UTC).
    released: Table,
    /// Tables that were freed.
    freed: Vec<String>,
    /// Named tables that nobody held.
    missed: Vec<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let me = cx.caller.id;
    let held = leases::all(cx.tx, cx.now)?;
    let Some(named) = args.tables else {
        let own = held.into_iter().filter(|lease| lease.user_id == me && lease.is_of_call()).collect();
        return answer(free(cx, own)?, Vec::new());
    };
    if let Some(unknown) = named.iter().find(|table| db::schema::table(table).is_none()) {
        return Err(catalogue::unknown_table(&wire::text::quoted(unknown, 80)).into());
    }
    let missed =
        named.iter().filter(|table| !held.iter().any(|lease| lease.table == **table)).cloned().collect();
    let wanted: Vec<Lease> = held.into_iter().filter(|lease| named.contains(&lease.table)).collect();
    if let Some(other) = wanted.iter().find(|lease| lease.user_id != me)
        && !cx.caller.is_demo
        && !users::is_administrator(cx.tx, me)?
    {
        return Err(catalogue::lease_not_own(&other.table, &crate::engine_context::who(other)).into());
    }
    answer(free(cx, wanted)?, missed)
}

fn answer(freed: Vec<Lease>, missed: Vec<String>) -> Result<Answer, Stop> {
    let row = |lease: &Lease| [lease.table.clone().into(), seconds(lease.since).into()];
    let released = Table::new(["table", "since"], freed.iter().map(row));
    Ok(Answer { released, freed: freed.into_iter().map(|lease| lease.table).collect(), missed })
}

/// Frees every lease, all or none, and says which.
fn free(cx: &mut EngineCx<'_>, wanted: Vec<Lease>) -> Result<Vec<Lease>, Stop> {
    let mut freed = Vec::with_capacity(wanted.len());
    for lease in wanted {
        // By its holder, so that a lease somebody took a moment ago stays.
        if !leases::free(cx.tx, &lease.table, &lease.holder)? {
            continue;
        }
        freed.push(lease);
    }
    Ok(freed)
}

fn present(_: &LocalContext, args: Args, answer: Answer) -> Result<Presented, Stop> {
    let is_nothing = args.tables.is_none() && answer.freed.is_empty();
    let text = is_nothing.then(|| {
        "Nothing of yours is stuck: tables in open windows are freed by name only, and by themselves when a window is closed.".to_owned()
    });
    Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
}
