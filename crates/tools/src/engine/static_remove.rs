//! `engine_static_remove`: a static file goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::Stop;

use super::file_tree::Tree;
use crate::{EngineCx, Right};

crate::tool!("engine_static_remove", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Destroys,
    refuses: [outside_store, config_closed, server_marker, not_a_static, file_not_found, not_bundled],
    run: run);

/// Removes a static file; its versions stay.
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
    let path = Tree::Statics.file("path", &args.path)?;
    let bundled = Tree::Statics.remove(cx, &path)?;
    Ok(Answer { path: path.as_str().to_owned(), bundled })
}
