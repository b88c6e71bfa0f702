//! `engine_html_rename`: another name for a template, in the folder of its unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use super::unit_path::TemplatePath;
use crate::{EngineCx, Right};

crate::tool!("engine_html_rename", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [outside_store, config_closed, server_marker, template_path, template_new_path, template_moves,
        template_not_found, template_exists],
    run: run);

/// Renames a template inside its unit's folder.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// templates/<group>/units/<unit>/<name>.htm
    path: String,
    /// In the same folder
    new_path: String,
}

/// The renamed template.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Path before.
    path: String,
    /// Path now.
    new_path: String,
    /// Its version under the new path.
    version: i64,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let old = TemplatePath::parse(&args.path)?;
    let new = TemplatePath::parse_new(&args.new_path)?;
    if (&old.group, &old.unit) != (&new.group, &new.unit) {
        return Err(catalogue::template_moves().into());
    }
    let (path, new_path) = (old.path(), new.path());
    if !cx.has_file(&path)? {
        return Err(catalogue::template_not_found(&old.name).into());
    }
    if cx.has_file(&new_path)? {
        return Err(catalogue::template_exists(&new.name).into());
    }
    let version = cx.move_file(&path, &new_path)?;
    Ok(Answer { path: path.as_str().to_owned(), new_path: new_path.as_str().to_owned(), version })
}
