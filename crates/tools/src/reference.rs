//! The reference for people, as Markdown: what each tool takes and answers, and every refusal.
//!
//! Pure: the same declarations that hosts and gates read come in, text comes out.

use std::fmt::Write;

use serde_json::Value;
use wire::{Mender, Row, Speaker, catalogue};

use crate::{Effect, Right, ToolSpec};

/// The page of all tools, in the order of `tools/list`.
pub fn tools_md(tools: &[&ToolSpec]) -> String {
    let mut page = String::from(
        "<!-- Generated from the declarations of the tools; the tests write it anew when it is stale. -->\n\n\
         # The tools\n\n\
         What an agent calls, as the MCP server offers it. A parameter with `null` counts as not named; an unknown\n\
         parameter refuses and lists the known ones. A table is `{\"columns\": […], \"rows\": [[…]]}`. A path on this\n\
         computer is absolute or from the store folder. Refusals that any tool can give are in\n\
         [refusals.md](refusals.md).\n\n",
    );
    page.push_str("| tool | what it does | right | effect |\n|---|---|---|---|\n");
    for tool in tools {
        let first = tool.description();
        let first = first.split_once(". ").map_or(first.as_str(), |(first, _)| first).trim_end_matches('.');
        let _ = writeln!(
            page,
            "| [`{0}`](#{0}) | {1} | {2} | {3} |",
            tool.name,
            cell(first),
            right(tool.right),
            effect(tool.effect)
        );
    }
    for tool in tools {
        one_tool(&mut page, tool);
    }
    page
}

/// The table of `docs/rights.md`: rows of the rights tree for agents with the tools behind them.
pub fn rights_table(tools: &[&ToolSpec]) -> String {
    let mut table = String::from("| where in the tree | command | tools |\n|---|---|---|\n");
    for row in shop::operations::ALL.iter().filter(|row| row.skey.starts_with("AGENT_")) {
        let Some(command) = row.command else { continue };
        let of_command = |tool: &&&ToolSpec| tool.command() == Some(command);
        let names: Vec<String> =
            tools.iter().filter(of_command).map(|tool| format!("`{}`", tool.name)).collect();
        if !names.is_empty() {
            let _ = writeln!(table, "| {} | `{command}` | {} |", tree_path(row.skey), names.join(", "));
        }
    }
    table
}

/// Names from the top of the rights tree, as people see them.
fn tree_path(skey: &str) -> String {
    let row = shop::operations::ALL.iter().find(|row| row.skey == skey);
    let name = shop::locales::text("en", &format!("operations.{skey}")).unwrap_or(skey);
    match row.and_then(|row| row.parent) {
        Some(parent) => format!("{} → {name}", tree_path(parent)),
        None => name.to_owned(),
    }
}

fn one_tool(page: &mut String, tool: &ToolSpec) {
    let _ = writeln!(page, "\n## {}\n\n{}\n", tool.name, tool.description());
    let _ = writeln!(page, "Right: {}. {}", right(tool.right), effect_sentence(tool.effect));
    let input = tool.listed_input();
    fields(page, "Parameters", "parameter", &input, true);
    if let Some(output) = tool.output {
        let output = output();
        if let Some(about) = output.get("description").and_then(Value::as_str) {
            let _ = writeln!(page, "\nAnswers: {about}");
        }
        fields(page, "Data", "field", &output, false);
    }
    let rows: Vec<&'static Row> = tool.refuses.iter().filter_map(|name| catalogue::row(name)).collect();
    if !rows.is_empty() {
        page.push_str("\n**Own refusals**\n\n| beginning | when | what to do |\n|---|---|---|\n");
        for row in rows {
            let _ =
                writeln!(page, "| `{}` | {} | {} |", row.beginning.trim(), cell(row.when), cell(how(row)));
        }
    }
}

fn fields(page: &mut String, title: &str, what: &str, schema: &Value, named: bool) {
    let mut rows = Vec::new();
    collect(schema, "", named, &mut rows);
    if rows.is_empty() {
        if named {
            page.push_str("\nNo parameters.\n");
        }
        return;
    }
    let _ = writeln!(page, "\n**{title}**\n\n| {what} | kind | what it is |\n|---|---|---|");
    for row in rows {
        let _ = writeln!(page, "{row}");
    }
}

