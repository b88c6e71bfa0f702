//! `engine_db_locks`: tables in work.

use db::leases::{self, Lease};
use db::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::Stop;

use crate::{EngineCx, LocalContext, Presented, Right, Table};

crate::tool!("engine_db_locks", right: Right::Command("AGENT_ENGINE_DB_LOCKS"), effect: Reads, refuses: [],
    run: run, present: present);

/// Lists the tables in work, where nobody else writes: who holds each and until when.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {}

/// What the call answers.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// A table of `table`, `user_id`, `login`, `name`, `what` (they do), `since`, `until` (if not renewed), times in UTC.
    locks: Table,
}

fn run(cx: &mut EngineCx<'_>, _: Args) -> Result<Answer, Stop> {
    let columns = ["table", "user_id", "login", "name", "what", "since", "until"];
    Ok(Answer { locks: Table::new(columns, leases::all(cx.tx, cx.now)?.into_iter().map(row)) })
}

fn row(lease: Lease) -> [Value; 7] {
    [
        lease.table.into(),
        lease.user_id.into(),
        lease.login.into(),
        lease.name.into(),
        lease.what.into(),
        seconds(lease.since).into(),
        seconds(lease.until).into(),
    ]
}

fn present(_: &LocalContext, _: Args, answer: Answer) -> Result<Presented, Stop> {
    let text = answer.locks.rows.is_empty().then(|| "No table is in work.".to_owned());
    Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
}
