//! `engine_html_load`: a template.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use super::content;
use super::unit_path::TemplatePath;
use crate::{EngineCx, LocalContext, Presented, Right, StorePath};

crate::tool!("engine_html_load", right: Right::Command("AGENT_ENGINE_DEV_READ"), effect: Reads,
    refuses: [outside_store, config_closed, server_marker, not_a_template, file_not_found],
    run: run, present: present);

/// Loads a template as text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// templates/<group>/units/<unit>/<name>.htm
    path: String,
}

/// A template; its body is the text.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path.
    path: String,
    /// Its version: what a save names in `base`.
    version: i64,
    /// File with the body, where it is too long for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The body, on its way to the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    body: Option<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let path = StorePath::parse("path", &args.path)?;
    if TemplatePath::of(&path).is_none() {
        return Err(catalogue::not_a_template(&wire::text::quoted(path.as_str(), 200)).into());
    }
    let file = cx.loaded_file(&path)?;
    let body = Some(String::from_utf8_lossy(&file.bytes).into_owned());
    Ok(Answer { path: path.as_str().to_owned(), version: file.version, file: None, body })
}

fn present(local: &LocalContext, _: Args, mut answer: Answer) -> Result<Presented, Stop> {
    let body = answer.body.take().unwrap_or_default();
    let path = answer.path.clone();
    content::shown(local, serde_json::to_value(answer)?, &path, body)
}
