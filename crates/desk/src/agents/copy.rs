//! Lines and files to copy into an agent application that is opened elsewhere.

use serde_json::{Map, Value, json};

use super::launch::{Launch, SERVER};

/// One application's configuration, ready to copy.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    /// Key of the locales' texts about the application.
    pub(crate) key: &'static str,
    /// The application's name.
    pub(crate) name: &'static str,
    /// What to copy.
    pub(crate) text: String,
}

/// Every application we know.
pub(crate) fn copies(launch: &Launch) -> Vec<Copy> {
    let copy = |key, name, text| Copy { key, name, text };
    vec![
        copy("claude", "Claude Code", claude(launch)),
        copy("codex", "Codex", codex(launch)),
        copy("opencode", "OpenCode", opencode(launch)),
        copy("goose", "Goose", goose(launch)),
        copy("cursor", "Cursor", servers("mcpServers", launch)),
        copy("vscode", "VS Code", servers("servers", launch)),
        copy("other", "MCP", servers("mcpServers", launch)),
    ]
}

fn claude(launch: &Launch) -> String {
    format!("claude mcp add --scope user {SERVER}{} -- {}", variables("-e", launch), command_line(launch))
}

fn codex(launch: &Launch) -> String {
    format!("codex mcp add {SERVER}{} -- {}", variables("--env", launch), command_line(launch))
}

fn goose(launch: &Launch) -> String {
    let variables: String =
        launch.env.iter().map(|(name, value)| format!("{name}={} ", quoted(value))).collect();
    format!("goose session --with-extension {}", quoted(&format!("{variables}{}", command_line(launch))))
}

fn opencode(launch: &Launch) -> String {
    let words: Vec<&String> = std::iter::once(&launch.command).chain(&launch.args).collect();
    let mut server = json!({"type": "local", "command": words, "enabled": true});
    if !launch.env.is_empty() {
        server["environment"] = environment(launch);
    }
    pretty(&json!({"mcp": {SERVER: server}}))
}

fn servers(key: &str, launch: &Launch) -> String {
    let mut server = json!({"command": launch.command, "args": launch.args});
    if !launch.env.is_empty() {
        server["env"] = environment(launch);
    }
    pretty(&json!({key: {SERVER: server}}))
}

fn environment(launch: &Launch) -> Value {
    Value::Object(
        launch.env.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect::<Map<_, _>>(),
    )
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn variables(flag: &str, launch: &Launch) -> String {
    launch.env.iter().map(|(name, value)| format!(" {flag} {}", quoted(&format!("{name}={value}")))).collect()
}

fn command_line(launch: &Launch) -> String {
    let words: Vec<String> =
        std::iter::once(&launch.command).chain(&launch.args).map(|word| quoted(word)).collect();
    words.join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if cfg!(windows) { format!("\"{word}\"") } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
