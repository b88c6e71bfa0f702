//! `engine_image_dir_rename`: another name or place for a folder of images.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::Stop;

use super::file_tree::Tree;
use crate::{EngineCx, Right};

crate::tool!("engine_image_dir_rename", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [outside_store, config_closed, server_marker, tree_root, not_a_tree_folder, no_tree_folder, one_act, inside_itself, no_such_folder, folder_exists, same_path, new_plain_name],
    run: run);

/// Renames or moves a folder of images with what is in it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Folder
    path: String,
    /// Other name, or other folder around it
    new_path: String,
}

/// What has another path.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Path before.
    path: String,
    /// Path now.
    new_path: String,
    /// How many files of bundles were in it.
    bundled: u64,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let renamed = Tree::Images.rename_folder(cx, &args.path, &args.new_path)?;
    Ok(Answer { path: args.path, new_path: args.new_path, bundled: renamed.bundled })
}
