//! `engine_static_rename`: another name or another folder for a static file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::Stop;

use super::file_tree::Tree;
use crate::{EngineCx, Right};

crate::tool!("engine_static_rename", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [outside_store, config_closed, server_marker, not_a_static, file_not_found, file_exists, one_act, no_such_folder, same_path, new_plain_name, not_bundled],
    run: run);

/// Renames or moves a static file; links to it are not rewritten.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// File
    path: String,
    /// Other name, or other folder of statics or images
    new_path: String,
}

/// What has another path.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Path before.
    path: String,
    /// Path now.
    new_path: String,
    /// How many files of bundles it was.
    bundled: u64,
    /// Its version under the new path.
    version: i64,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let renamed = Tree::Statics.rename(cx, &args.path, &args.new_path)?;
    let (path, new_path) = (args.path, args.new_path);
    Ok(Answer { path, new_path, bundled: renamed.bundled, version: renamed.version })
}
