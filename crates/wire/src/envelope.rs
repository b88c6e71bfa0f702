//! The engine's envelope around every answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Refusal;

/// What the engine answers, always with HTTP 200. See spec: wire.md.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Envelope {
    /// Whether the command was carried out.
    pub ok: bool,
    /// Milliseconds the engine spent.
    #[serde(default)]
    pub ms: u64,
    /// The command's answer, where `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// What is wrong, where not `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Name of the catalogue's row that `error` comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

impl Envelope {
    /// A done command.
    pub fn done(data: Value, ms: u64) -> Self {
        Self { ok: true, ms, data: Some(data), error: None, refusal: None }
    }

    /// A refused command.
    pub fn refused(refusal: &Refusal, ms: u64) -> Self {
        Self {
            ok: false,
            ms,
            data: None,
            error: Some(refusal.head().to_owned()),
            refusal: Some(refusal.name().to_owned()),
        }
    }
}
