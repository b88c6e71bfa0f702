//! `engine_html_remove`: a template goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use super::unit_path::TemplatePath;
use crate::{EngineCx, Right};

crate::tool!("engine_html_remove", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Destroys,
    refuses: [outside_store, config_closed, server_marker, template_path, template_not_found],
    run: run);

/// Removes a template; its versions stay.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// templates/<group>/units/<unit>/<name>.htm
    path: String,
}

/// The removed template.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path.
    path: String,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let old = TemplatePath::parse(&args.path)?;
    let path = old.path();
    if !cx.has_file(&path)? {
        return Err(catalogue::template_not_found(&old.name).into());
    }
    cx.remove_file(&path)?;
    Ok(Answer { path: path.as_str().to_owned() })
}
