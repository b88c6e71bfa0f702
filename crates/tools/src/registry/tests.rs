//! Tests that hold for every tool there is.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::{ALL, Effect, Right, ToolSpec, check_arguments};

/// Families in the order of `tools/list`, with a folder each; most used first.
const FAMILIES: &[&str] = &["memory", "repo", "tool", "shop", "engine", "event"];

/// Tools in files: family, file name without its ending, name that the file declares.
fn files() -> Vec<(&'static str, String, String)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for family in FAMILIES {
        let Ok(entries) = fs::read_dir(source.join(family)) else { continue };
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
        names.sort();
        for path in names {
            let text = fs::read_to_string(&path).unwrap();
            let Some((_, after)) = text.split_once("\ncrate::tool!(") else { continue };
            let name = after.split('"').nth(1).unwrap().to_owned();
            found.push((*family, path.file_stem().unwrap().to_str().unwrap().to_owned(), name));
        }
    }
    found
}

#[test]
fn registry_holds_every_file_that_declares_a_tool() {
    let files = files();
    let families: Vec<_> =
        FAMILIES.iter().copied().filter(|f| files.iter().any(|file| file.0 == *f)).collect();
    let mut sorted = families.clone();
    sorted.sort_unstable();
    let lines: String =
        files.iter().map(|(family, file, _)| format!("    {family}::{file}::TOOL,\n")).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/registry.rs");
    let now = fs::read_to_string(&path).unwrap();
    let (head, rest) = now.split_once("use crate::").unwrap();
    let (_, rest) = rest.split_once("];\n").unwrap();
    let wanted = format!(
        "{head}use crate::{{ToolSpec, {}}};\n\n/// All tools of this crate.\npub static ALL: &[ToolSpec] = &[\n{lines}];\n{rest}",
        sorted.join(", ")
    );
    if wanted != now {
        fs::write(&path, wanted).unwrap();
        panic!("src/registry.rs was stale and is written anew: run the tests again");
    }
}

#[test]
fn a_tool_is_named_after_its_file_and_lies_in_the_order_of_the_families() {
    let files = files();
    assert_eq!(files.len(), ALL.len());
    for ((family, file, name), tool) in files.iter().zip(ALL) {
        assert_eq!(name, &format!("{family}_{file}"));
        assert_eq!(name, tool.name);
    }
}