/// Rows for the fields of an object and of the objects inside it.
fn collect(schema: &Value, path: &str, named: bool, rows: &mut Vec<String>) {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let full = format!("{path}{name}");
        let about = field.get("description").and_then(Value::as_str).unwrap_or_default();
        let must = if named && required.contains(&name.as_str()) { ", required" } else { "" };
        rows.push(format!("| `{full}` | {}{must} | {} |", kind(field), cell(about)));
        collect(field, &format!("{full}."), named, rows);
        if let Some(item) = field.get("items") {
            collect(item, &format!("{full}[]."), named, rows);
        }
    }
}

/// The kind of a value in words.
fn kind(schema: &Value) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values
            .iter()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), |text| format!("`{text}`")))
            .collect();
        return values.join(", ");
    }
    let word = |kind: &str| match kind {
        "string" => "text".to_owned(),
        "integer" => "whole number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => match schema.get("items").map(kind_of_item) {
            Some(item) => format!("list of {item}"),
            None => "list".to_owned(),
        },
        other => other.to_owned(),
    };
    match schema.get("type") {
        Some(Value::String(kind)) => word(kind),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).map(word).collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

fn kind_of_item(item: &Value) -> String {
    match kind(item).as_str() {
        "text" => "texts".to_owned(),
        "whole number" => "whole numbers".to_owned(),
        "object" => "objects".to_owned(),
        "any value" => "values".to_owned(),
        list if list.starts_with("list") => list.replacen("list", "lists", 1),
        other => other.to_owned(),
    }
}

/// The page of all refusals, in the order of the catalogue, and which tools declare the tools' own.
pub fn refusals_md(tools: &[&ToolSpec]) -> String {
    let mut page = String::from(
        "<!-- Generated from the catalogue of refusals; the tests write it anew when it is stale. -->\n\n\
         # Refusals\n\n\
         A refused call has one text and the error mark, and no effect. The text begins with one of the beginnings\n\
         below, which never change; then come what is wrong and how to go on.\n",
    );
    for (speaker, title, about) in SPEAKERS {
        let _ = writeln!(page, "\n## {title}\n\n{about}\n");
        let own = *speaker == Speaker::Tool;
        table_row(&mut page, ["beginning", "when", "who mends it", "how"], own.then_some("tool"));
        table_row(&mut page, ["---"; 4], own.then_some("---"));
        for row in catalogue::ALL.iter().filter(|row| row.speaker == *speaker) {
            let beginning = format!("`{}`", row.beginning.trim());
            let by = own.then(|| said_by(tools, row));
            table_row(&mut page, [&beginning, row.when, mender(row.mender), how(row)], by.as_deref());
        }
    }
    page
}

fn table_row(page: &mut String, cells: [&str; 4], last: Option<&str>) {
    let cells: Vec<String> = cells.into_iter().chain(last).map(cell).collect();
    let _ = writeln!(page, "| {} |", cells.join(" | "));
}

const SPEAKERS: &[(Speaker, &str, &str)] = &[
    (Speaker::Server, "The MCP server's own", "Said without asking the store."),
    (
        Speaker::Store,
        "The store's",
        "Said by the engine, in the order of its gate; nothing was done. The code stands alone on the first line.",
    ),
    (
        Speaker::Words,
        "What came back, in words",
        "Said by the MCP server about what came back from the store, or did not.",
    ),
    (Speaker::Tool, "Of single tools", "Said by a tool, beside those that any tool can give."),
];

fn said_by(tools: &[&ToolSpec], row: &Row) -> String {
    let names: Vec<String> = tools
        .iter()
        .filter(|tool| tool.refuses.contains(&row.name))
        .map(|tool| format!("`{}`", tool.name))
        .collect();
    names.join(", ")
}

fn right(right: Right) -> String {
    match right {
        Right::Free => "none".to_owned(),
        Right::Command(command) => format!("`{command}`"),
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Reads => "reads",
        Effect::Writes => "writes",
        Effect::Destroys => "removes",
    }
}

fn effect_sentence(effect: Effect) -> &'static str {
    match effect {
        Effect::Reads => "Changes nothing.",
        Effect::Writes => "Adds or changes.",
        Effect::Destroys => "Removes.",
    }
}

fn how(row: &'static Row) -> &'static str {
    if row.mend.is_empty() { "The text says it." } else { row.mend }
}

fn mender(mender: Mender) -> &'static str {
    match mender {
        Mender::Agent => "the agent",
        Mender::Person => "the person at the program",
        Mender::Owner => "the store's owner",
        Mender::ServerAdmin => "the server's owner",
        Mender::Developer => "a developer",
        Mender::Time => "passes by itself",
    }
}

/// Text as a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
