//! `engine_files_load`: files of rows come to this computer.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use db::files::{self, ElementFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wire::{Stop, catalogue};

use super::content::file_name;
use super::element_files::named_entity;
use super::files_add::list;
use crate::{EngineCx, LocalContext, Presented, Right, Table};

/// Most bytes that one answer brings.
const MOST: i64 = 24 << 20;

crate::tool!("engine_files_load", right: Right::Command("AGENT_ENGINE_FILES_LOAD"), effect: Reads,
    refuses: [files_missing, entry_needs, unknown_entity, not_written, folder_not_made], run: run, present: present);

/// Copies files of rows into `files/` of the store folder.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// {entity: "products", elem_id: of the row, or id: of the file}
    #[schemars(schema_with = "list")]
    files: Vec<Entry>,
}

/// Files as the agent names them.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Entry {
    entity: Option<String>,
    id: Option<i64>,
    elem_id: Option<i64>,
}

/// The files.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Folder on this computer.
    #[serde(default)]
    folder: String,
    /// How many files there are.
    total: u64,
    /// How many came.
    sent: u64,
    /// A table of `entity, id, elem_id, kind_key, real_name, pos, size, path, state`: `ok`, `missing` (its content is
    /// not there) or `skipped` (too much for one answer: ask by `id`).
    files: Table,
    /// Contents in base64 by the number of their row, on their way to the disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    contents: Vec<(usize, String)>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    if args.files.is_empty() {
        return Err(catalogue::files_missing().into());
    }
    let mut found: Vec<ElementFile> = Vec::new();
    for entry in args.files {
        let (Some(entity), true) = (entry.entity, entry.id.is_some() || entry.elem_id.is_some()) else {
            return Err(catalogue::entry_needs("entity and id or elem_id").into());
        };
        named_entity(&entity)?;
        match (entry.id, entry.elem_id) {
            (Some(id), _) => {
                found.extend(files::by_id(cx.tx, id)?.filter(|file| file.entity == entity));
            }
            (None, Some(elem_id)) => found.extend(files::of(cx.tx, &entity, elem_id)?),
            (None, None) => {}
        }
    }
    let (mut rows, mut contents, mut left) = (Vec::new(), Vec::new(), MOST);
    for (at, file) in found.iter().enumerate() {
        let state = if file.bytes > left {
            "skipped"
        } else if let Some(bytes) = cx.server.element_file(&file.stored_name)? {
            left -= file.bytes;
            contents.push((at, BASE64_STANDARD.encode(bytes)));
            "ok"
        } else {
            "missing"
        };
        rows.push(row(file, state));
    }
    let columns = ["entity", "id", "elem_id", "kind_key", "real_name", "pos", "size", "path", "state"];
    let (total, sent) = (rows.len() as u64, contents.len() as u64);
    Ok(Answer { folder: String::new(), total, sent, files: Table::new(columns, rows), contents })
}

fn row(file: &ElementFile, state: &str) -> [Value; 9] {
    [
        json!(file.entity),
        json!(file.id),
        json!(file.elem_id),
        json!(file.kind_key),
        json!(file.real_name),
        json!(file.position),
        json!(file.bytes),
        json!(file.stored_name),
        json!(state),
    ]
}

fn present(local: &LocalContext, _: Args, mut answer: Answer) -> Result<Presented, Stop> {
    let folder = local.store.join("files");
    for (at, content) in std::mem::take(&mut answer.contents) {
        let wrong = || catalogue::unexpected_answer("a file is no base64 of a row.");
        let bytes = BASE64_STANDARD.decode(content).map_err(|_| wrong())?;
        let cell = answer.files.rows.get_mut(at).and_then(|row| row.get_mut(7)).ok_or_else(wrong)?;
        // Folders of the name are the store's; on this computer it is one plain name.
        let name = file_name(cell.as_str().unwrap_or_default());
        let file = local.write(&folder, name.trim_start_matches('.'), &bytes)?;
        *cell = file.to_string_lossy().into();
    }
    answer.folder = folder.to_string_lossy().into_owned();
    Ok(Presented::data(serde_json::to_value(answer)?))
}
