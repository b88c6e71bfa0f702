//! A unit as the tools load, save and move it: code, manifest, folders of templates.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use wire::Stop;

use super::unit_path::{TemplatePath, UnitPath};
use crate::{EngineCx, StorePath, is_open};

/// A unit as it is now.
pub(crate) struct Unit {
    /// Its code.
    pub(crate) code: Vec<u8>,
    /// Its manifest with every key; one that cannot be read counts as empty.
    pub(crate) manifest: Map<String, Value>,
    /// Version of code and manifest together: the newer of both.
    pub(crate) version: i64,
}

/// A unit; `None` where there is no code.
pub(crate) fn load(cx: &mut EngineCx<'_>, unit: &UnitPath) -> Result<Option<Unit>, Stop> {
    let Some(code) = cx.load_file(&unit.code())? else { return Ok(None) };
    let path = unit.manifest();
    let manifest = cx.load_file(&path)?;
    let version = match &manifest {
        Some(manifest) if manifest.version < 0 || code.version < 0 => unsaved(manifest.version, code.version),
        Some(manifest) => manifest.version.max(code.version),
        None => code.version,
    };
    let text = manifest.map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).unwrap_or_default();
    let manifest = match cx.units.manifest(path.as_str(), &text) {
        Ok(manifest) => manifest,
        Err(_) => cx.units.manifest(path.as_str(), "").unwrap_or_default(),
    };
    Ok(Some(Unit { code: code.bytes, manifest, version }))
}

/// One negative number for two files of which at least one was not saved by a tool.
fn unsaved(one: i64, other: i64) -> i64 {
    let mixed = one.unsigned_abs().rotate_left(21) ^ other.unsigned_abs();
    -i64::try_from(mixed & ((1 << 48) - 1)).unwrap_or(1).max(1)
}

/// A manifest as its file holds it.
pub(crate) fn manifest_text(manifest: &Map<String, Value>) -> Result<String, Stop> {
    Ok(serde_json::to_string_pretty(manifest)? + "\n")
}

/// Names of the groups of templates.
pub(crate) fn groups(cx: &mut EngineCx<'_>) -> Result<Vec<String>, Stop> {
    let entries = cx.files.entries("templates")?;
    let mut groups = BTreeSet::new();
    for entry in entries.iter().filter(|entry| entry.is_folder) {
        if let ["templates", group] = entry.path.split('/').collect::<Vec<_>>().as_slice() {
            groups.insert((*group).to_owned());
        }
    }
    Ok(groups.into_iter().collect())
}

/// All units, in the order of their names.
pub(crate) fn all(cx: &mut EngineCx<'_>) -> Result<Vec<UnitPath>, Stop> {
    let entries = cx.files.entries("units")?;
    Ok(entries
        .iter()
        .filter(|entry| !entry.is_folder)
        .filter_map(|entry| UnitPath::of_path(&entry.path))
        .collect())
}

/// The unit of this name in whatever language.
pub(crate) fn find(cx: &mut EngineCx<'_>, name: &str) -> Result<Option<UnitPath>, Stop> {
    for ending in ["js", "php"] {
        let unit = UnitPath { name: name.to_owned(), ending: ending.to_owned() };
        if cx.has_file(&unit.code())? {
            return Ok(Some(unit));
        }
    }
    Ok(None)
}

/// Files in a unit's folders, of every group.
pub(crate) fn folder_files(cx: &mut EngineCx<'_>, unit: &UnitPath) -> Result<Vec<StorePath>, Stop> {
    let mut found = Vec::new();
    for group in groups(cx)? {
        let folder = unit.folder(&group);
        for entry in cx.files.entries(&folder)? {
            if !entry.is_folder && is_open(&entry.path) {
                found.push(StorePath::made(entry.path));
            }
        }
    }
    Ok(found)
}

/// Code and templates that still name a unit, other than its own.
pub(crate) fn mentions(cx: &mut EngineCx<'_>, unit: &UnitPath) -> Result<Vec<String>, Stop> {
    let import = format!("units/{}.{}", unit.name, unit.ending);
    let quoted = [format!("\"{}\"", unit.name), format!("'{}'", unit.name)];
    let mut found = Vec::new();
    for below in ["units", "templates"] {
        for entry in cx.files.entries(below)?.into_iter().filter(|entry| !entry.is_folder) {
            let path = StorePath::made(entry.path);
            let is_own = path == unit.code()
                || path == unit.manifest()
                || TemplatePath::of(&path).is_some_and(|template| template.unit == unit.name);
            let is_read = UnitPath::of_path(path.as_str()).is_some()
                || path.as_str().ends_with(".htm")
                || path.as_str().starts_with("units/");
            if is_own || !is_read {
                continue;
            }
            let Some(file) = cx.load_file(&path)? else { continue };
            let text = String::from_utf8_lossy(&file.bytes);
            if text.contains(&import) || quoted.iter().any(|name| text.contains(name)) {
                found.push(path.as_str().to_owned());
            }
        }
    }
    Ok(found)
}

/// What the answer says of code and templates that still name a unit; `None` where none does.
pub(crate) fn still_named(name: &str, mentions: &[String]) -> Option<String> {
    (!mentions.is_empty()).then(|| format!("These still name `{name}`: {}.", mentions.join(", ")))
}
