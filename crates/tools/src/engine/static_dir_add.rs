//! `engine_static_dir_add`: a new folder of statics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::Stop;

use super::file_tree::Tree;
use crate::{EngineCx, Right};

crate::tool!("engine_static_dir_add", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [outside_store, config_closed, server_marker, tree_root, not_a_tree_folder, folder_path_exists, folder_not_found, plain_name],
    run: run);

/// Makes a folder of statics.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// templates/<group>/statics/…
    path: String,
}

/// The new folder.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path.
    path: String,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let path = Tree::Statics.add_folder(cx, &args.path)?;
    Ok(Answer { path: path.as_str().to_owned() })
}
