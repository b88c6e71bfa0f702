//! `engine_dev_config`: the settings of the store, without what is secret in them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::Stop;

use crate::{EngineCx, Right};

crate::tool!("engine_dev_config", right: Right::Command("AGENT_ENGINE_DEV_CONFIG"), effect: Reads,
    refuses: [], run: run);

/// Tells the settings of config.json, secrets as `<hidden>`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Read anew; every call does
    #[serde(rename = "reload")]
    _reload: Option<bool>,
}

/// The settings.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Settings by key, as they are in force.
    config: Value,
    /// The caller's address as the server sees it: what `ip_list` is compared with.
    address: String,
    /// Whether the store runs in demo mode.
    demo: bool,
}

fn run(cx: &mut EngineCx<'_>, _: Args) -> Result<Answer, Stop> {
    Ok(Answer { config: cx.server.config(), address: cx.server.address(), demo: cx.caller.is_demo })
}
