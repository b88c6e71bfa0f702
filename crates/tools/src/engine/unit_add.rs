//! `engine_unit_add`: a new unit, empty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use super::unit;
use super::unit_path::UnitPath;
use crate::{EngineCx, LocalContext, Presented, Right, StorePath};

crate::tool!("engine_unit_add", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [outside_store, config_closed, server_marker, not_a_module_path, units_are_flat, templates_tree,
        no_runtime, unit_exists],
    run: run, present: present);

/// Makes a unit: empty code, a manifest and, unless it is a library, main.htm in each template group.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// units/<name>.js
    path: String,
}

/// The new unit.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Path of its code.
    path: String,
    /// Whether it is a library.
    library: bool,
    /// Its folders of templates.
    folders: Vec<String>,
    /// Its version.
    version: i64,
    /// Folders that were there before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    kept: Vec<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let new = UnitPath::parse("path", &args.path)?;
    let code = new.code();
    if !cx.units.has_runtime(&new.ending) {
        return Err(catalogue::no_runtime(code.as_str()).into());
    }
    if unit::find(cx, &new.name)?.is_some() {
        return Err(catalogue::unit_exists(&new.name).into());
    }
    let mut answer = Answer {
        path: code.as_str().to_owned(),
        library: new.is_library(),
        folders: Vec::new(),
        version: 0,
        kept: Vec::new(),
    };
    let groups = if answer.library { Vec::new() } else { unit::groups(cx)? };
    for group in groups {
        let folder = new.folder(&group);
        let main = StorePath::made(format!("{folder}/main.htm"));
        if !cx.files.entries(&folder)?.is_empty() {
            answer.kept.push(folder.clone());
        }
        if !cx.has_file(&main)? {
            cx.save_file(&main, b"")?;
        }
        answer.folders.push(folder);
    }
    let manifest = cx.units.manifest(new.manifest().as_str(), "").unwrap_or_default();
    cx.save_file(&code, b"")?;
    answer.version = cx.save_file(&new.manifest(), unit::manifest_text(&manifest)?.as_bytes())?;
    Ok(answer)
}

fn present(_: &LocalContext, _: Args, mut answer: Answer) -> Result<Presented, Stop> {
    let kept = std::mem::take(&mut answer.kept);
    let text = (!kept.is_empty())
        .then(|| format!("Left over from before, and kept with what is in it: {}.", kept.join(", ")));
    Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
}
