//! What stands between a call and its request, in the one order there is.
//!
//! Unknown tool → not connected → store switched → right → critical notes →
//! rules → arguments → licence → the request. See spec: answers.md. The licence
//! is looked for where the request is made, since a token is part of it.

use std::sync::Arc;

use home::Home;
use serde_json::{Map, Value};
use tools::ToolSpec;
use wire::{Refusal, catalogue};

use rules::{Marks, Rules};

use crate::hosts::quirks;
use crate::server::listed_tool::ListedTool;
use crate::session::open_session::Session;
use crate::session::store_choice;

pub(crate) mod rules;

/// Tools by which critical notes are read.
const READERS: &[&str] = &["memory_list", "memory_load"];

/// Longest path in the tree of operations that is shown: it is the engine's word.
const LONGEST_PATH: usize = 500;

/// The arguments of a call, as the host sent them.
#[derive(Debug)]
pub(crate) enum Arguments {
    /// An object of named parameters.
    Named(Map<String, Value>),
    /// Something else, in words.
    Odd(String),
}

/// The open session, or the refusal that there is none.
pub(crate) fn connected(session: Option<Arc<Session>>) -> Result<Arc<Session>, Refusal> {
    session.ok_or_else(catalogue::not_connected)
}

/// Everything between the session and the arguments.
pub(crate) fn pass(home: &Home, session: &Session, spec: &ToolSpec) -> Result<(), Refusal> {
    same_store(home, session)?;
    granted(session, spec)?;
    notes_read(session, spec)?;
    rules_accepted(home, session, spec)
}

/// The arguments, checked against the tool's schema.
pub(crate) fn arguments(entry: &ListedTool, arguments: Arguments) -> Result<Map<String, Value>, Refusal> {
    match arguments {
        Arguments::Named(mut named) => {
            quirks::drop_added(&mut named, &entry.input);
            tools::check_arguments(&entry.input, named)
        }
        Arguments::Odd(words) => Err(catalogue::arguments_not_object(&words)),
    }
}

/// A pinned server keeps its store whatever the program does.
fn same_store(home: &Home, session: &Session) -> Result<(), Refusal> {
    if session.store.pinned {
        return Ok(());
    }
    match home::program_store(home) {
        Some(open) if !home::same_folder(&open, &session.store.folder) => {
            // The list may be unreadable right now; the folder still says which store it is.
            let known = store_choice::stores(home).ok().and_then(|list| list.find(&open).cloned());
            let program = match known {
                Some(store) => format!("{}, {}", store.name, store.folder.display()),
                None => open.display().to_string(),
            };
            Err(catalogue::store_switched(&session.store.in_words(), &program))
        }
        _ => Ok(()),
    }
}

fn granted(session: &Session, spec: &ToolSpec) -> Result<(), Refusal> {
    match spec.command() {
        Some(command) if !session.may(spec) => {
            let path = session.closed.get(command).map_or("users and rights", String::as_str);
            Err(catalogue::access_denied(command, &wire::text::quoted(path, LONGEST_PATH)))
        }
        _ => Ok(()),
    }
}

/// Whether the person may read the debugger's code.
pub(crate) fn debug_granted(session: &Session, spec: &ToolSpec) -> Result<(), Refusal> {
    match spec.command() {
        Some(command) if !session.may(spec) => {
            let path = session.closed.get(command).map_or("users and rights", String::as_str);
            Err(catalogue::debug_denied(&wire::text::quoted(path, LONGEST_PATH)))
        }
        _ => Ok(()),
    }
}

fn notes_read(session: &Session, spec: &ToolSpec) -> Result<(), Refusal> {
    if READERS.contains(&spec.name) {
        return Ok(());
    }
    // Whoever may not load notes could never get past this.
    let can_read = tools::find("memory_load").is_some_and(|load| session.may(load));
    let unread = if can_read { session.unread() } else { Vec::new() };
    if unread.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = unread.iter().map(i64::to_string).collect();
    Err(catalogue::notes_unread(unread.len(), &ids.join(", ")))
}

fn rules_accepted(home: &Home, session: &Session, spec: &ToolSpec) -> Result<(), Refusal> {
    match covering(home, session, spec.name) {
        Some(rules) if !session.has_accepted(&rules.file) => Err(rules_required(session, spec.name, &rules)),
        _ => Ok(()),
    }
}

/// The rules that cover a tool, as this session reads them.
pub(crate) fn covering(home: &Home, session: &Session, tool: &str) -> Option<Rules> {
    let marks = Marks { store: &session.store.folder, agent: &session.origin.application };
    rules::covering(home, tool, &marks)
}

/// The refusal that shows the rules and the code that accepts them.
pub(crate) fn rules_required(session: &Session, tool: &str, rules: &Rules) -> Refusal {
    let code = rules::code(&session.secret, rules);
    catalogue::rules_required(tool, &code, rules.text.trim())
}
