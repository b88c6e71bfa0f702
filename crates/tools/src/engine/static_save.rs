//! `engine_static_save`: a static file's body, and the bundles it is in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::text::quoted;
use wire::{Stop, catalogue};

use super::bundles::{self, Bundled};
use super::content;
use super::file_tree::Tree;
use crate::{EngineCx, LocalContext, Right, StorePath};

crate::tool!("engine_static_save", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [not_both, no_such_file, not_utf8, outside_store, config_closed, server_marker, not_a_static,
        no_such_store_file, content_missing, changed_since, bundle_in_template, not_bundled],
    run: run, prepare: prepare);

/// Saves a static file's whole body as a new version, or its place in bundles, or both; builds the bundles.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// File
    path: String,
    /// Whole body
    content: Option<String>,
    /// Or a UTF-8 file with it
    content_source: Option<String>,
    /// {parameters: "main.css: 10, print.css: 2" (bundle: order), description}; both empty: in none
    #[serde(default)]
    #[schemars(schema_with = "object")]
    bundle: Option<Bundled>,
    /// Version it was made from; refused if a newer one is there
    base: Option<i64>,
}

/// Its fields are told in words: each would cost as much as a tool of its own.
fn object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": ["object", "null"]})
}

/// What travels: the content itself instead of its source.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bundle: Option<Bundled>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<i64>,
}

/// The saved file.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path.
    path: String,
    /// The new version.
    version: i64,
    /// Whether it is in bundles.
    bundle: bool,
    /// What looks wrong, in a line; empty where nothing does.
    warning: String,
}

fn prepare(local: &LocalContext, args: Args) -> Result<Sent, Stop> {
    let content = content::given(local, args.content, args.content_source)?;
    if content.is_none() && args.bundle.is_none() {
        return Err(catalogue::content_missing().into());
    }
    Ok(Sent { path: args.path, content, bundle: args.bundle, base: args.base })
}

fn run(cx: &mut EngineCx<'_>, sent: Sent) -> Result<Answer, Stop> {
    let path = StorePath::parse("path", &sent.path)?;
    if !Tree::Statics.has(&path) {
        return Err(catalogue::not_a_static(&quoted(path.as_str(), 200)).into());
    }
    cx.hold_file(&path)?;
    let Some(file) = cx.load_file(&path)? else {
        return Err(catalogue::no_such_store_file(path.as_str(), "engine_static_add").into());
    };
    cx.refuse_changed(&path, sent.base, file.version, &file.bytes)?;
    let (mut version, mut warning) = (file.version, String::new());
    if let Some(content) = &sent.content {
        version = cx.save_file(&path, content.as_bytes())?;
        if path.as_str().ends_with(".css") && !bundles::has_pairs(content) {
            "Warning! Brackets of the style do not come in pairs.".clone_into(&mut warning);
        }
    }
    match sent.bundle {
        Some(bundle) => bundles::set(cx, &path, bundle)?,
        None => drop(bundles::saved(cx, &path)?),
    }
    let bundle = bundles::of(cx, &path)?.is_some();
    Ok(Answer { path: path.as_str().to_owned(), version, bundle, warning })
}
