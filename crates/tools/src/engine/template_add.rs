//! `engine_template_add`: a new group of templates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::Stop;

use super::groups;
use crate::{EngineCx, Right, StorePath};

crate::tool!("engine_template_add", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [group_name, group_exists],
    run: run);

/// Makes a group of templates with its folders.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Its name
    template: String,
}

/// The new group.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// The group.
    template: String,
    /// Its folder.
    path: String,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let path = groups::named(&args.template)?;
    cx.hold_file(&path)?;
    groups::refuse_there(cx, &path)?;
    for folder in ["bundles", "images", "statics", "units"] {
        let folder = StorePath::made(format!("{}/{folder}", path.as_str()));
        cx.save_file(&folder.folder_mark(), b"")?;
    }
    Ok(Answer { template: args.template, path: path.as_str().to_owned() })
}
