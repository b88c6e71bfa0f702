//! `engine_image_remove`: a picture goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::Stop;

use super::file_tree::Tree;
use crate::{EngineCx, Right};

crate::tool!("engine_image_remove", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Destroys,
    refuses: [outside_store, config_closed, server_marker, not_an_image, no_image, a_folder],
    run: run);

/// Removes a picture; its versions stay.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// File
    path: String,
}

/// What is gone.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path.
    path: String,
    /// How many files of bundles it was.
    bundled: u64,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let path = Tree::Images.file("path", &args.path)?;
    let bundled = Tree::Images.remove(cx, &path)?;
    Ok(Answer { path: path.as_str().to_owned(), bundled })
}
