//! `engine_files_add`: files for rows.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use db::files;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::text::quoted;
use wire::{Stop, catalogue};

use super::element_files::{file_table, named_entity};
use crate::{ElementUpload, EngineCx, LocalContext, Right, Table};

/// Most bytes of the files of a call.
const MOST: u64 = 32 << 20;
/// Longest name that is kept, in characters.
const NAME: usize = 200;

crate::tool!("engine_files_add", right: Right::Command("AGENT_ENGINE_FILES_ADD"), effect: Writes,
    refuses: [files_missing, entry_needs, no_such_file, unknown_entity, element_not_found, not_an_element_file,
        table_in_work],
    run: run, prepare: prepare);

/// Adds files of this computer to rows: pictures of products, papers of pages.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// {entity: "products", elem_id, file, kind_key?, real_name?}
    #[schemars(schema_with = "list")]
    files: Vec<Entry>,
}

/// Its items are told in words: their fields would cost as much as a tool of their own.
pub(super) fn list(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "array"})
}

/// A file as the agent names it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Entry {
    entity: Option<String>,
    elem_id: Option<i64>,
    file: Option<String>,
    kind_key: Option<String>,
    real_name: Option<String>,
}

/// What travels.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    files: Vec<SentFile>,
}

/// A file with its bytes in base64.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SentFile {
    entity: String,
    elem_id: i64,
    kind_key: Option<String>,
    real_name: String,
    base64: String,
}

/// What the rows have now.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// A table of `entity, elem_id, id, kind_key, real_name, path, size, pos`.
    files: Table,
}

fn prepare(local: &LocalContext, args: Args) -> Result<Sent, Stop> {
    if args.files.is_empty() {
        return Err(catalogue::files_missing().into());
    }
    let mut left = MOST;
    let mut files = Vec::with_capacity(args.files.len());
    for entry in args.files {
        let (Some(entity), Some(elem_id), Some(file)) = (entry.entity, entry.elem_id, entry.file) else {
            return Err(catalogue::entry_needs("entity, elem_id and file").into());
        };
        let bytes = local.read_bytes(&file, left)?;
        left = left.saturating_sub(bytes.len() as u64);
        let own = file.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let real_name = entry.real_name.filter(|name| !name.trim().is_empty()).unwrap_or(own);
        let base64 = BASE64_STANDARD.encode(bytes);
        files.push(SentFile { entity, elem_id, kind_key: entry.kind_key, real_name, base64 });
    }
    Ok(Sent { files })
}

fn run(cx: &mut EngineCx<'_>, sent: Sent) -> Result<Answer, Stop> {
    cx.refuse_in_work("files")?;
    for file in &sent.files {
        named_entity(&file.entity)?;
        if !files::has_element(cx.tx, &file.entity, file.elem_id)? {
            return Err(catalogue::element_not_found(&file.entity, file.elem_id).into());
        }
    }
    let mut added = Vec::with_capacity(sent.files.len());
    for file in sent.files {
        let bytes = BASE64_STANDARD.decode(&file.base64);
        let bytes = bytes.map_err(|_| catalogue::bad_request("`base64` is none"))?;
        let real_name = quoted(&file.real_name, NAME);
        let upload = ElementUpload {
            entity: &file.entity,
            elem_id: file.elem_id,
            kind_key: file.kind_key.as_deref(),
            real_name: &real_name,
            bytes: &bytes,
        };
        let id = cx.server.add_element_file(cx.tx, &upload)?;
        let id = id.map_err(|why| catalogue::not_an_element_file(&real_name, &why))?;
        added.extend(files::by_id(cx.tx, id)?);
    }
    Ok(Answer { files: file_table(&added) })
}
