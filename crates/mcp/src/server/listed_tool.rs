//! One tool as `tools/list` shows it, with its schemas made once.

use std::sync::Arc;

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use tools::{Effect, ToolSpec};

use crate::hosts::protocol::Era;
use crate::hosts::quirks;

/// A tool with its schemas, made once.
pub(crate) struct ListedTool {
    /// What it declares.
    pub(crate) spec: &'static ToolSpec,
    /// Schema of its arguments, without the tool's own text.
    pub(crate) input: Value,
    /// As the newest version's list shows it.
    listed: Tool,
}

impl ListedTool {
    pub(crate) fn new(spec: &'static ToolSpec) -> Self {
        let input = spec.listed_input();
        let mut listed = object(input.clone());
        // The gate says what is unknown and lists what is known; the list says it in fewer bytes.
        listed.remove("additionalProperties");
        let mut listed = Tool::new(spec.name, spec.description(), Arc::new(listed));
        listed.annotations = Some(annotations(spec.effect));
        listed.title = Some(title(spec.name));
        listed.output_schema = spec.output.map(|schema| Arc::new(promised(&schema())));
        listed.meta = Some(quirks::meta(spec.name)).filter(|meta| !meta.is_empty()).map(MetaObject);
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

/// Hints for hosts, those that differ from what the protocol assumes. Every tool works in one store.
fn annotations(effect: Effect) -> ToolAnnotations {
    let hints = ToolAnnotations::new().read_only(effect == Effect::Reads).open_world(false);
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
