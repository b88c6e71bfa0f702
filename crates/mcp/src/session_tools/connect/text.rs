//! The text of `session_connect`: what this case calls for, then the rules of the session.
//!
//! Every token of it is read in every session, so a test holds it under 900.

use wire::SignedIn;

/// Conversation folders over this many bytes are worth tidying.
const GIGABYTE: u64 = 1_000_000_000;

/// Rules of the session.
const RULES: &str = include_str!("../../../rules/session.md");

/// The whole text.
pub(super) fn text(signed_in: &SignedIn, cache: u64) -> String {
    let mut parts = cases(signed_in, cache);
    parts.push(RULES.trim().to_owned());
    parts.join("\n\n")
}

/// Only what this very case calls for.
fn cases(signed_in: &SignedIn, cache: u64) -> Vec<String> {
    let granted_at = |commands: &[&str]| {
        let row = signed_in.rights.closed.iter().find(|row| commands.contains(&row.command.as_str()));
        row.map_or("users and rights", |row| row.path.as_str()).to_owned()
    };
    let mut cases = Vec::new();
    if signed_in.demo {
        cases.push(
            "DEMO MODE: this store asks for no password, and everyone who signs in is an administrator. Tell the person so before anything else: it must not be left like this. The server's owner sets an administrator's password and removes `admin.here` from the store's root."
                .to_owned(),
        );
    }
    if cache > GIGABYTE {
        cases.push(format!(
            "The conversation folders take {:.1} GB. Show the person the list of `session_clear` and remove what they no longer need.",
            cache as f64 / 1e9
        ));
    }
    if signed_in.memory.is_none() {
        cases.push(format!(
            "The store's memory is closed to this person; the right is at: {}.",
            granted_at(&["AGENT_MEMORY_LIST", "AGENT_MEMORY_LOAD"])
        ));
    }
    match signed_in.tools {
        None => cases.push(format!(
            "The list of the store's AI tools is closed to this person; the right is at: {}.",
            granted_at(&["AGENT_TOOL_LIST"])
        )),
        Some(0) => cases.push(format!(
            "The store has no AI tools yet. They are made at: {}.",
            signed_in.rights.components_path
        )),
        Some(_) => {}
    }
    cases
}

#[cfg(test)]
mod tests;
