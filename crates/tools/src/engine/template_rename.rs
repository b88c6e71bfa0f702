//! `engine_template_rename`: another name for a group of templates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::Stop;

use super::file_tree::move_all;
use super::groups;
use crate::{EngineCx, Right};

crate::tool!("engine_template_rename", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [group_name, group_new_name, group_not_found, group_exists, default_group],
    run: run);

/// Renames a group of templates with what is in it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Its name
    template: String,
    /// Its name from now on
    new_template: String,
}

/// What has another name.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// The group's name before.
    template: String,
    /// Its name now.
    new_template: String,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let (path, new_path) = (groups::named(&args.template)?, groups::named_anew(&args.new_template)?);
    cx.hold_file(&path)?;
    cx.hold_file(&new_path)?;
    groups::refuse_missing(cx, &path)?;
    groups::refuse_default(cx, &path)?;
    groups::refuse_there(cx, &new_path)?;
    move_all(cx, &path, &new_path)?;
    Ok(Answer { template: args.template, new_template: args.new_template })
}
