//! Facts of real hosts that this server works around, each with its test.

use serde_json::{Map, Value};
use tools::inline::Room;

use crate::hosts::protocol::Host;

/// One fact and what is done about it.
#[derive(Debug)]
pub struct Quirk {
    /// The host, by `clientInfo.name`, or `any`.
    pub host: &'static str,
    /// What it does.
    pub fact: &'static str,
    /// What this server does about it.
    pub answer: &'static str,
    /// Name of the test that holds it.
    pub test: &'static str,
}

/// All of them. See spec: beyond.md, part 8.
pub static QUIRKS: &[Quirk] = &[
    Quirk {
        host: "any but opencode, gemini-cli-mcp-client, qwen-cli-mcp-client",
        fact: "shows the model only `structuredContent` where there is one (claude-code, codex-mcp-client), or nobody knows whether it does",
        answer: "the text block also stands inside the structured object, as `text`, but for hosts known to read both",
        test: "hosts_get_the_text_inside_the_structured_object_unless_known_to_read_both",
    },
    Quirk {
        host: "codex-mcp-client",
        fact: "calls tools that write only with a person's consent, unless they say both that they destroy nothing and that they reach nothing outside",
        answer: "every tool says `openWorldHint: false`: it works in one store",
        test: "every_tool_says_that_it_works_in_one_store",
    },
    Quirk {
        host: "gemini-cli-mcp-client",
        fact: "adds the parameter `wait_for_previous` to every tool and sends it along",
        answer: "it is dropped where the tool has none of this name",
        test: "parameters_that_hosts_add_are_dropped",
    },
    Quirk {
        host: "any",
        fact: "adds `toolCallId`, `tool_call_id`, `sessionId`, `chatInput` of its own to the arguments",
        answer: "they are dropped where the tool has none of this name",
        test: "parameters_that_hosts_add_are_dropped",
    },
    Quirk {
        host: "any",
        fact: "sends whole numbers and truth values as text",
        answer: "`\"99\"` and `\"true\"` are read where the schema asks for that kind, and nothing less plain",
        test: "plain_numbers_and_truth_values_in_a_string_are_read",
    },
    Quirk {
        host: "codex-mcp-client, gemini-cli-mcp-client, opencode",
        fact: "shows only parts of a result over 30,000 to 48,000 characters, or none of it",
        answer: "bodies have at most 30,000 characters in an answer, and 36,000 bytes; the rest is in a file, or comes in parts",
        test: "bodies_too_big_for_one_answer_go_to_files_by_themselves",
    },
    Quirk {
        host: "qwen-cli-mcp-client",
        fact: "shows data twice, as text and as structured content, and nothing of a result over 25,000 characters",
        answer: "bodies have at most 11,000 characters in an answer",
        test: "a_host_that_shows_bodies_twice_gets_shorter_ones",
    },
    Quirk {
        host: "opencode",
        fact: "gives a call up after 60 seconds",
        answer: "a call ends by itself after 50",
        test: "a_call_takes_fifty_seconds_at_most_where_nothing_else_is_said",
    },
    Quirk {
        host: "claude-code",
        fact: "shows tools only to a model that searches for them, unless they ask to be always there",
        answer: "the session tools carry `anthropic/alwaysLoad`",
        test: "session_tools_are_always_there",
    },
    Quirk {
        host: "claude-code",
        fact: "drops a whole 2026-07-28 list of tools without `ttlMs` and `cacheScope`",
        answer: "both stand on every list",
        test: "a_stateless_list_says_how_long_it_keeps",
    },
    Quirk {
        host: "claude-code",
        fact: "cuts a result over 25,000 tokens to a file with a preview",
        answer: "tools with long texts raise the limit in their `_meta`",
        test: "tools_with_long_texts_raise_the_cap_of_the_host",
    },
    Quirk {
        host: "claude-code",
        fact: "cuts descriptions and instructions at 2 KB, and drops all tools over a combinator at the top of a schema",
        answer: "texts are shorter, schemas flat",
        test: "every_listed_tool_is_acceptable_to_every_host",
    },
    Quirk {
        host: "any",
        fact: "sends the arguments, or a list or object among them, as the JSON of it in a string",
        answer: "it is parsed where the schema asks for a list or object",
        test: "arguments_in_a_string_are_read",
    },
    Quirk {
        host: "any",
        fact: "sends `null` for parameters it does not name",
        answer: "a parameter with `null` is not named",
        test: "null_is_a_parameter_that_is_not_named",
    },
    Quirk {
        host: "opencode",
        fact: "counts its requests from 0",
        answer: "0 is an id like any other",
        test: "ids_come_back_as_they_were_sent",
    },
    Quirk {
        host: "cursor-vscode",
        fact: "starts the server twice, as do clients that probe `server/discover` in a process of its own",
        answer: "the start locks nothing and costs milliseconds; the end of the input ends the process with 0",
        test: "a_probe_and_a_server_run_side_by_side",
    },
    Quirk {
        host: "any",
        fact: "leaves out `clientInfo.version`, or sends `capabilities: null`",
        answer: "what can be understood is accepted",
        test: "an_odd_handshake_is_accepted",
    },
];

/// Hosts that show the model the text blocks beside structured content, as seen.
const READ_BOTH: &[&str] = &["opencode", GEMINI, QWEN];
/// Gemini CLI.
const GEMINI: &str = "gemini-cli-mcp-client";
/// Qwen Code, which was made from it.
const QWEN: &str = "qwen-cli-mcp-client";

/// Parameters that hosts add to every call.
const ADDED: &[&str] = &["wait_for_previous", "toolCallId", "tool_call_id", "sessionId", "chatInput"];

/// Tools whose answers may be longer than a host's usual cap.
const LONG: &[&str] = &["memory_load"];

/// Whether the text must also stand inside the structured object.
pub(crate) fn may_lose_text(host: &Host) -> bool {
    !READ_BOTH.iter().any(|name| is(&host.name, name))
}

/// Room for bodies in an answer to this application.
pub(crate) fn room(application: &str) -> Room {
    if is(application, QWEN) { Room::SHOWN_TWICE } else { Room::ANSWER }
}

/// Whether an application is this host. Some put the server's name behind their own.
fn is(application: &str, host: &str) -> bool {
    let rest = application.get(..host.len()).filter(|name| name.eq_ignore_ascii_case(host));
    rest.is_some()
        && application.get(host.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Takes out what hosts add by themselves and the tool does not know.
pub(crate) fn drop_added(arguments: &mut Map<String, Value>, schema: &Value) {
    let known = |name: &str| schema.get("properties").is_some_and(|known| known.get(name).is_some());
    arguments.retain(|name, _| !ADDED.contains(&name.as_str()) || known(name));
}

/// What a tool says about itself for single hosts.
pub(crate) fn meta(tool: &str) -> Map<String, Value> {
    let mut meta = Map::new();
    if let Some(cap) = result_cap(tool) {
        meta.insert("anthropic/maxResultSizeChars".to_owned(), cap.into());
    }
    if tool.starts_with("session_") {
        meta.insert("anthropic/alwaysLoad".to_owned(), true.into());
    }
    meta
}

/// The cap to ask for, in characters, where a tool's answers are long.
fn result_cap(tool: &str) -> Option<u64> {
    LONG.contains(&tool).then_some(500_000)
}

#[cfg(test)]
mod tests;
