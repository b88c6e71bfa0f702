//! Codex's `.codex/config.toml`; comments and layout of people stay.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};

use super::launch::{Launch, SERVER};

/// The text with our server in it.
pub(super) fn codex(text: &str, launch: &Launch) -> Option<String> {
    let inner = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut document: DocumentMut = inner.parse().ok()?;
    let before = document.to_string();
    let servers = document.entry("mcp_servers").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let server = servers.as_table_like_mut()?.entry(SERVER).or_insert_with(|| Item::Table(Table::new()));
    let server = server.as_table_like_mut()?;
    if server.get("command").and_then(Item::as_str) != Some(&launch.command) {
        server.insert("command", value(&launch.command));
    }
    if !says(server.get("args"), &launch.args) {
        server.insert("args", value(launch.args.iter().collect::<Array>()));
    }
    if !launch.env.is_empty() || server.contains_key("env") {
        let env = server.entry("env").or_insert_with(|| value(InlineTable::new())).as_table_like_mut()?;
        if launch.env.is_empty() {
            env.remove(wire::env::HOME);
        }
        for (name, text) in &launch.env {
            if env.get(name).and_then(Item::as_str) != Some(text) {
                env.insert(name, value(text));
            }
        }
        if env.is_empty() {
            server.remove("env");
        }
    }
    let after = document.to_string();
    Some(if after == before { text.to_owned() } else { after })
}

fn says(item: Option<&Item>, args: &[String]) -> bool {
    item.and_then(Item::as_array).is_some_and(|array| {
        array.len() == args.len() && array.iter().zip(args).all(|(one, other)| one.as_str() == Some(other))
    })
}
