//! `engine_static_dir_remove`: a folder of statics goes, with what is in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::Stop;

use super::file_tree::Tree;
use crate::{EngineCx, Right};

crate::tool!("engine_static_dir_remove", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Destroys,
    refuses: [outside_store, config_closed, server_marker, tree_root, not_a_tree_folder, no_tree_folder, not_bundled],
    run: run);

/// Removes a folder of statics with what is in it; versions stay.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Folder
    path: String,
}

/// What is gone.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path.
    path: String,
    /// How many files of bundles were in it.
    bundled: u64,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let (path, bundled) = Tree::Statics.remove_folder(cx, &args.path)?;
    Ok(Answer { path: path.as_str().to_owned(), bundled })
}
