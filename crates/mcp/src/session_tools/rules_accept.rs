//! `session_rules_accept`: accepts the rules that a refusal showed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tools::{Presented, Right, tool};
use wire::{Stop, catalogue};

use crate::gate::{self, rules};
use crate::server::state::ServerState;
use crate::session::open_session::Session;

tool!("session_rules_accept", right: Right::Free, effect: Reads, refuses: [rules_required, no_rules]);

/// Accepts the rules that `RULES_REQUIRED:` showed, for all tools they cover. Read them first, then repeat the refused call.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The refused tool.
    pub tool: String,
    /// The code out of the refusal.
    pub code: String,
}

/// Nothing: the answer is a sentence.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Answer {}

/// Compares the code with the one of this session and of the text as it stands now.
pub(crate) fn run(state: &ServerState, session: &Session, args: Args) -> Result<Presented, Stop> {
    // A rule is found by the tool's name alone, so that it can be accepted before a build has the tool.
    let covering = is_tool_name(&args.tool).then(|| gate::covering(&state.options.home, session, &args.tool));
    let Some(rules) = covering.flatten() else {
        return Err(catalogue::no_rules(&wire::text::quoted(&args.tool, 80)).into());
    };
    if !args.code.trim().eq_ignore_ascii_case(&rules::code(&session.secret, &rules)) {
        return Err(gate::rules_required(session, &args.tool, &rules).into());
    }
    session.accept(&rules.file);
    let text = format!("accepted: {} - repeat the refused call.", rules.file);
    Ok(Presented { text: Some(text), ..Presented::default() })
}

/// Whether a word can be a tool's name: names of files are made of it.
fn is_tool_name(word: &str) -> bool {
    (1..=64).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}
