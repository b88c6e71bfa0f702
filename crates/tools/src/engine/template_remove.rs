//! `engine_template_remove`: a group of templates goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::Stop;

use super::file_tree::remove_all;
use super::groups;
use crate::{EngineCx, Right};

crate::tool!("engine_template_remove", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Destroys,
    refuses: [group_name, group_not_found, default_group],
    run: run);

/// Removes a group of templates with what is in it; versions stay.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Its name
    template: String,
}

/// What is gone.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// The group that is gone.
    template: String,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let path = groups::named(&args.template)?;
    cx.hold_file(&path)?;
    groups::refuse_missing(cx, &path)?;
    groups::refuse_default(cx, &path)?;
    remove_all(cx, &path)?;
    Ok(Answer { template: args.template })
}
