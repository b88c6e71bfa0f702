//! The steps of a pool, checked as a whole before the first is done.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::text::quoted;
use wire::{Refusal, catalogue};

use super::call::Asked;
use crate::pool;

/// A step as the agent writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) unit: String,
    pub(super) command: String,
    pub(super) params: Option<Value>,
    pub(super) params_source: Option<String>,
    pub(super) debug: Option<bool>,
    pub(super) into: Option<String>,
}

/// A step as it travels.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    /// By which later steps name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    /// The job that its rows join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) into: Option<String>,
    /// What it calls.
    pub(super) asked: Asked,
}

/// The steps, or what is wrong with the first wrong one.
pub(super) fn checked(steps: Vec<Value>) -> Result<Vec<Draft>, Refusal> {
    pool::few(steps.len())?;
    let mut names = HashSet::new();
    let mut drafts = Vec::new();
    for (at, step) in steps.into_iter().enumerate() {
        let draft = draft(at + 1, step)?;
        if let Some(name) = &draft.name {
            if name.contains('.') {
                return Err(catalogue::step_name_with_dot(at + 1));
            }
            if !names.insert(name.to_lowercase()) {
                return Err(catalogue::step_named_twice(&quoted(name, 80)));
            }
        }
        drafts.push(draft);
    }
    Ok(drafts)
}

fn draft(number: usize, step: Value) -> Result<Draft, Refusal> {
    let Value::Object(fields) = &step else { return Err(catalogue::step_not_object(number)) };
    if fields.contains_key("files") || fields.contains_key("files_source") {
        return Err(catalogue::step_with_files(number));
    }
    let is_named =
        |key: &str| fields.get(key).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    if !is_named("unit") || !is_named("command") {
        return Err(catalogue::step_incomplete(number));
    }
    serde_json::from_value(step).map_err(|error| {
        let known = "A step has `name`, `unit`, `command`, `params`, `params_source`, `into`, `debug`.";
        let what = format!("step {number}: {}", quoted(&error.to_string(), 120));
        catalogue::unknown_parameter(&what, known)
    })
}
