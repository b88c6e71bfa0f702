//! `engine_html_save`: a template's body.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use super::content;
use super::unit;
use super::unit_path::TemplatePath;
use crate::file_changes::syntax_error;
use crate::{EngineCx, LocalContext, Right, StorePath};

crate::tool!("engine_html_save", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [not_both, no_such_file, not_utf8, outside_store, config_closed, server_marker, not_a_template, no_such_store_file,
        content_missing, changed_since, syntax_error],
    run: run, prepare: prepare);

/// Saves a template's whole body as a new version, after a check of syntax.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// templates/<group>/units/<unit>/<name>.htm
    path: String,
    /// Whole body
    content: Option<String>,
    /// Or a UTF-8 file with it
    content_source: Option<String>,
    /// Version it was made from; refused if a newer one is there
    base: Option<i64>,
}

/// What travels: the content itself instead of its source.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    path: String,
    content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<i64>,
}

/// The saved template.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path.
    path: String,
    /// The new version.
    version: i64,
    /// What looks wrong, in a line; empty where nothing does.
    warning: String,
}

fn prepare(local: &LocalContext, args: Args) -> Result<Sent, Stop> {
    let content = content::given(local, args.content, args.content_source)?;
    let content = content.ok_or_else(catalogue::content_missing)?;
    Ok(Sent { path: args.path, content, base: args.base })
}

fn run(cx: &mut EngineCx<'_>, sent: Sent) -> Result<Answer, Stop> {
    let path = StorePath::parse("path", &sent.path)?;
    let Some(template) = TemplatePath::of(&path) else {
        return Err(catalogue::not_a_template(&wire::text::quoted(path.as_str(), 200)).into());
    };
    cx.hold_file(&path)?;
    let Some(file) = cx.load_file(&path)? else {
        return Err(catalogue::no_such_store_file(path.as_str(), "engine_html_add").into());
    };
    cx.refuse_changed(&path, sent.base, file.version, &file.bytes)?;
    cx.units
        .template(path.as_str(), &sent.content)
        .map_err(|mistake| syntax_error(path.as_str(), &mistake))?;
    let warning = if unit::find(cx, &template.unit)?.is_none() {
        format!("Warning! There is no unit {}.", template.unit)
    } else {
        String::new()
    };
    let version = cx.save_file(&path, sent.content.as_bytes())?;
    Ok(Answer { path: path.as_str().to_owned(), version, warning })
}
