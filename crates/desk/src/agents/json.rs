//! Applications whose file is JSON.

use home::Approval;
use serde_json::{Value, json};

use super::json_text::JsonText;
use super::launch::{Launch, SERVER};

/// The name by which Claude Code's permissions call all our tools.
const CLAUDE_TOOLS: &str = "mcp__shopwright";

/// Claude Code's `.mcp.json`; Cursor and others read the same form.
pub(super) fn claude_code(text: &str, launch: &Launch) -> Option<String> {
    let mut file = JsonText::read(text)?;
    server(&mut file, launch)?;
    Some(file.finish())
}

/// Gemini CLI's `.gemini/settings.json` and Qwen Code's `.qwen/settings.json`.
pub(super) fn gemini(text: &str, launch: &Launch) -> Option<String> {
    let mut file = JsonText::read(text)?;
    server(&mut file, launch)?;
    if let Some(approval) = launch.approval {
        file.set(&["mcpServers", SERVER, "trust"], &json!(approval == Approval::Approve))?;
    }
    Some(file.finish())
}

/// Claude Code's settings: the server of `.mcp.json` needs no question at each start.
pub(super) fn claude_settings(text: &str, launch: &Launch) -> Option<String> {
    let mut file = JsonText::read(text)?;
    // A person's no stays a no.
    let refused = file.get(&["disabledMcpjsonServers"]);
    let refused = refused.as_ref().and_then(Value::as_array);
    if refused.is_some_and(|names| names.iter().any(|name| name == SERVER)) {
        return Some(text.to_owned());
    }
    file.push(&["enabledMcpjsonServers"], &json!(SERVER))?;
    let allowed = ["permissions", "allow"];
    match launch.approval {
        Some(Approval::Approve) => file.push(&allowed, &json!(CLAUDE_TOOLS))?,
        Some(Approval::Ask) => file.take_out(&allowed, &json!(CLAUDE_TOOLS))?,
        None => {}
    }
    Some(file.finish())
}

/// OpenCode's `opencode.json`.
pub(super) fn opencode(text: &str, launch: &Launch) -> Option<String> {
    let mut file = JsonText::read(text)?;
    if file.is_empty() {
        file.set(&["$schema"], &json!("https://opencode.ai/config.json"))?;
    }
    let words: Vec<&String> = std::iter::once(&launch.command).chain(&launch.args).collect();
    file.set(&["mcp", SERVER, "type"], &json!("local"))?;
    file.set(&["mcp", SERVER, "command"], &json!(words))?;
    if file.get(&["mcp", SERVER, "enabled"]).is_none() {
        file.set(&["mcp", SERVER, "enabled"], &json!(true))?;
    }
    environment(&mut file, &["mcp", SERVER, "environment"], launch)?;
    Some(file.finish())
}

/// Our entry among the servers.
fn server(file: &mut JsonText, launch: &Launch) -> Option<()> {
    file.set(&["mcpServers", SERVER, "command"], &json!(launch.command))?;
    file.set(&["mcpServers", SERVER, "args"], &json!(launch.args))?;
    environment(file, &["mcpServers", SERVER, "env"], launch)
}

/// Sets our variables and keeps those that people added.
fn environment(file: &mut JsonText, path: &[&str; 3], launch: &Launch) -> Option<()> {
    let inner = |name| [path[0], path[1], path[2], name];
    for (name, value) in &launch.env {
        file.set(&inner(name), &json!(value))?;
    }
    let is_named = launch.env.iter().any(|(name, _)| *name == wire::env::HOME);
    if !is_named && file.get(&inner(wire::env::HOME)).is_some() {
        // An older start led to another home.
        file.remove(&inner(wire::env::HOME))?;
        if file.get(path) == Some(json!({})) {
            file.remove(path)?;
        }
    }
    Some(())
}
