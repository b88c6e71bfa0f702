//! `engine_html_add`: a new template, empty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use super::unit;
use super::unit_path::TemplatePath;
use crate::{EngineCx, Right};

crate::tool!("engine_html_add", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [outside_store, config_closed, server_marker, template_path, unit_not_found, group_not_found,
        template_exists],
    run: run);

/// Makes an empty template of a unit.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// templates/<group>/units/<unit>/<name>.htm
    path: String,
}

/// The new template.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path.
    path: String,
    /// Its version.
    version: i64,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let new = TemplatePath::parse(&args.path)?;
    if unit::find(cx, &new.unit)?.is_none() {
        return Err(catalogue::unit_not_found(&new.unit).into());
    }
    if !unit::groups(cx)?.contains(&new.group) {
        return Err(catalogue::group_not_found(&new.group).into());
    }
    let path = new.path();
    if cx.has_file(&path)? {
        return Err(catalogue::template_exists(&new.name).into());
    }
    let version = cx.save_file(&path, b"")?;
    Ok(Answer { path: path.as_str().to_owned(), version })
}
