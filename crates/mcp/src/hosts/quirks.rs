//! Facts of real hosts that this server works around, each with its test.

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
        host: "claude-code",
        fact: "shows the model only `structuredContent` where there is one, and only the text of an error",
        answer: "the text block also stands inside the structured object, as `text`",
        test: "claude_code_gets_the_text_inside_the_structured_object",
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

/// Hosts that lose the text block beside structured content.
const LOSE_TEXT: &[&str] = &["claude-code"];

/// Tools whose answers may be longer than a host's usual cap.
const LONG: &[&str] = &["memory_load"];

/// Whether the text must also stand inside the structured object.
pub(crate) fn loses_text(host: &Host) -> bool {
    LOSE_TEXT.iter().any(|name| host.name.eq_ignore_ascii_case(name))
}

/// The cap to ask for, in characters, where a tool's answers are long.
pub(crate) fn result_cap(tool: &str) -> Option<u64> {
    LONG.contains(&tool).then_some(500_000)
}

#[cfg(test)]
mod tests;
