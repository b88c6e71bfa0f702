//! Clients that work without a pause, believe only what was answered, and keep books of it.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use testkit::transcript::refusal_name;
use testkit::{Client, PATIENCE, wait_for};

use crate::setup::Dice;

/// What a client may be told when a node dies or a table is in work; anything else fails the test.
pub(crate) const ALLOWED: [&str; 3] = ["no_connection", "not_available", "table_in_work"];
/// A section of the sample's repository in which all of them may make topics.
const SECTION: i64 = 2;
/// Notes a client has at once, so that lists stay short.
const MOST_NOTES: usize = 5;

/// What one client was told.
#[derive(Default)]
pub(crate) struct Books {
    /// Notes by number.
    pub(crate) notes: BTreeMap<i64, Note>,
    /// How often each tool was carried out.
    pub(crate) done: BTreeMap<String, usize>,
    /// How often each refusal came, and lines that broke.
    pub(crate) refused: BTreeMap<String, usize>,
}

/// A note as its writer knows it.
pub(crate) struct Note {
    pub(crate) name: String,
    /// How often it was changed after it was made.
    pub(crate) version: usize,
    pub(crate) is_removed: bool,
}

impl Note {
    pub(crate) fn body(&self) -> String {
        format!("<p>Version {}</p>", self.version)
    }
}

