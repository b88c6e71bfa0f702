//! What waits for a person: tasks, memory, tables that somebody has in work.

use db::{Tx, leases, rights, users};
use serde_json::Value;
use wire::{InWork, ProgramHome, Stop};

use super::KIND;
use crate::agent::touch;
use crate::gate::Gate;
use crate::house::{Asked, House};
use crate::sign_in::{MEMORY, memory, open_tasks};

/// Every look at the console asks for it, so it waits for nobody who writes.
pub(super) fn answer(house: &House, asked: &Asked) -> Result<Value, Stop> {
    let gate = Gate::enter(house, asked)?;
    let (answer, to_touch) = house.db.read(|tx| {
        let holder = gate.holder(tx, KIND, true)?;
        Ok::<_, Stop>((home(tx, &gate, asked, &holder.user)?, holder.to_touch))
    })?;
    touch(house, to_touch, asked);
    Ok(serde_json::to_value(answer)?)
}

fn home(tx: &mut Tx, gate: &Gate<'_>, asked: &Asked, user: &users::User) -> Result<ProgramHome, Stop> {
    let mut sees_memory = true;
    for command in MEMORY {
        sees_memory &= gate.is_demo || rights::is_granted(tx, user.id, command)?;
    }
    let groups = users::groups(tx, user.id)?;
    Ok(ProgramHome {
        tasks: open_tasks(tx, user.id, gate.is_demo, &asked.settings.config.language)?,
        memory: if sees_memory { Some(memory(tx, user.id, &groups)?) } else { None },
        in_work: in_work(leases::all(tx, asked.now)?),
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
