//! `engine_files_remove`: files of rows go.

use db::files;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use super::element_files::named_entity;
use super::files_add::list;
use crate::{EngineCx, Right};

crate::tool!("engine_files_remove", right: Right::Command("AGENT_ENGINE_FILES_REMOVE"), effect: Destroys,
    refuses: [files_missing, entry_needs, unknown_entity, table_in_work], run: run);

/// Removes files of rows; numbers that are not there are passed over.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// {entity: "products", id: of the file}
    #[schemars(schema_with = "list")]
    files: Vec<Entry>,
}

/// A file as the agent names it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Entry {
    entity: Option<String>,
    id: Option<i64>,
}

/// How many files are gone.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Files.
    removed: u64,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    if args.files.is_empty() {
        return Err(catalogue::files_missing().into());
    }
    cx.refuse_in_work("files")?;
    let mut removed = 0;
    for entry in args.files {
        let (Some(entity), Some(id)) = (entry.entity, entry.id) else {
            return Err(catalogue::entry_needs("entity and id").into());
        };
        named_entity(&entity)?;
        if files::by_id(cx.tx, id)?.is_some_and(|file| file.entity == entity) {
            files::remove(cx.tx, id)?;
            removed += 1;
        }
    }
    Ok(Answer { removed })
}
