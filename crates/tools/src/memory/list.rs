//! `memory_list`: the notes a person sees.

use std::collections::HashSet;

use db::notes::{self, NoteHead};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shop::caseless::folded;
use wire::Stop;
use wire::text::quoted;

use super::body::words;
use crate::{EngineCx, LocalContext, Presented, Right, Table};

/// Bytes of rows that one answer carries: hosts cut what is longer.
const IN_ANSWER: usize = 30_000;
/// Bytes of bodies that are looked through at a time.
const AT_ONCE: u64 = 8 << 20;

crate::tool!("memory_list", right: Right::Command("AGENT_MEMORY_LIST"), effect: Reads, refuses: [not_written, folder_not_made], run: run,
    present: present);

/// Lists the notes of the store's memory, the most binding first. Read those that concern the task with memory_load.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Text in name, category, info or body
    find: Option<String>,
}

/// What the call answers.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// A table of `id`, `name`, `kind_key`, `level`, `group`, `category`, `info`, `size` (bytes of the body), `edit_time`.
    notes: Table,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let mut heads = notes::visible(cx.tx, cx.caller.id, &cx.caller.groups, cx.language)?;
    if let Some(find) = args.find.as_deref().map(str::trim).filter(|find| !find.is_empty()) {
        heads = found(cx, heads, &folded(find))?;
    }
    let columns = ["id", "name", "kind_key", "level", "group", "category", "info", "size", "edit_time"];
    Ok(Answer { notes: Table::new(columns, heads.into_iter().map(row)) })
}

/// Those that hold the text. Their bodies are looked through a few at a time: together they may be gigabytes.
fn found(cx: &mut EngineCx<'_>, heads: Vec<NoteHead>, find: &str) -> Result<Vec<NoteHead>, Stop> {
    let holds = |text: &str| folded(text).contains(find);
    let in_head =
        |head: &NoteHead| [&head.name, &head.category, &head.info].into_iter().any(|text| holds(text));
    let mut found: HashSet<i64> = heads.iter().filter(|head| in_head(head)).map(|head| head.id).collect();
    let mut rest: &[NoteHead] = &heads;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = rest.iter().take_while(|head| {
            bytes += head.size;
            bytes <= AT_ONCE
        });
        let (some, after) = rest.split_at(fits.count().clamp(1, rest.len()));
        rest = after;
        let ids: Vec<i64> = some.iter().map(|head| head.id).filter(|id| !found.contains(id)).collect();
        let bodies = notes::load(cx.tx, cx.caller.id, &cx.caller.groups, &ids, cx.language)?;
        found.extend(bodies.iter().filter(|note| holds(&words(&note.body))).map(|note| note.head.id));
    }
    Ok(heads.into_iter().filter(|head| found.contains(&head.id)).collect())
}

fn row(head: NoteHead) -> [Value; 9] {
    [
        head.id.into(),
        head.name.into(),
        head.kind_key.into(),
        head.level.as_str().into(),
        head.group.into(),
        head.category.into(),
        head.info.into(),
        head.size.into(),
        head.edit_time.into(),
    ]
}

fn present(local: &LocalContext, args: Args, mut answer: Answer) -> Result<Presented, Stop> {
    if let Some(text) = shorten(local, &mut answer.notes)? {
        return Ok(Presented { text: Some(text), ..Presented::data(serde_json::to_value(answer)?) });
    }
    let text = answer.notes.rows.is_empty().then(|| match args.find.as_deref().map(str::trim) {
        Some(find) if !find.is_empty() => {
            format!("No note that you see holds `{}`. Without `find` all are listed.", quoted(find, 80))
        }
        _ => {
            "You see no notes yet. What is worth keeping for later sessions goes into memory_save.".to_owned()
        }
    });
    Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
}

/// Leaves as many rows as an answer carries, and writes the whole table into a file where that is not all.
fn shorten(local: &LocalContext, table: &mut Table) -> Result<Option<String>, Stop> {
    let mut bytes = 0;
    let mut fits = 0;
    for row in &table.rows {
        bytes += serde_json::to_vec(row)?.len() + 1;
        if bytes > IN_ANSWER {
            break;
        }
        fits += 1;
    }
    let all = table.rows.len();
    if fits == all {
        return Ok(None);
    }
    let folder = local.conversation.join("notes").display().to_string();
    let file = local.write(&folder, "list.json", &serde_json::to_vec(table)?)?;
    table.rows.truncate(fits);
    Ok(Some(format!(
        "The first {fits} of {all} notes; the whole table is in {}. `find` narrows it.",
        file.display()
    )))
}
