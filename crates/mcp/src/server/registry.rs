//! Every tool of the server, in the one order of `tools/list`.

use std::sync::LazyLock;

use rmcp::model::Tool;
use serde_json::Value;
use tools::ToolSpec;
use wire::{Refusal, catalogue};

use crate::hosts::protocol::Era;
use crate::server::listed_tool::ListedTool;
use crate::session_tools::{clear, connect, init, rules_accept};

static SESSION: [ToolSpec; 4] =
    // What promises an output schema must return data; accepting rules answers with a sentence.
    [init::TOOL, connect::TOOL, ToolSpec { output: None, ..rules_accept::TOOL }, clear::TOOL];

/// Every tool: the session's own, then the store's.
pub fn all_tools() -> Vec<&'static ToolSpec> {
    SESSION.iter().chain(tools::ALL).collect()
}

static ENTRIES: LazyLock<Vec<ListedTool>> =
    LazyLock::new(|| all_tools().into_iter().map(ListedTool::new).collect());

/// All tools with their schemas.
pub(crate) fn entries() -> &'static [ListedTool] {
    &ENTRIES
}

/// The tool of this name, or a refusal with the nearest names.
pub(crate) fn find(name: &str) -> Result<&'static ListedTool, Refusal> {
    entries()
        .iter()
        .find(|entry| entry.spec.name == name)
        .ok_or_else(|| catalogue::unknown_tool(&wire::text::quoted(name, 80), &nearest(name)))
}

/// The name for logs: a foreign one may be megabytes long.
pub(crate) fn known(name: &str) -> &'static str {
    entries().iter().find(|entry| entry.spec.name == name).map_or("unknown", |entry| entry.spec.name)
}

/// `tools/list` of this protocol version, as the reference and the snapshots show it.
pub fn tools_list_json(protocol: &str) -> Value {
    let era = Era::of(protocol);
    let tools: Vec<Tool> = entries().iter().map(|entry| entry.listed(era)).collect();
    serde_json::to_value(tools).unwrap_or_default()
}

/// ` Nearest: …`, or nothing where no name is near.
fn nearest(name: &str) -> String {
    // A name of megabytes is near to nothing and would cost seconds to compare.
    if name.len() > 100 {
        return String::new();
    }
    let wanted = name.to_ascii_lowercase().replace(['-', '.', ' '], "_");
    let mut near: Vec<(usize, &str)> = entries()
        .iter()
        .map(|entry| (distance(&wanted, entry.spec.name), entry.spec.name))
        .filter(|(distance, tool)| *distance <= tool.len() / 2)
        .collect();
    near.sort_unstable();
    let names: Vec<String> = near.iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!(" Nearest: {}.", names.join(", ")) }
}

/// Edits between two names.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = index + 1;
        for column in 1..row.len() {
            let change = corner + usize::from(letter != other[column - 1]);
            corner = row[column];
            row[column] = change.min(row[column] + 1).min(row[column - 1] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
