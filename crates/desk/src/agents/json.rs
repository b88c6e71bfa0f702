//! Applications whose file is JSON.

use serde_json::{Map, Value, json};

use super::launch::{Launch, SERVER};

/// Claude Code's `.mcp.json`; Cursor and others read the same form.
pub(super) fn claude_code(text: &str, launch: &Launch) -> Option<String> {
    changed(text, |root| {
        let server = object(object(root, "mcpServers")?, SERVER)?;
        server.insert("command".to_owned(), json!(launch.command));
        server.insert("args".to_owned(), json!(launch.args));
        environment(server, "env", launch)
    })
}

/// Claude Code's settings: the server of `.mcp.json` needs no question at each start.
pub(super) fn claude_settings(text: &str, _launch: &Launch) -> Option<String> {
    changed(text, |root| {
        // A person's no stays a no.
        let refused = root.get("disabledMcpjsonServers").and_then(Value::as_array);
        if refused.is_some_and(|names| names.iter().any(|name| name == SERVER)) {
            return Some(());
        }
        let enabled = root.entry("enabledMcpjsonServers").or_insert_with(|| json!([])).as_array_mut()?;
        if !enabled.iter().any(|name| name == SERVER) {
            enabled.push(json!(SERVER));
        }
        Some(())
    })
}

/// OpenCode's `opencode.json`.
pub(super) fn opencode(text: &str, launch: &Launch) -> Option<String> {
    changed(text, |root| {
        if root.is_empty() {
            root.insert("$schema".to_owned(), json!("https://opencode.ai/config.json"));
        }
        let server = object(object(root, "mcp")?, SERVER)?;
        server.insert("type".to_owned(), json!("local"));
        let words: Vec<&String> = std::iter::once(&launch.command).chain(&launch.args).collect();
        server.insert("command".to_owned(), json!(words));
        server.entry("enabled").or_insert(Value::Bool(true));
        environment(server, "environment", launch)
    })
}

/// Sets our variables and keeps those that people added.
fn environment(server: &mut Map<String, Value>, key: &str, launch: &Launch) -> Option<()> {
    if launch.env.is_empty() && !server.contains_key(key) {
        return Some(());
    }
    let environment = object(server, key)?;
    // An older start may have led to another home.
    environment.remove(wire::env::HOME);
    for (name, value) in &launch.env {
        environment.insert((*name).to_owned(), json!(value));
    }
    if environment.is_empty() {
        server.remove(key);
    }
    Some(())
}

/// The object below this key, made where it is missing; `None` where something else is there.
fn object<'a>(parent: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Map<String, Value>> {
    parent.entry(key).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
}

/// The text with the change in it. A text that says the same already is not even laid out anew.
fn changed(text: &str, change: impl FnOnce(&mut Map<String, Value>) -> Option<()>) -> Option<String> {
    let inner = text.strip_prefix('\u{feff}').unwrap_or(text);
    let before: Value =
        if inner.trim().is_empty() { Value::Object(Map::new()) } else { serde_json::from_str(inner).ok()? };
    let mut after = before.clone();
    change(after.as_object_mut()?)?;
    if after == before && !inner.trim().is_empty() {
        return Some(text.to_owned());
    }
    serde_json::to_string_pretty(&after).ok().map(|text| text + "\n")
}