#[test]
fn names_are_unique_and_legal_for_every_host() {
    let names: BTreeSet<_> = ALL.iter().map(|tool| tool.name).collect();
    assert_eq!(names.len(), ALL.len());
    for name in names {
        assert!(name.len() <= 48 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
    }
}

#[test]
fn every_tool_has_two_halves_that_fit_its_effect() {
    for tool in ALL {
        if tool.site.is_some() {
            // Forms that a page takes change the store; whether one is sent the call says.
            assert!(
                tool.run.is_none() && tool.present.is_none() && tool.effect == Effect::Writes,
                "{}",
                tool.name
            );
            continue;
        }
        assert!(tool.run.is_some() && tool.present.is_some(), "{}", tool.name);
        let writes = tool.name.split('_').any(|word| {
            matches!(
                word,
                "save"
                    | "write"
                    | "execute"
                    | "remove"
                    | "add"
                    | "rename"
                    | "restore"
                    | "unlocks"
                    | "run"
                    | "pool"
                    | "clear"
            )
        });
        assert_eq!(tool.effect != Effect::Reads, writes, "{}", tool.name);
    }
}

#[test]
fn commands_exist_in_the_tree_of_operations() {
    for tool in ALL {
        let Right::Command(command) = tool.right else { continue };
        let known = shop::operations::ALL.iter().any(|operation| operation.command == Some(command));
        assert!(known, "{} needs {command}", tool.name);
    }
}

/// Tools whose right is not their own name in capitals: several stand behind one command.
const SHARED_RIGHTS: &[&str] = &[
    "engine_history_content",
    "engine_history_list",
    "engine_history_restore",
    "engine_html_add",
    "engine_html_load",
    "engine_html_remove",
    "engine_html_rename",
    "engine_html_save",
    "engine_image_add",
    "engine_image_dir_add",
    "engine_image_dir_remove",
    "engine_image_dir_rename",
    "engine_image_load",
    "engine_image_remove",
    "engine_image_rename",
    "engine_map_tree",
    "engine_map_units",
    "engine_search",
    "engine_static_add",
    "engine_static_dir_add",
    "engine_static_dir_remove",
    "engine_static_dir_rename",
    "engine_static_load",
    "engine_static_remove",
    "engine_static_rename",
    "engine_static_save",
    "engine_template_add",
    "engine_template_remove",
    "engine_template_rename",
    "engine_unit_add",
    "engine_unit_load",
    "engine_unit_remove",
    "engine_unit_rename",
    "engine_unit_save",
    "engine_whole_load",
    "tool_pool",
];

#[test]
fn a_right_is_called_like_its_tool() {
    for tool in ALL.iter().filter(|tool| tool.right != Right::Free) {
        let own = tool.command() == Some(&format!("AGENT_{}", tool.name.to_uppercase()));
        assert_eq!(own, !SHARED_RIGHTS.contains(&tool.name), "{}", tool.name);
    }
}

#[test]
fn declared_refusals_are_in_the_catalogue() {
    for tool in ALL {
        let unique: BTreeSet<_> = tool.refuses.iter().collect();
        assert_eq!(unique.len(), tool.refuses.len(), "{} declares a refusal twice", tool.name);
        for name in tool.refuses {
            assert!(wire::catalogue::row(name).is_some(), "{} declares {name}", tool.name);
        }
    }
}

#[test]
fn descriptions_are_short_and_every_parameter_has_one() {
    for tool in ALL {
        let text = tool.description();
        assert!(text.len() > 20 && text.len() < 300 && text.ends_with('.'), "{}: {text}", tool.name);
        for (name, field) in parameters(tool) {
            let about = field["description"].as_str().unwrap_or_default();
            assert!(!about.is_empty() && about.len() < 120, "{}.{name}: {about}", tool.name);
        }
    }
}

#[test]
fn schemas_have_the_form_that_hosts_accept() {
    for tool in ALL {
        for schema in [Some(tool.listed_input()), tool.output.map(|output| output())] {
            let Some(schema) = schema else { continue };
            assert_eq!(schema["type"], "object", "{}", tool.name);
            for key in ["anyOf", "oneOf", "allOf", "$ref", "$defs", "$schema", "title", "enum", "not"] {
                assert!(schema.get(key).is_none(), "{} has {key} at the top", tool.name);
            }
            assert!(!schema.to_string().contains("$ref"), "{}", tool.name);
            assert!(
                schema["properties"].as_object().unwrap().values().all(Value::is_object),
                "{}",
                tool.name
            );
        }
        assert_eq!(tool.listed_input()["additionalProperties"], false, "{}", tool.name);
        assert!(tool.listed_input().get("description").is_none(), "{}", tool.name);
    }
}

/// Most tokens (bytes / 4) of what all tools declare; `tools/list` must stay cheap to carry.
const TOKENS_MOST: usize = 9_000;

#[test]
fn the_list_of_tools_is_cheap_to_carry() {
    let sizes: Vec<usize> = ALL.iter().map(bytes).collect();
    for (tool, size) in ALL.iter().zip(&sizes) {
        println!("{:20} {size} bytes, {} tokens", tool.name, size / 4);
    }
    let all = sizes.iter().sum::<usize>() / 4;
    assert!(all <= TOKENS_MOST, "{all} tokens");
}

fn bytes(tool: &ToolSpec) -> usize {
    let entry = serde_json::json!({
        "name": tool.name,
        "description": tool.description(),
        "inputSchema": tool.listed_input(),
    });
    entry.to_string().len()
}

#[test]
fn no_tool_accepts_an_unknown_parameter() {
    for tool in ALL {
        let arguments: Map<String, Value> =
            [("no_such_parameter".to_owned(), Value::Null)].into_iter().collect();
        let refusal = check_arguments(&tool.listed_input(), arguments).unwrap_err();
        assert_eq!(refusal.name(), "unknown_parameter", "{}", tool.name);
        for (name, _) in parameters(tool) {
            assert!(refusal.text().contains(&format!("`{name}`")), "{}: {}", tool.name, refusal.text());
        }
    }
}

fn parameters(tool: &ToolSpec) -> Map<String, Value> {
    tool.listed_input()["properties"].as_object().unwrap().clone()
}
