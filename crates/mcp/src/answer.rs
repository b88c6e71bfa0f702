//! The only place that builds the result of a tool call.
//!
//! Done: data as JSON, then text; the data once more as structured content for
//! versions that know it. Not done: one text block and the error mark.
//! See spec: answers.md.

use rmcp::model::{CallToolResult, ContentBlock, Implementation, MetaObject};
use serde_json::Value;
use tools::Presented;
use wire::{Refusal, Stop, catalogue};

use crate::hosts::protocol::{Era, Host};
use crate::hosts::quirks;

/// The result of a call, for this host.
pub(crate) fn result(outcome: Result<Presented, Stop>, tool: &str, host: &Host) -> CallToolResult {
    let mut result = match outcome {
        Ok(shown) => done(shown, host),
        Err(Stop::Refused(refusal)) => refused(&refusal, tool),
        Err(Stop::Broke(fault)) => broke(&fault, tool),
    };
    if host.era >= Era::Stateless {
        result.meta = Some(server_mark());
    }
    result
}

/// What every 2026-07-28 answer should carry.
pub(crate) fn server_mark() -> MetaObject {
    let mut mark = serde_json::Map::new();
    if let Ok(about) = serde_json::to_value(about(Era::Stateless)) {
        mark.insert("io.modelcontextprotocol/serverInfo".to_owned(), about);
    }
    MetaObject(mark)
}

/// What this server says of itself.
pub(crate) fn about(era: Era) -> Implementation {
    let mut about = Implementation::new("shopwright", wire::BUILD);
    if era >= Era::Structured {
        about.title = Some("Shopwright".to_owned());
    }
    about
}

fn done(shown: Presented, host: &Host) -> CallToolResult {
    let mut result = CallToolResult::default();
    result.is_error = Some(shown.is_failed);
    let text = shown.text.filter(|text| !text.is_empty());
    if let Some(data) = shown.data {
        result.content.push(ContentBlock::text(data.to_string()));
        if host.era >= Era::Structured && data.is_object() {
            result.structured_content = Some(structured(data, text.as_deref(), host));
        }
    }
    result.content.extend(text.map(ContentBlock::text));
    result.content.extend(shown.picture.map(|picture| ContentBlock::image(picture.base64, picture.mime)));
    result
}

fn structured(mut data: Value, text: Option<&str>, host: &Host) -> Value {
    if let (Some(text), Some(object), true) = (text, data.as_object_mut(), quirks::may_lose_text(host)) {
        object.entry("text").or_insert_with(|| text.into());
    }
    data
}

fn refused(refusal: &Refusal, tool: &str) -> CallToolResult {
    tracing::info!(tool, refusal = refusal.name(), "Refused");
    error(refusal.text())
}

/// The cause in one line and a number; everything else is in the log under the number.
fn broke(fault: &wire::Fault, tool: &str) -> CallToolResult {
    let incident = incident();
    tracing::error!(tool, incident, cause = fault.chain(), "A call failed");
    let cause = wire::text::quoted(fault.chain(), 300);
    error(catalogue::internal(cause.trim_end_matches('.'), &incident).text())
}

fn error(text: String) -> CallToolResult {
    let mut result = CallToolResult::default();
    result.is_error = Some(true);
    result.content.push(ContentBlock::text(text));
    result
}

/// A number to find a failure by: eight hexadecimal digits.
fn incident() -> String {
    let mut bytes = [0_u8; 4];
    // Without randomness the number is 0; the log line still has its time.
    let _ = getrandom::fill(&mut bytes);
    format!("{:08x}", u32::from_be_bytes(bytes))
}
