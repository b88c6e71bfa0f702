//! Commands of the MCP server itself: they are no tools, and no list shows them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use crate::{EngineCx, Right, ToolSpec};

/// Commands that the MCP server sends beside those of tools.
pub static UNLISTED: &[ToolSpec] = &[TOOL];

crate::tool!("debug_code", right: Right::Command("AGENT_ENGINE_DEV_CONFIG"), effect: Reads,
    refuses: [debugger_without_code], run: run);

/// Tells the MCP server the debugger's code, which no answer ever shows.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {}

/// The debugger's code.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// What the header of a debugged visit carries.
    code: String,
}

fn run(cx: &mut EngineCx<'_>, _: Args) -> Result<Answer, Stop> {
    match cx.debug_code.trim() {
        "" => Err(catalogue::debugger_without_code().into()),
        code => Ok(Answer { code: code.to_owned() }),
    }
}
