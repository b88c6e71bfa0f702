//! Codex's `.codex/config.toml`; comments and layout of people stay.

use home::Approval;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value};
use wire::env;

use super::launch::{Launch, SERVER};

/// What the server reads of the person's environment: Codex hands a variable on only where it is named.
const HANDED_ON: &[&str] = &[
    env::EVENT,
    env::LOG,
    env::KEYRING,
    env::TIMEOUT,
    env::PLAIN_HTTP,
    // The system's keyring is asked over the session bus.
    "DBUS_SESSION_BUS_ADDRESS",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
];
/// Whether Codex asks before a call.
const APPROVAL: &str = "default_tools_approval_mode";

/// The text with our server in it.
pub(super) fn codex(text: &str, launch: &Launch) -> Option<String> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut document: DocumentMut = bare.parse().ok()?;
    let before = document.to_string();
    let servers = document.entry("mcp_servers").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let server = servers.as_table_like_mut()?.entry(SERVER).or_insert_with(|| Item::Table(Table::new()));
    fill(server.as_table_like_mut()?, launch)?;
    let after = document.to_string();
    if after == before {
        return Some(text.to_owned());
    }
    let mark = &text[..text.len() - bare.len()];
    Some(format!("{mark}{}", with_line_ends_of(bare, after)))
}

fn fill(server: &mut dyn TableLike, launch: &Launch) -> Option<()> {
    if server.get("command").and_then(Item::as_str) != Some(&launch.command) {
        put(server, "command", value(&launch.command));
    }
    if !says(server.get("args"), &launch.args) {
        put(server, "args", value(launch.args.iter().collect::<Array>()));
    }
    if !launch.env.is_empty() || server.contains_key("env") {
        environment(server, launch)?;
    }
    let handed_on = server.entry("env_vars").or_insert_with(|| value(Array::new())).as_array_mut()?;
    for name in HANDED_ON {
        if !handed_on.iter().any(|one| one.as_str() == Some(name)) {
            handed_on.push(*name);
        }
    }
    let wanted = match launch.approval {
        Some(Approval::Approve) => "approve",
        Some(Approval::Ask) => "prompt",
        None => return Some(()),
    };
    if server.get(APPROVAL).and_then(Item::as_str) != Some(wanted) {
        put(server, APPROVAL, value(wanted));
    }
    Some(())
}

fn environment(server: &mut dyn TableLike, launch: &Launch) -> Option<()> {
    let env = server.entry("env").or_insert_with(|| value(InlineTable::new())).as_table_like_mut()?;
    if !launch.env.iter().any(|(name, _)| *name == env::HOME) {
        // An older start led to another home.
        env.remove(env::HOME);
    }
    for (name, text) in &launch.env {
        if env.get(name).and_then(Item::as_str) != Some(text) {
            put(env, name, value(text));
        }
    }
    if env.is_empty() {
        server.remove("env");
    }
    Some(())
}

/// Sets a value and keeps what people wrote around the old one.
fn put(table: &mut dyn TableLike, key: &str, new: Item) {
    let decor = table.get(key).and_then(Item::as_value).map(|old| old.decor().clone());
    let mut new = new;
    if let (Some(decor), Some(value)) = (decor, new.as_value_mut()) {
        *value.decor_mut() = decor;
    }
    match table.get_mut(key) {
        Some(item) => *item = new,
        None => _ = table.insert(key, new),
    }
}

/// Lines that we added end as the file's own do.
fn with_line_ends_of(before: &str, after: String) -> String {
    let lines = before.matches('\n').count();
    if lines > 0 && lines == before.matches("\r\n").count() {
        return after.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    after
}

fn says(item: Option<&Item>, args: &[String]) -> bool {
    item.and_then(Item::as_array).is_some_and(|array| {
        array.len() == args.len() && array.iter().zip(args).all(|(one, other)| one.as_str() == Some(other))
    })
}
