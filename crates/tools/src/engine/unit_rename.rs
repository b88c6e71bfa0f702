//! `engine_unit_rename`: another name for a unit, with everything that is its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wire::{Stop, catalogue};

use super::unit;
use super::unit_path::UnitPath;
use crate::{EngineCx, LocalContext, Presented, Right, StorePath};

crate::tool!("engine_unit_rename", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [outside_store, config_closed, server_marker, not_a_module_path, units_are_flat, templates_tree,
        unit_not_found, unit_exists, other_kind],
    run: run, present: present);

/// Renames a unit with its manifest and templates; a library also in the `includes` of others.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// units/<name>.js
    path: String,
    /// Of the same language and kind
    new_path: String,
}

/// The renamed unit.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Path before.
    path: String,
    /// Path now.
    new_path: String,
    /// Its version under the new path.
    version: i64,
    /// Code and templates that still say the old name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    mentions: Vec<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let old = UnitPath::parse("path", &args.path)?;
    let new = UnitPath::parse("new_path", &args.new_path)?;
    let (path, new_path) = (old.code(), new.code());
    if !cx.has_file(&path)? {
        return Err(catalogue::unit_not_found(&old.name).into());
    }
    if unit::find(cx, &new.name)?.is_some() {
        return Err(catalogue::unit_exists(&new.name).into());
    }
    if old.ending != new.ending || old.is_library() != new.is_library() {
        return Err(catalogue::other_kind(path.as_str(), new_path.as_str()).into());
    }
    for file in unit::folder_files(cx, &old)? {
        let moved =
            file.as_str().replacen(&format!("/units/{}/", old.name), &format!("/units/{}/", new.name), 1);
        cx.move_file(&file, &StorePath::made(moved))?;
    }
    let mut version = cx.move_file(&path, &new_path)?;
    if cx.has_file(&old.manifest())? {
        version = cx.move_file(&old.manifest(), &new.manifest())?;
    }
    follow_includes(cx, &old, &new)?;
    let mentions = unit::mentions(cx, &old)?;
    Ok(Answer { path: path.as_str().to_owned(), new_path: new_path.as_str().to_owned(), version, mentions })
}

/// Says the new name in the manifests that include the unit.
fn follow_includes(cx: &mut EngineCx<'_>, old: &UnitPath, new: &UnitPath) -> Result<(), Stop> {
    for other in unit::all(cx)? {
        let path = other.manifest();
        let Some(file) = cx.load_file(&path)? else { continue };
        // A manifest that cannot be read is left as it is.
        let Ok(mut manifest) = serde_json::from_slice::<Map<String, Value>>(&file.bytes) else { continue };
        let Some(Value::Array(includes)) = manifest.get_mut("includes") else { continue };
        let mut is_changed = false;
        for include in includes.iter_mut().filter(|include| include.as_str() == Some(&old.name)) {
            *include = new.name.clone().into();
            is_changed = true;
        }
        if is_changed {
            cx.save_file(&path, unit::manifest_text(&manifest)?.as_bytes())?;
        }
    }
    Ok(())
}

fn present(_: &LocalContext, args: Args, mut answer: Answer) -> Result<Presented, Stop> {
    let mentions = std::mem::take(&mut answer.mentions);
    let old = UnitPath::parse("path", &args.path)?;
    Ok(Presented {
        text: unit::still_named(&old.name, &mentions),
        ..Presented::data(serde_json::to_value(answer)?)
    })
}
