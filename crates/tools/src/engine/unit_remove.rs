//! `engine_unit_remove`: a unit with its manifest and templates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use super::unit;
use super::unit_path::UnitPath;
use crate::{EngineCx, LocalContext, Presented, Right};

crate::tool!("engine_unit_remove", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Destroys,
    refuses: [outside_store, config_closed, server_marker, not_a_module_path, units_are_flat, templates_tree,
        unit_not_found],
    run: run, present: present);

/// Removes a unit with its manifest and templates; their versions stay.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// units/<name>.js
    path: String,
}

/// The removed unit.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Path of its code.
    path: String,
    /// Code and templates that still name it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    mentions: Vec<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let old = UnitPath::parse("path", &args.path)?;
    let path = old.code();
    if !cx.has_file(&path)? {
        return Err(catalogue::unit_not_found(&old.name).into());
    }
    let mentions = unit::mentions(cx, &old)?;
    for file in unit::folder_files(cx, &old)? {
        cx.remove_file(&file)?;
    }
    if cx.has_file(&old.manifest())? {
        cx.remove_file(&old.manifest())?;
    }
    cx.remove_file(&path)?;
    Ok(Answer { path: path.as_str().to_owned(), mentions })
}

fn present(_: &LocalContext, args: Args, mut answer: Answer) -> Result<Presented, Stop> {
    let mentions = std::mem::take(&mut answer.mentions);
    let old = UnitPath::parse("path", &args.path)?;
    Ok(Presented {
        text: unit::still_named(&old.name, &mentions),
        ..Presented::data(serde_json::to_value(answer)?)
    })
}
