//! `tool_export`: the store's own tools as one archive: their rows and their units, without rights.

use std::collections::BTreeSet;

use db::ai_tools;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wire::text::quoted;
use wire::{Stop, catalogue};

use crate::zip::Zip;
use crate::{EngineCx, LocalContext, Presented, Right, StorePath, Table};

/// The archive's name where none is given.
const NAME: &str = "tools.zip";
/// What lies in the archive, and the tree of tools.
const INDEX: &str = "index.json";

crate::tool!("tool_export", right: Right::Command("AGENT_TOOL_EXPORT"), effect: Reads,
    refuses: [not_written, folder_not_made], run: run, prepare: prepare, present: present);

/// Writes one zip with the store's own tools: their tree, commands and fields, and their units; no rights.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// File or folder on this computer
    output: Option<String>,
}

/// What travels: nothing, the file is written here.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {}

/// The archive.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// The file on this computer.
    #[serde(default)]
    file: String,
    /// Its size.
    #[serde(default)]
    bytes: u64,
    /// Files of the archive: `path, bytes, sha256`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    index: Option<Table>,
    /// Tools with commands and fields; in `index.json`, not shown.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    tree: Vec<Value>,
    /// Paths and texts of the units; not shown.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    units: Vec<(String, String)>,
}

/// What the engine answers.
#[derive(Serialize)]
struct Told {
    tree: Vec<Value>,
    units: Vec<(String, String)>,
}

fn prepare(_: &LocalContext, _: Args) -> Result<Sent, Stop> {
    Ok(Sent {})
}

fn run(cx: &mut EngineCx<'_>, _: Sent) -> Result<Told, Stop> {
    let mut tree = Vec::new();
    let mut wanted = Vec::new();
    for tool in ai_tools::all(cx.tx)? {
        let mut commands = Vec::new();
        for command in ai_tools::commands(cx.tx, Some(tool.id))? {
            let fields: Vec<Value> = ai_tools::fields(cx.tx, command.id)?
                .into_iter()
                .map(|field| {
                    json!({"name": field.name, "type": field.kind, "required": field.required,
                        "default": field.default, "descr": field.descr})
                })
                .collect();
            commands.push(json!({"name": command.name, "descr": command.descr, "fields": fields}));
        }
        wanted.push(tool.unit.to_lowercase());
        tree.push(json!({"unit": tool.unit, "path": tool.path, "descr": tool.descr, "commands": commands}));
    }
    Ok(Told { tree, units: units(cx, wanted)? })
}

/// The units and the libraries they include, each with its manifest.
fn units(cx: &mut EngineCx<'_>, mut wanted: Vec<String>) -> Result<Vec<(String, String)>, Stop> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(name) = wanted.pop() {
        if !crate::engine::unit_path::is_unit_name(&name) || !seen.insert(name.clone()) {
            continue;
        }
        for ending in ["js", "json"] {
            let path = StorePath::parse("path", &format!("units/{name}.{ending}"))?;
            let Some(file) = cx.files.load(cx.tx, &path)? else { continue };
            let text = String::from_utf8_lossy(&file.bytes).into_owned();
            if ending == "json" {
                let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
                let includes = manifest["includes"].as_array().into_iter().flatten();
                wanted.extend(includes.filter_map(Value::as_str).map(str::to_owned));
            }
            found.push((path.as_str().to_owned(), text));
        }
    }
    found.sort();
    Ok(found)
}

fn present(local: &LocalContext, args: Args, answer: Answer) -> Result<Presented, Stop> {
    let mut zip = Zip::default();
    let mut rows = Vec::new();
    for (path, text) in &answer.units {
        let sha256 = zip.add(path, text.as_bytes())?;
        rows.push([Value::from(path.as_str()), text.len().into(), sha256.into()]);
    }
    let files: Vec<Value> =
        rows.iter().map(|row| json!({"path": row[0], "bytes": row[1], "sha256": row[2]})).collect();
    let index = serde_json::to_string_pretty(&json!({"tools": answer.tree, "files": files}))?;
    zip.add(INDEX, index.as_bytes())?;
    let bytes = zip.finish();
    let file = match args.output.filter(|output| !output.trim().is_empty()) {
        Some(output) => local.output_file(&output, NAME)?,
        None => local.conversation.join(NAME),
    };
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        let shown = quoted(&file.to_string_lossy(), 400);
        return Err(catalogue::not_written(&shown, "it names no file").into());
    };
    let file = local.write(folder, name, &bytes)?;
    Ok(Presented::data(json!({
        "file": file.to_string_lossy(),
        "bytes": bytes.len(),
        "index": Table::new(["path", "bytes", "sha256"], rows),
    })))
}
