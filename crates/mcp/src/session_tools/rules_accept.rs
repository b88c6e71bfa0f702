//! `session_rules_accept`: accepts the rules that a refusal showed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tools::{Right, Shown, tool};
use wire::{Stop, catalogue};

use crate::core::Core;
use crate::session::Session;
use crate::{gate, registry, rules};

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
pub(crate) fn run(core: &Core, session: &Session, args: Args) -> Result<Shown, Stop> {
    let covering = registry::entries()
        .iter()
        .find(|entry| entry.spec.name == args.tool)
        .and_then(|entry| gate::covering(&core.options.home, session, entry.spec.name));
    let Some(rules) = covering else {
        return Err(catalogue::no_rules(&wire::text::quoted(&args.tool, 80)).into());
    };
    if !args.code.trim().eq_ignore_ascii_case(&rules::code(&session.secret, &rules)) {
        return Err(gate::rules_required(session, &args.tool, &rules).into());
    }
    session.accept(&rules.file);
    let text = format!("accepted: {} - repeat the refused call.", rules.file);
    Ok(Shown { text: Some(text), ..Shown::default() })
}
