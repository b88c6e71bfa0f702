//! `memory_remove`: a note of the person's own goes.

use db::notes::{self, Level};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use crate::{EngineCx, Right};

crate::tool!("memory_remove", right: Right::Command("AGENT_MEMORY_REMOVE"), effect: Destroys,
    refuses: [note_not_own, table_in_work], run: run);

/// Removes a note of this person's own.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Number of the note
    id: i64,
}

/// What is gone.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Number of the note.
    id: i64,
    /// Its name; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// 1, or 0 where this person sees no such note.
    removed: u8,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    cx.refuse_in_work("notes")?;
    let id = args.id;
    // Held, so that of two who remove it at once one is told that it is gone.
    cx.tx.lock_row("notes", id)?;
    let seen = notes::find(cx.tx, cx.caller.id, &cx.caller.groups, id, cx.language)?;
    let Some(note) = seen else { return Ok(Answer { id, name: None, removed: 0 }) };
    if note.head.level != Level::Own {
        return Err(catalogue::note_not_own(id, note.head.level.as_str()).into());
    }
    notes::remove(cx.tx, id)?;
    Ok(Answer { id, name: Some(note.head.name), removed: 1 })
}
