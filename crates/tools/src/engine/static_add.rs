//! `engine_static_add`: a new static file, empty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use super::file_tree::{Tree, is_plain};
use crate::{EngineCx, Right};

crate::tool!("engine_static_add", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [outside_store, config_closed, server_marker, not_a_static, file_exists, folder_not_found],
    run: run);

/// Makes an empty static file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// templates/<group>/statics/…, beside templates, or a public text at the root
    path: String,
}

/// The new file.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path.
    path: String,
    /// Its version.
    version: i64,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let path = Tree::Statics.file("path", &args.path)?;
    if !is_plain(path.file_name()) {
        return Err(catalogue::not_a_static(&wire::text::quoted(path.as_str(), 200)).into());
    }
    cx.hold_file(&path)?;
    if cx.has_file(&path)? || cx.files.has_folder(cx.tx, &path)? {
        return Err(catalogue::file_exists(path.file_name()).into());
    }
    Tree::Statics.refuse_no_folder(cx, &path)?;
    let version = cx.save_file(&path, b"")?;
    Ok(Answer { path: path.as_str().to_owned(), version })
}
