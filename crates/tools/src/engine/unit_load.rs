//! `engine_unit_load`: a unit's code with its manifest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wire::{Stop, catalogue};

use super::content;
use super::unit::{self, Unit};
use super::unit_path::UnitPath;
use crate::{EngineCx, LocalContext, Presented, Right, StorePath};

crate::tool!("engine_unit_load", right: Right::Command("AGENT_ENGINE_DEV_READ"), effect: Reads,
    refuses: [outside_store, config_closed, server_marker, not_a_unit_file, file_not_found],
    run: run, present: present);

/// Loads a unit: its manifest, and its code as text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// units/<name>.js
    path: String,
}

/// A unit; its code is the text.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Path of the code.
    path: String,
    /// The manifest, every key of it.
    manifest: Map<String, Value>,
    /// Its version: what a save names in `base`.
    version: i64,
    /// File with the code, where it is too long for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The code, on its way to the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    code: Option<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let path = StorePath::parse("path", &args.path)?;
    let unit = UnitPath::of_path(path.as_str())
        .ok_or_else(|| catalogue::not_a_unit_file(&wire::text::quoted(path.as_str(), 200)))?;
    let Some(Unit { code, manifest, version, .. }) = unit::load(cx, &unit)? else {
        return Err(catalogue::file_not_found(path.as_str()).into());
    };
    let code = Some(String::from_utf8_lossy(&code).into_owned());
    Ok(Answer { path: path.as_str().to_owned(), manifest, version, file: None, code })
}

fn present(local: &LocalContext, _: Args, mut answer: Answer) -> Result<Presented, Stop> {
    let code = answer.code.take().unwrap_or_default();
    let path = answer.path.clone();
    content::shown(local, serde_json::to_value(answer)?, &path, code)
}
