//! `engine_unit_save`: a unit's code, its manifest, or both.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wire::{Stop, catalogue, text::quoted};

use super::content;
use super::unit::{self, Unit};
use super::unit_path::UnitPath;
use crate::file_changes::syntax_error;
use crate::{CodeReport, EngineCx, LocalContext, Right, StorePath};

/// Most warnings of one kind that are told.
const TOLD: usize = 10;

crate::tool!("engine_unit_save", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [not_both, no_such_file, not_utf8, outside_store, config_closed, server_marker, not_a_unit_file, no_such_store_file,
        content_missing, changed_since, syntax_error],
    run: run, prepare: prepare);

/// Saves a unit's whole code and/or manifest as a new version, after a check of syntax.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// units/<name>.js
    path: String,
    /// Whole code
    content: Option<String>,
    /// Or a UTF-8 file with it
    content_source: Option<String>,
    /// Whole manifest, as load shows it
    manifest: Option<Map<String, Value>>,
    /// Version it was made from; refused if a newer one is there
    base: Option<i64>,
}

/// What travels: the content itself instead of its source.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    manifest: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<i64>,
}

/// The saved unit.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Path of the code.
    path: String,
    /// Whether the manifest was saved.
    manifest: bool,
    /// The new version.
    version: i64,
    /// What looks wrong, in a line; empty where nothing does.
    warning: String,
}

fn prepare(local: &LocalContext, args: Args) -> Result<Sent, Stop> {
    let content = content::given(local, args.content, args.content_source)?;
    if content.is_none() && args.manifest.is_none() {
        return Err(catalogue::content_missing().into());
    }
    Ok(Sent { path: args.path, content, manifest: args.manifest, base: args.base })
}

fn run(cx: &mut EngineCx<'_>, sent: Sent) -> Result<Answer, Stop> {
    let path = StorePath::parse("path", &sent.path)?;
    let saved = UnitPath::of_path(path.as_str())
        .ok_or_else(|| catalogue::not_a_unit_file(&quoted(path.as_str(), 200)))?;
    if sent.content.is_none() && sent.manifest.is_none() {
        return Err(catalogue::content_missing().into());
    }
    cx.hold_file(&path)?;
    let Some(Unit { code, manifest, version }) = unit::load(cx, &saved)? else {
        return Err(catalogue::no_such_store_file(path.as_str(), "engine_unit_add").into());
    };
    cx.refuse_changed(&path, sent.base, version, &code)?;
    let new_manifest = match sent.manifest {
        Some(mut named) => {
            named.retain(|_, value| !value.is_null());
            Some(checked_manifest(cx, &saved, named, &manifest)?)
        }
        None => None,
    };
    let source = sent.content.as_deref().map_or_else(|| String::from_utf8_lossy(&code), Into::into);
    let report = match cx.units.code(path.as_str(), &source)? {
        Ok(report) => report,
        // Saving the manifest alone does not mend the code, and does not need it mended.
        Err(_) if sent.content.is_none() => CodeReport::default(),
        Err(mistake) => return Err(syntax_error(path.as_str(), &mistake)),
    };
    let warning = warning(cx, &report, new_manifest.as_ref().unwrap_or(&manifest))?;
    let mut version = version;
    if let Some(content) = &sent.content {
        version = cx.save_file(&path, content.as_bytes())?;
    }
    if let Some(manifest) = &new_manifest {
        version = cx.save_file(&saved.manifest(), unit::manifest_text(manifest)?.as_bytes())?;
    }
    Ok(Answer { path: path.as_str().to_owned(), manifest: new_manifest.is_some(), version, warning })
}

/// The manifest with every key. What its queries touch is the engine's to say.
fn checked_manifest(
    cx: &EngineCx<'_>,
    saved: &UnitPath,
    named: Map<String, Value>,
    before: &Map<String, Value>,
) -> Result<Map<String, Value>, Stop> {
    let path = saved.manifest();
    let mut manifest = cx
        .units
        .manifest(path.as_str(), &serde_json::to_string_pretty(&named)?)
        .map_err(|mistake| syntax_error(path.as_str(), &mistake))?;
    if let Some(tables) = before.get("tables") {
        manifest.insert("tables".to_owned(), tables.clone());
    }
    Ok(manifest)
}

/// What looks wrong with a unit, in one line.
fn warning(
    cx: &mut EngineCx<'_>,
    report: &CodeReport,
    manifest: &Map<String, Value>,
) -> Result<String, Stop> {
    let mut parts = Vec::new();
    for (word, names) in [("Undeclared", &report.undeclared), ("Unused", &report.unused)] {
        if !names.is_empty() {
            let told =
                names.iter().take(TOLD).map(|(name, line, column)| format!("{name} ({line}:{column})"));
            parts.push(format!("{word}: {}", told.collect::<Vec<_>>().join(", ")));
        }
    }
    let texts = |key: &str| -> Vec<String> {
        let list = manifest.get(key).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let includes = texts("includes");
    let imported: Vec<String> =
        report.imports.iter().filter_map(|import| UnitPath::of_path(import)).map(|unit| unit.name).collect();
    let mut missing = Vec::new();
    for name in imported.iter().chain(&includes) {
        if !missing.contains(name) && unit::find(cx, name)?.is_none() {
            missing.push(name.clone());
        }
    }
    let unlisted: Vec<String> = imported.iter().filter(|name| !includes.contains(name)).cloned().collect();
    let unknown: Vec<String> =
        texts("writes").into_iter().filter(|table| db::schema::table(table).is_none()).collect();
    for (word, names) in [
        ("Missing include", missing),
        ("Imported and not in `includes`", unlisted),
        ("Unknown table in `writes`", unknown),
        ("Hosts that the owner has to grant", texts("network")),
    ] {
        if !names.is_empty() {
            parts.push(format!("{word}: {}", quoted(&names.join(", "), 300)));
        }
    }
    Ok(if parts.is_empty() { String::new() } else { format!("Warning! {}.", parts.join("; ")) })
}