/// A way to call tools.
pub(crate) trait Caller {
    /// Calls until it is done; refusals of a dead node and of a table in work are repeated.
    fn done(&mut self, books: &mut Books, tool: &'static str, arguments: &Value) -> Result<Value>;
    /// Whether this person may use the tool.
    fn may(&self, tool: &str) -> bool;
    /// What this client does besides.
    fn besides(&mut self, _books: &mut Books, _dice: &mut Dice) -> Result<()> {
        Ok(())
    }
}

/// One step of work, drawn from all there is.
pub(crate) fn step(caller: &mut impl Caller, books: &mut Books, name: &str, dice: &mut Dice) -> Result<()> {
    let own: Vec<i64> = books.notes.iter().filter(|(_, note)| !note.is_removed).map(|(id, _)| *id).collect();
    let one = own.get(dice.roll(own.len())).copied();
    match (dice.roll(13), one) {
        (0..=3, _) | (_, None) if own.len() < MOST_NOTES => create(caller, books, name),
        (4..=5, Some(id)) => update(caller, books, id),
        (0..=3 | 6, Some(id)) => remove(caller, books, id),
        (7, Some(id)) => load(caller, books, id),
        (8, _) => list(caller, books, &own),
        (9, _) => repository(caller, books, name, dice),
        (10, _) => other(caller, books, ["engine_db_locks", "engine_db_unlocks"][dice.roll(2)], &json!({})),
        (11, _) => database(caller, books, dice),
        _ => caller.besides(books, dice),
    }
}

fn create(caller: &mut impl Caller, books: &mut Books, name: &str) -> Result<()> {
    let name = format!("chaos {name} {}", books.notes.len());
    let note = Note { name, version: 0, is_removed: false };
    let saved = caller.done(books, "memory_save", &json!({"name": note.name, "body": note.body()}))?;
    ensure!(saved["saved"] == "created", "{saved}");
    let id = saved["id"].as_i64().context("no number")?;
    ensure!(books.notes.insert(id, note).is_none(), "note {id} was given twice");
    Ok(())
}

fn update(caller: &mut impl Caller, books: &mut Books, id: i64) -> Result<()> {
    let note = books.notes.get_mut(&id).context("not ours")?;
    note.version += 1;
    let body = note.body();
    let saved = caller.done(books, "memory_save", &json!({"id": id, "body": body}))?;
    ensure!(saved["saved"] == "updated" && saved["id"] == id, "{saved}");
    Ok(())
}

fn remove(caller: &mut impl Caller, books: &mut Books, id: i64) -> Result<()> {
    let removed = caller.done(books, "memory_remove", &json!({"id": id}))?;
    ensure!(removed["removed"] == 1, "removed by an answer that was lost, and not told so: {removed}");
    books.notes.get_mut(&id).context("not ours")?.is_removed = true;
    Ok(())
}

/// What was answered by one node is there on the other.
fn load(caller: &mut impl Caller, books: &mut Books, id: i64) -> Result<()> {
    let loaded = caller.done(books, "memory_load", &json!({"ids": [id]}))?;
    let note = &books.notes[&id];
    let (name, body) = (&loaded["notes"][0]["name"], &loaded["notes"][0]["body"]);
    ensure!(*name == note.name.as_str() && *body == note.body().as_str(), "wanted {}: {loaded}", note.body());
    Ok(())
}

fn list(caller: &mut impl Caller, books: &mut Books, own: &[i64]) -> Result<()> {
    let list = caller.done(books, "memory_list", &json!({}))?;
    let rows = list["notes"]["rows"].as_array().context("no rows")?;
    for id in own {
        ensure!(rows.iter().any(|row| row[0] == *id), "note {id} is not in the list");
    }
    Ok(())
}

/// A topic of the repository is made once, since its name would be taken the second time.
fn repository(caller: &mut impl Caller, books: &mut Books, name: &str, dice: &mut Dice) -> Result<()> {
    let made = books.done.get("repo_write").copied().unwrap_or_default();
    let new = json!({"action": "topic_create", "repo": SECTION, "name": format!("chaos {name} {made}")});
    match dice.roll(3) {
        0 => other(caller, books, "repo_list", &json!({})),
        1 => other(caller, books, "repo_read", &json!({"action": "topic_list", "repo": SECTION})),
        _ => other(caller, books, "repo_write", &new),
    }
}

fn database(caller: &mut impl Caller, books: &mut Books, dice: &mut Dice) -> Result<()> {
    let pool = json!({"pool": [{"do": "select", "sql": "select count(*) as n from notes"}]});
    let change = json!({"pool": [{"do": "modify", "sql": "update tags set position = position + 1"}]});
    match dice.roll(3) {
        0 => other(caller, books, "engine_db_tables", &json!({"name": "notes"})),
        1 => other(caller, books, "engine_db_execute", &change),
        _ => other(caller, books, "engine_db_select", &pool),
    }
}

fn other(caller: &mut impl Caller, books: &mut Books, tool: &'static str, arguments: &Value) -> Result<()> {
    if caller.may(tool) {
        caller.done(books, tool, arguments)?;
    }
    Ok(())
}

/// A real MCP server.
pub(crate) struct Server(Client);

impl Server {
    /// Starts it and opens a session, whatever the nodes do meanwhile.
    pub(crate) fn open(command: &mut Command, topic: &str, books: &mut Books) -> Result<Self> {
        let mut server = Self(Client::open(command, "2025-11-25")?);
        server.done(books, "session_connect", &json!({"topic": topic}))?;
        let list = server.done(books, "memory_list", &json!({}))?;
        let rows = list["notes"]["rows"].as_array().cloned().unwrap_or_default();
        let critical: Vec<Value> =
            rows.iter().filter(|row| row[2] == "kCritical").map(|row| row[0].clone()).collect();
        server.done(books, "memory_load", &json!({"ids": critical}))?;
        for tool in ["repo_list", "engine_db_locks"] {
            server.0.accept_rules(tool, json!({}))?;
        }
        Ok(server)
    }
}

impl Caller for Server {
    fn done(&mut self, books: &mut Books, tool: &'static str, arguments: &Value) -> Result<Value> {
        let data = wait_for(tool, PATIENCE, || match self.0.call(tool, arguments.clone()) {
            Ok(answer) if answer.refused() => {
                let text = answer.text();
                let row = refusal_name(&text).unwrap_or("none of the catalogue");
                *books.refused.entry(row.to_owned()).or_default() += 1;
                (!ALLOWED.contains(&row)).then(|| Err(anyhow::anyhow!("{tool} was refused ({row}): {text}")))
            }
            Ok(answer) => Some(Ok(answer.data())),
            Err(error) => Some(Err(error)),
        })?;
        *books.done.entry(tool.to_owned()).or_default() += 1;
        data
    }

    fn may(&self, _tool: &str) -> bool {
        true
    }
}
