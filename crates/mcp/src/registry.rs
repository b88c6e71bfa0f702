//! Every tool of the server, in the one order of `tools/list`.

use std::sync::{Arc, LazyLock};

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use tools::{Effect, ToolSpec};
use wire::{Refusal, catalogue};

use crate::protocol::Era;
use crate::quirks;
use crate::session_tools::{clear, connect, init, rules_accept};

static SESSION: [ToolSpec; 4] =
    // What promises an output schema must return data; accepting rules answers with a sentence.
    [init::TOOL, connect::TOOL, ToolSpec { output: None, ..rules_accept::TOOL }, clear::TOOL];

/// Every tool: the session's own, then the store's.
pub fn all_tools() -> Vec<&'static ToolSpec> {
    SESSION.iter().chain(tools::ALL).collect()
}

/// A tool with its schemas, made once.
pub(crate) struct Entry {
    /// What it declares.
    pub(crate) spec: &'static ToolSpec,
    /// Schema of its arguments, without the tool's own text.
    pub(crate) input: Value,
    /// As the newest version's list shows it.
    listed: Tool,
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| all_tools().into_iter().map(Entry::new).collect());

/// All tools with their schemas.
pub(crate) fn entries() -> &'static [Entry] {
    &ENTRIES
}

/// The tool of this name, or a refusal with the nearest names.
pub(crate) fn find(name: &str) -> Result<&'static Entry, Refusal> {
    entries()
        .iter()
        .find(|entry| entry.spec.name == name)
        .ok_or_else(|| catalogue::unknown_tool(&wire::text::quoted(name, 80), &nearest(name)))
}

/// The name for logs: a foreign one may be megabytes long.
pub(crate) fn known(name: &str) -> &'static str {
    entries().iter().find(|entry| entry.spec.name == name).map_or("unknown", |entry| entry.spec.name)
}

impl Entry {
    fn new(spec: &'static ToolSpec) -> Self {
        let input = spec.listed_input();
        let mut listed = object(input.clone());
        // The gate says what is unknown and lists what is known; the list says it in fewer bytes.
        listed.remove("additionalProperties");
        let mut listed = Tool::new(spec.name, spec.description(), Arc::new(listed));
        listed.annotations = Some(annotations(spec.effect));
        listed.title = Some(title(spec.name));
        listed.output_schema = spec.output.map(|schema| Arc::new(promised(&schema())));
        let cap = quirks::result_cap(spec.name);
        listed.meta = cap.map(|cap| MetaObject(object(json!({"anthropic/maxResultSizeChars": cap}))));
        Self { spec, input, listed }
    }

    /// The tool as this era's list shows it.
    pub(crate) fn listed(&self, era: Era) -> Tool {
        let mut tool = self.listed.clone();
        if era < Era::Structured {
            tool.title = None;
            tool.output_schema = None;
            tool.meta = None;
        }
        if era < Era::Annotations {
            tool.annotations = None;
        }
        tool
    }
}

/// `tools/list` of this protocol version, as the reference and the snapshots show it.
pub fn tools_list_json(protocol: &str) -> Value {
    let era = Era::of(protocol);
    let tools: Vec<Tool> = entries().iter().map(|entry| entry.listed(era)).collect();
    serde_json::to_value(tools).unwrap_or_default()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// What a data block always holds. Names are enough: what is in them is seen in the answer itself,
/// while every byte of the list is read in every session.
fn promised(schema: &Value) -> Map<String, Value> {
    let mut promise = object(json!({"type": "object"}));
    if let Some(names) = schema.get("required") {
        promise.insert("required".to_owned(), names.clone());
    }
    promise
}

/// Hints for hosts, those that differ from what the protocol assumes.
fn annotations(effect: Effect) -> ToolAnnotations {
    let hints = ToolAnnotations::new().read_only(effect == Effect::Reads);
    match effect {
        Effect::Reads => hints,
        Effect::Writes => hints.destructive(false),
        // What is gone cannot go once more.
        Effect::Destroys => hints.destructive(true).idempotent(true),
    }
}

/// `memory_list` for people: `Memory: list`.
fn title(name: &str) -> String {
    let (family, rest) = name.split_once('_').unwrap_or((name, ""));
    let mut letters = family.chars();
    let family: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    if rest.is_empty() { family } else { format!("{family}: {}", rest.replace('_', " ")) }
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
