//! `shop_agent`: runs the agent's own unit on the storefront.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wire::text::quoted;
use wire::{Refusal, Stop, catalogue};

use crate::site::{SiteAnswer, SiteRequest, SiteVisitor, form_fields};
use crate::{LocalContext, Presented, Right};

/// How names of the agent's units begin.
const BEGINNING: &str = "agent_";
/// Bytes of an answer that are shown.
const SHOWN: usize = 8_000;
/// Characters of a failed unit's words that are shown.
const FAILED: usize = 1_500;
/// Lines of the log that are shown.
const LINES: usize = 30;
/// Reasons of a failed unit that are rows of the catalogue.
const REASONS: [&str; 5] =
    ["unit_not_found", "module_not_found", "function_not_found", "module_exception", "syntax_error"];

crate::tool!("shop_agent", right: Right::Free, effect: Writes,
    refuses: [agent_units_only, field_not_flat, no_module, no_entry_point, ticket_unfit, no_unit_endpoint,
        module_not_found, function_not_found, module_exception, unit_not_found, agent_unit_failed],
    ask: ask, show: show);

/// Runs the agent's own unit on the storefront and shows what it answers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The unit; its name begins with agent_
    r#mod: String,
    /// Values or flat lists: the unit's `post`
    params: Option<Map<String, Value>>,
}

/// What the unit answered; its text is the text.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// The unit.
    r#mod: String,
    /// HTTP status.
    status: u16,
    /// Size of the answer.
    bytes: usize,
    /// Milliseconds it took.
    time: u64,
    /// File with the whole answer.
    file: String,
    /// Whether the text is only its beginning.
    cut: bool,
}

fn ask(_: &LocalContext, args: Args) -> Result<SiteRequest, Stop> {
    let unit = args.r#mod;
    if unit.trim().is_empty() {
        return Err(catalogue::missing_parameter("mod", "The unit; its name begins with agent_.").into());
    }
    if !is_agents(&unit) {
        return Err(catalogue::agent_units_only(&quoted(&unit, 80)).into());
    }
    let params = args.params.unwrap_or_default();
    let form = form_fields("params", "a value", &params)?;
    Ok(SiteRequest {
        url: format!("/core/unit/{unit}"),
        form: Some(form),
        visitor: SiteVisitor::Agent,
        is_debugged: false,
    })
}

/// Whether a name can be one of the agent's units; it becomes part of an address and of a file's name.
fn is_agents(unit: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    unit.len() <= 64
        && unit.strip_prefix(BEGINNING).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(is_plain))
}

fn show(local: &LocalContext, args: Args, answer: SiteAnswer) -> Result<Presented, Stop> {
    let unit = args.r#mod;
    let body = String::from_utf8_lossy(&answer.body).into_owned();
    if let Some(refusal) = turned_away(&unit, &answer, &body) {
        return Err(refusal.into());
    }
    let file = local.write(local.conversation.join("runs"), &format!("{unit}.txt"), &answer.body)?;
    let file = file.to_string_lossy().into_owned();
    if answer.status != 200 {
        return Err(failed(&unit, &answer, &body, &file).into());
    }
    let shown = beginning(&body, SHOWN);
    let cut = shown.len() < body.len();
    let text = (!shown.is_empty()).then(|| shown.to_owned());
    let data =
        Answer { r#mod: unit, status: answer.status, bytes: answer.body.len(), time: answer.took, file, cut };
    Ok(Presented { text, ..Presented::data(serde_json::to_value(data)?) })
}

/// What the storefront says before any unit runs.
fn turned_away(unit: &str, answer: &SiteAnswer, body: &str) -> Option<Refusal> {
    match answer.status {
        404 if body.starts_with("NO_MODULE:") => Some(catalogue::no_module(unit)),
        403 if body.starts_with("NO_ENTRY_POINT:") => Some(catalogue::no_entry_point(unit)),
        403 if body.starts_with("ACCESS_DENIED") => Some(catalogue::ticket_unfit()),
        404 => Some(catalogue::no_unit_endpoint(&quoted(&answer.url, 300))),
        _ => None,
    }
}

/// A failed unit: its own words first, then where the rest is.
fn failed(unit: &str, answer: &SiteAnswer, body: &str, file: &str) -> Refusal {
    let words = cleaned(body.trim());
    let row = catalogue::row_of(&words).filter(|row| REASONS.contains(&row.name));
    let log: Vec<String> = answer.log.iter().take(LINES).map(|line| cleaned(line)).collect();
    let log = if log.is_empty() { "nothing".to_owned() } else { log.join("\n  ") };
    let ended = format!("`{unit}` ended with status {}; its whole answer is in `{file}`.", answer.status);
    match row {
        Some(row) => catalogue::received(row.name, &format!("{words}\nIts log: {log}\n{ended}")),
        None => {
            let words = if words.is_empty() { "no words".to_owned() } else { words };
            catalogue::agent_unit_failed(unit, answer.status, &words, file, &log)
        }
    }
}

/// Foreign words, lines kept, without other control characters.
fn cleaned(text: &str) -> String {
    let kept = text.chars().filter(|letter| *letter == '\n' || !letter.is_control());
    kept.take(FAILED).collect()
}

/// At most so many bytes, between two letters.
fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_units_of_the_agent_lead_nowhere() {
        for good in ["agent_a", "agent_report_2"] {
            assert!(is_agents(good), "{good}");
        }
        let long = format!("agent_{}", "a".repeat(64));
        for bad in [
            "agent_",
            "home",
            "Agent_a",
            "agent_A",
            "agent_../home",
            "agent_a/../../mcp.php",
            "agent_a%2f..",
            "agent_a?func=x",
            "agent_a#",
            " agent_a",
            "agent_a\n",
            "agent_\u{430}",
            "agent_a.js",
            "agent_a\\b",
            "agent_a;b",
            "/core/unit/agent_a",
            "agent_a b",
            "agent_a\0",
            &long,
        ] {
            assert!(!is_agents(bad), "{bad}");
        }
    }

    #[test]
    fn a_beginning_ends_between_two_letters() {
        assert_eq!(beginning("чай", 3), "ч");
        assert_eq!(beginning("tea", 8), "tea");
    }
}
