//! Tests of the list of tools.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{all_tools, entries, find, tools_list_json};

const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

#[test]
fn the_session_tools_come_first() {
    let names: Vec<&str> = all_tools().iter().map(|tool| tool.name).take(4).collect();
    assert_eq!(names, ["session_init", "session_connect", "session_rules_accept", "session_clear"]);
}

#[test]
fn every_listed_tool_is_acceptable_to_every_host() {
    let mut names = BTreeSet::new();
    for tool in tools_list_json("2026-07-28").as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(names.insert(name.to_owned()), "{name} is there twice");
        assert!(name.len() <= 64 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
        assert!((20..2048).contains(&tool["description"].as_str().unwrap().len()), "{name}");
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            for combinator in ["oneOf", "anyOf", "allOf", "not", "$ref", "$schema", "title"] {
                assert!(schema.get(combinator).is_none(), "{name} has {combinator} at the top");
            }
        }
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        for (parameter, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{name}: {parameter} has no description");
        }
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{name}");
    }
}

#[test]
fn every_tool_says_that_it_works_in_one_store() {
    for tool in tools_list_json("2025-06-18").as_array().unwrap() {
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{}", tool["name"]);
    }
}

#[test]
fn session_tools_are_always_there() {
    for tool in tools_list_json("2025-11-25").as_array().unwrap() {
        let is_session = tool["name"].as_str().unwrap().starts_with("session_");
        assert_eq!(tool["_meta"]["anthropic/alwaysLoad"] == true, is_session, "{}", tool["name"]);
    }
}

#[test]
fn each_version_gets_what_it_knows() {
    for version in VERSIONS {
        let list = tools_list_json(version);
        let knows = |key: &str| list.as_array().unwrap().iter().any(|tool| tool.get(key).is_some());
        assert_eq!(knows("annotations"), version >= "2025-03-26", "{version}");
        assert_eq!(knows("title"), version >= "2025-06-18", "{version}");
        assert_eq!(knows("outputSchema"), version >= "2025-06-18", "{version}");
    }
}

#[test]
fn tools_with_long_texts_raise_the_cap_of_the_host() {
    let list = tools_list_json("2025-11-25");
    let load = list.as_array().unwrap().iter().find(|tool| tool["name"] == "memory_load").unwrap();
    assert_eq!(load["_meta"]["anthropic/maxResultSizeChars"], Value::from(500_000));
}

#[test]
fn the_list_is_cheap_to_carry() {
    let bytes = tools_list_json("2026-07-28").to_string().len();
    // 9,000 tokens of four bytes, for all the tools that there are to be as well.
    assert!(bytes <= 36_000, "{bytes} bytes for {} tools", entries().len());
}

#[test]
fn an_unknown_tool_gets_the_nearest_names() {
    let said = |name: &str| find(name).err().unwrap().text();
    assert_eq!(
        said("memory_lst"),
        "Unknown tool: `memory_lst`. Nearest: `memory_list`, `memory_load`, `memory_save`."
    );
    assert!(said("Memory-List").contains("`memory_list`"));
    assert_eq!(said("zzzzzzzzzzzzzzzzzzzzzzzzzzz"), "Unknown tool: `zzzzzzzzzzzzzzzzzzzzzzzzzzz`.");
    assert!(said(&"x".repeat(10_000_000)).len() < 300);
    assert!(said("").starts_with("Unknown tool:"));
}
