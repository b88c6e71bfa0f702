//! `engine_db_unlocks`: frees tables in work.
//!
//! Leases end by themselves when their holder is gone, so this is for a window
//! that lives and was forgotten. Without names only the person's own leases
//! go; another's lease goes only by name and only by an administrator's word,
//! since its holder may be in the middle of a change.

use db::leases::{self, Lease};
use db::users;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wire::{Stop, catalogue};

use crate::{EngineCx, Right};

crate::tool!("engine_db_unlocks", right: Right::Command("AGENT_ENGINE_DB_UNLOCKS"), effect: Destroys,
    refuses: [lease_not_own], run: run);

/// Frees tables in work: all that this person's windows hold, or the named ones; another's only for an administrator.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Names
    tables: Option<Vec<String>>,
}

/// What is free now.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Tables that were freed.
    freed: Vec<String>,
    /// Named tables that nobody held.
    missed: Vec<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let me = cx.caller.id;
    let held = leases::all(cx.tx, cx.now)?;
    let Some(named) = args.tables else {
        let own = held.into_iter().filter(|lease| lease.user_id == me).collect();
        return Ok(Answer { freed: free(cx, own)?, missed: Vec::new() });
    };
    let missed =
        named.iter().filter(|table| !held.iter().any(|lease| lease.table == **table)).cloned().collect();
    let wanted: Vec<Lease> = held.into_iter().filter(|lease| named.contains(&lease.table)).collect();
    if let Some(other) = wanted.iter().find(|lease| lease.user_id != me)
        && !cx.caller.is_demo
        && !users::is_administrator(cx.tx, me)?
    {
        return Err(catalogue::lease_not_own(&other.table, &crate::engine_context::who(other)).into());
    }
    Ok(Answer { freed: free(cx, wanted)?, missed })
}

/// Frees every lease, all or none, and says which.
fn free(cx: &mut EngineCx<'_>, wanted: Vec<Lease>) -> Result<Vec<String>, Stop> {
    let mut freed = Vec::with_capacity(wanted.len());
    for lease in wanted {
        // By its holder, so that a lease somebody took a moment ago stays.
        if !leases::free(cx.tx, &lease.table, &lease.holder)? {
            continue;
        }
        // The holder's key stays out of the journal: with it anybody could renew.
        let before = json!({
            "table_name": lease.table, "user_id": lease.user_id, "what": lease.what,
            "since": db::micros(lease.since), "until": db::micros(lease.until),
        });
        cx.journal("leases", 0, Some(&before), None)?;
        freed.push(lease.table);
    }
    Ok(freed)
}
