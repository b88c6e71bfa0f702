//! The journal: every change made through the agent's endpoint, in the transaction of the change.

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::{DbError, Row, Tx, micros};

/// Who does something, with what, and when. One entry for a call, with all its changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Number; `None` until the first change is written.
    pub id: Option<i64>,
    /// When.
    pub time: Timestamp,
    /// The person.
    pub user_id: Option<i64>,
    /// The principal whose right let the call through.
    pub princ_id: Option<i64>,
    /// The command.
    pub command: String,
    /// The tool.
    pub tool: String,
    /// The agent application.
    pub application: String,
    /// The conversation's topic.
    pub topic: String,
    /// The event that launched the session.
    pub event: Option<i64>,
    /// Idempotency key of the call.
    pub key: Option<String>,
}

impl Entry {
    /// An entry of which only the necessary is known; the rest is set by its fields.
    pub fn new(time: Timestamp, user_id: i64, command: &str) -> Self {
        Self {
            id: None,
            time,
            user_id: Some(user_id),
            princ_id: None,
            command: command.to_owned(),
            tool: String::new(),
            application: String::new(),
            topic: String::new(),
            event: None,
            key: None,
        }
    }
}

/// One changed row of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The table.
    pub table: String,
    /// Number of the row.
    pub row_id: i64,
    /// The row before; `None` where it was not there.
    pub before: Option<Json>,
    /// The row after; `None` where it is gone.
    pub after: Option<Json>,
}

/// An entry as it was written, with its changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Who, with what, when.
    pub entry: Entry,
    /// The refusal, where the call was refused.
    pub refusal: Option<String>,
    /// What it changed, in order.
    pub changes: Vec<Change>,
}

/// Writes one changed row; writes the entry itself with its first change.
pub fn change(
    tx: &mut Tx,
    entry: &mut Entry,
    table: &str,
    row_id: i64,
    before: Option<&Json>,
    after: Option<&Json>,
) -> Result<(), DbError> {
    let journal_id = match entry.id {
        Some(id) => id,
        None => insert(tx, entry, None)?,
    };
    entry.id = Some(journal_id);
    tx.run(
        "insert into journal_changes (journal_id, table_name, row_id, before, after)
         values (:journal_id, :table_name, :row_id, :before, :after)",
        &[
            ("journal_id", journal_id.into()),
            ("table_name", table.into()),
            ("row_id", row_id.into()),
            ("before", before.map(Json::to_string).into()),
            ("after", after.map(Json::to_string).into()),
        ],
    )?;
    Ok(())
}

/// Writes a call that was refused, and so changed nothing.
pub fn refused(tx: &mut Tx, entry: &Entry, refusal: &str) -> Result<i64, DbError> {
    insert(tx, entry, Some(refusal))
}

fn insert(tx: &mut Tx, entry: &Entry, refusal: Option<&str>) -> Result<i64, DbError> {
    tx.insert(
        "insert into journal (time, user_id, princ_id, command, tool, application, topic, event, key, refusal)
         values (:time, :user_id, :princ_id, :command, :tool, :application, :topic, :event, :key, :refusal)
         returning id",
        &[
            ("time", micros(entry.time).into()),
            ("user_id", entry.user_id.into()),
            ("princ_id", entry.princ_id.into()),
            ("command", (&entry.command).into()),
            ("tool", (&entry.tool).into()),
            ("application", (&entry.application).into()),
            ("topic", (&entry.topic).into()),
            ("event", entry.event.into()),
            ("key", entry.key.clone().into()),
            ("refusal", refusal.into()),
        ],
    )
}

/// The newest entries before the number `before` (all of them for `None`), newest first, at most `most`.
pub fn list(tx: &mut Tx, before: Option<i64>, most: u32) -> Result<Vec<Written>, DbError> {
    let rows = tx.rows(
        "select id, time, user_id, princ_id, command, tool, application, topic, event, key, refusal from journal
         where id < :before order by id desc limit :most",
        &[("before", before.unwrap_or(i64::MAX).into()), ("most", most.into())],
    )?;
    rows.iter().map(|row| written(tx, row)).collect()
}

fn written(tx: &mut Tx, row: &Row) -> Result<Written, DbError> {
    let id = row.get("id")?;
    Ok(Written {
        entry: Entry {
            id: Some(id),
            time: row.get("time")?,
            user_id: row.get("user_id")?,
            princ_id: row.get("princ_id")?,
            command: row.get("command")?,
            tool: row.get("tool")?,
            application: row.get("application")?,
            topic: row.get("topic")?,
            event: row.get("event")?,
            key: row.get("key")?,
        },
        refusal: row.get("refusal")?,
        changes: changes(tx, id)?,
    })
}

/// What an entry changed, in order.
pub fn changes(tx: &mut Tx, entry: i64) -> Result<Vec<Change>, DbError> {
    let rows = tx.rows(
        "select table_name, row_id, before, after from journal_changes where journal_id = :journal_id order by id",
        &[("journal_id", entry.into())],
    )?;
    rows.iter()
        .map(|row| {
            Ok(Change {
                table: row.get("table_name")?,
                row_id: row.get("row_id")?,
                before: row.get("before")?,
                after: row.get("after")?,
            })
        })
        .collect()
}
