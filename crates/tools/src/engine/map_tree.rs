//! `engine_map_tree`: units, folders, files and logs of the store.

use std::collections::BTreeSet;
use std::path::Path;

use db::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wire::{Stop, catalogue};

use super::unit;
use super::unit_path::UnitPath;
use crate::{EngineCx, LocalContext, Presented, Right, StoreEntry, Table, is_open};

crate::tool!("engine_map_tree", right: Right::Command("AGENT_ENGINE_DEV_READ"), effect: Reads,
    refuses: [not_written, folder_not_made], run: run, present: present);

/// Lists units, folders, files and logs of the store.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Part of their paths
    path: Option<String>,
    /// File for the rows, as JSON lines
    output: Option<String>,
    /// Read anew; every call does
    #[serde(rename = "reload")]
    _reload: Option<bool>,
}

/// The tree in four tables, each from the store's root.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// `path, library, cache, entry, lazy, tables, includes, size`.
    units: Table,
    /// `path, branch`.
    dirs: Table,
    /// `path, branch, type, size`.
    files: Table,
    /// `path, time, size`.
    logs: Table,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let part = args.path.unwrap_or_default();
    let part = part.trim_start_matches("./../");
    let is_wanted = |path: &str| path.contains(part);
    let entries = cx.files.entries("")?;
    let mut units = Vec::new();
    let mut dirs: BTreeSet<(String, &str)> = BTreeSet::new();
    let (mut files, mut logs) = (Vec::new(), Vec::new());
    let groups = unit::groups(cx)?;
    for entry in &entries {
        let Some(branch) = branch(entry) else { continue };
        if entry.is_folder {
            dirs.insert((entry.path.clone(), branch));
        } else if branch == "log" {
            logs.push(entry);
        } else if let Some(unit) = UnitPath::of_path(&entry.path) {
            virtual_folders(&unit, &groups, &mut dirs);
            if is_wanted(&entry.path) {
                units.push(unit_row(cx, &unit, entry.size)?);
            }
        } else {
            files.push([
                entry.path.clone().into(),
                branch.into(),
                ending(&entry.path).into(),
                entry.size.into(),
            ]);
        }
    }
    files.retain(|row: &[Value; 4]| row[0].as_str().is_some_and(is_wanted));
    logs.retain(|entry| is_wanted(&entry.path));
    let logs =
        logs.into_iter().map(|log| [log.path.clone().into(), seconds(log.time).into(), log.size.into()]);
    let dirs = dirs.into_iter().filter(|(path, _)| is_wanted(path));
    let columns = ["path", "library", "cache", "entry", "lazy", "tables", "includes", "size"];
    Ok(Answer {
        units: Table::new(columns, units),
        dirs: Table::new(["path", "branch"], dirs.map(|(path, branch)| [path.into(), branch.into()])),
        files: Table::new(["path", "branch", "type", "size"], files),
        logs: Table::new(["path", "time", "size"], logs),
    })
}

/// Which part of the store a file or folder belongs to; `None` for what is not in the map.
fn branch(entry: &StoreEntry) -> Option<&'static str> {
    let parts: Vec<&str> = entry.path.split('/').collect();
    if !is_open(&entry.path) {
        return None;
    }
    match parts.as_slice() {
        ["core"] => None,
        ["core", "log", ..] => (!entry.is_folder && !entry.path.ends_with(".gz")).then_some("log"),
        ["units", ..] => Some("unit"),
        ["templates"] | ["templates", _] => Some("template"),
        ["templates", _, "units", ..] if entry.path.ends_with(".htm") || entry.is_folder => Some("html"),
        ["templates", _, "units" | "statics", ..] => Some("static"),
        ["templates", _, "images", ..] => Some("image"),
        ["templates", _, "bundles", ..] => None,
        ["templates", ..] => Some("template"),
        ["favicon.ico"] | ["files" | "profiles", ..] => None,
        [_] => Some("root"),
        _ => None,
    }
}

/// Folders that people see though they are on no disk: the group of a unit's name, its folder in every group.
fn virtual_folders(unit: &UnitPath, groups: &[String], dirs: &mut BTreeSet<(String, &str)>) {
    let words: Vec<&str> = unit.name.split('_').collect();
    if let [first, second, ..] = words.as_slice() {
        dirs.insert((format!("units/{first}_{second}"), "unit"));
    }
    if !unit.is_library() {
        dirs.extend(groups.iter().map(|group| (unit.folder(group), "html")));
    }
}

fn unit_row(cx: &mut EngineCx<'_>, unit: &UnitPath, size: u64) -> Result<[Value; 8], Stop> {
    let path = unit.manifest();
    let text = cx.load_file(&path)?.map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
    let manifest = cx.units.manifest(path.as_str(), &text.unwrap_or_default()).unwrap_or_default();
    let of = |key: &str| manifest.get(key).cloned();
    let cache = of("cache").and_then(|cache| cache.get("on").cloned());
    Ok([
        unit.code().as_str().into(),
        unit.is_library().into(),
        cache.unwrap_or(Value::Bool(false)),
        of("entry_point").unwrap_or(Value::Bool(false)),
        of("lazy_load").unwrap_or(Value::Bool(false)),
        of("tables").unwrap_or_else(|| json!([])),
        of("includes").unwrap_or_else(|| json!([])),
        size.into(),
    ])
}

fn ending(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default()
}

fn present(local: &LocalContext, args: Args, answer: Answer) -> Result<Presented, Stop> {
    let tables =
        [("units", &answer.units), ("dirs", &answer.dirs), ("files", &answer.files), ("logs", &answer.logs)];
    let is_empty = tables.iter().all(|(_, table)| table.rows.is_empty());
    let text = is_empty.then(|| match &args.path {
        Some(path) => format!("Nothing in the store has `{}` in its path.", wire::text::quoted(path, 100)),
        None => "The store has no files yet.".to_owned(),
    });
    let Some(output) = args.output else {
        return Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) });
    };
    let mut lines = String::new();
    let mut counts = Map::new();
    for (name, table) in tables {
        counts.insert(name.to_owned(), table.rows.len().into());
        for row in &table.rows {
            let cells = table.columns.iter().cloned().zip(row.iter().cloned());
            let object: Map<String, Value> =
                std::iter::once(("table".to_owned(), name.into())).chain(cells).collect();
            lines.push_str(&Value::Object(object).to_string());
            lines.push('\n');
        }
    }
    let file = to_output(local, &output, "tree.jsonl", lines.as_bytes())?;
    Ok(Presented { text, ..Presented::data(json!({"file": file, "rows": counts})) })
}

/// Writes to the file that `output` names; an existing folder takes it under its own name.
pub(super) fn to_output(local: &LocalContext, output: &str, own: &str, bytes: &[u8]) -> Result<String, Stop> {
    let path = local.store.join(output);
    let (folder, name) = if path.is_dir() || output.ends_with('/') {
        (path, own.to_owned())
    } else {
        let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let name =
            name.ok_or_else(|| catalogue::not_written(&wire::text::quoted(output, 200), "it names no file"))?;
        (path.parent().unwrap_or(Path::new("")).to_owned(), name)
    };
    if name.contains([':', '\\', '\0']) {
        return Err(
            catalogue::not_written(&wire::text::quoted(output, 200), "its name is no plain one").into()
        );
    }
    Ok(local.write(folder, &name, bytes)?.to_string_lossy().into_owned())
}
