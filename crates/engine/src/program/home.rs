//! What waits for a person: tasks, memory, tables that somebody has in work.

use db::{Tx, leases, rights, users};
use serde_json::Value;
use wire::{InWork, ProgramHome, Stop};

use crate::app_state::AppState;
use crate::gate::tickets::PROGRAM;
use crate::gate::{Gate, touch};
use crate::request_context::RequestContext;
use crate::user_info::{MEMORY, memory, open_tasks};

/// Every look at the console asks for it, so it waits for nobody who writes.
pub(super) fn answer(state: &AppState, context: &RequestContext) -> Result<Value, Stop> {
    let gate = Gate::enter(state, context)?;
    let (answer, to_touch) = state.db.read(|tx| {
        let holder = gate.holder(tx, PROGRAM, true)?;
        Ok::<_, Stop>((home(tx, &gate, context, &holder.user)?, holder.to_touch))
    })?;
    touch(state, to_touch, context);
    Ok(serde_json::to_value(answer)?)
}

fn home(
    tx: &mut Tx,
    gate: &Gate<'_>,
    context: &RequestContext,
    user: &users::User,
) -> Result<ProgramHome, Stop> {
    let mut sees_memory = true;
    for command in MEMORY {
        sees_memory &= gate.is_demo || rights::is_granted(tx, user.id, command)?;
    }
    let groups = users::groups(tx, user.id)?;
    Ok(ProgramHome {
        tasks: open_tasks(tx, user.id, gate.is_demo, &context.settings.config.language)?,
        memory: if sees_memory { Some(memory(tx, user.id, &groups)?) } else { None },
        in_work: in_work(leases::all(tx, context.now)?),
    })
}

/// One row for each holding. Who may renew it stays the holder's secret.
fn in_work(mut all: Vec<leases::Lease>) -> Vec<InWork> {
    all.sort_by(|one, other| {
        (one.since, &one.holder, &one.table).cmp(&(other.since, &other.holder, &other.table))
    });
    all.chunk_by(|one, other| one.holder == other.holder)
        .filter_map(|held| {
            let first = held.first()?;
            Some(InWork {
                login: first.login.clone(),
                name: first.name.clone(),
                what: first.what.clone(),
                tables: held.iter().map(|lease| lease.table.clone()).collect(),
                since: db::seconds(first.since),
            })
        })
        .collect()
}
