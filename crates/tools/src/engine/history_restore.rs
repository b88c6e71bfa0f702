//! `engine_history_restore`: a file becomes what it was at a version.

use db::file_versions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use super::unit;
use super::unit_path::UnitPath;
use crate::{EngineCx, LocalContext, Presented, Right, StorePath};

crate::tool!("engine_history_restore", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [version_not_found, changed_since],
    run: run, present: present);

/// Saves a file as it was at a version; a removed one is made again.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// take it from engine_history_list
    id: i64,
    /// Version the file is thought to have now; refused if a newer one is there
    base: Option<i64>,
}

/// The restored file.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Number of the version whose body it has now.
    id: i64,
    /// The file.
    path: String,
    /// The new version.
    version: i64,
    /// What is wrong with the body, which was saved all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    fault: Option<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let unknown = || catalogue::version_not_found(args.id);
    let version = file_versions::find(cx.tx, args.id)?.ok_or_else(unknown)?;
    let path = StorePath::parse("path", &version.path).map_err(|_| unknown())?;
    let hash = version.hash.ok_or_else(unknown)?;
    cx.hold_file(&path)?;
    let now = cx.load_file(&path)?;
    // What a save of a unit calls its version may be its manifest's.
    let known = match UnitPath::of_path(path.as_str()) {
        Some(unit) => unit::load(cx, &unit)?.map(|unit| unit.version),
        None => None,
    };
    if let Some(file) = &now
        && args.base != known
    {
        cx.refuse_changed(&path, args.base, file.version, &file.bytes)?;
    }
    let body = cx.files.content(&hash)?;
    let fault = fault(cx, &path, &String::from_utf8_lossy(&body))?;
    let version = cx.save_file(&path, &body)?;
    Ok(Answer { id: args.id, path: path.as_str().to_owned(), version, fault })
}

/// What a check of syntax says of the body.
fn fault(cx: &EngineCx<'_>, path: &StorePath, body: &str) -> Result<Option<String>, Stop> {
    let name = path.as_str();
    let checked = match (name.starts_with("units/"), name.rsplit_once('.').map_or("", |(_, ending)| ending)) {
        (true, "js") => cx.units.code(name, body)?.map(|_| ()),
        (true, "json") => cx.units.manifest(name, body).map(|_| ()),
        (false, "htm") => cx.units.template(name, body),
        _ => Ok(()),
    };
    Ok(checked.err().map(|mistake| {
        let (line, column) = (mistake.line, mistake.column);
        format!("Warning! Syntax error: {name}:{line}:{column}: {}", wire::text::quoted(&mistake.text, 300))
    }))
}

fn present(_: &LocalContext, _: Args, mut answer: Answer) -> Result<Presented, Stop> {
    let text = answer.fault.take();
    Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
}
