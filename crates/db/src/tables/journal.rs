//! The journal: every changed row of the store's data, whoever wrote it. Triggers write it, in the transaction of the
//! change.

use jiff::Timestamp;
use serde_json::Value as Json;

pub use crate::journal_entry::{Actor, Entry};
use crate::{DbError, Row, Tx, Value, micros};

/// One changed row of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The table.
    pub table: String,
    /// Number of the row; 0 where rows have none.
    pub row_id: i64,
    /// The row before, of one that was changed the columns that differ; `None` where it was not there.
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

/// Says who changes what this transaction changes; unsaid, it is the store by itself.
pub fn by(tx: &mut Tx, entry: Entry) {
    tx.entry = Some(entry);
}

/// Journals nothing of what this transaction changes from here on: for what is nobody's doing, and for filling a store.
pub fn skip(tx: &mut Tx) -> Result<(), DbError> {
    tx.skip_journal()
}

/// Most changes that [`prune`] removes at once.
const STEP: u32 = 500;

/// Removes a little of what was written before a moment, the oldest first; how many rows.
pub fn prune(tx: &mut Tx, before: Timestamp) -> Result<u64, DbError> {
    let sql = "select id from journal where time < :before order by id limit 50";
    let mut removed = 0;
    for row in tx.rows(sql, &[("before", micros(before).into())])? {
        let of = || ("journal_id", Value::Int(row.get("id").unwrap_or_default()));
        removed += tx.run(
            "delete from journal_changes where id in
               (select id from journal_changes where journal_id = :journal_id order by id limit :most)",
            &[of(), ("most", STEP.into())],
        )?;
        if removed >= STEP.into() {
            return Ok(removed);
        }
        tx.run("delete from journal_values where journal_id = :journal_id", &[of()])?;
        removed += tx.run("delete from journal where id = :journal_id", &[of()])?;
    }
    Ok(removed)
}

/// The newest entries before the number `before` (all of them for `None`), newest first, at most `most`.
pub fn list(tx: &mut Tx, before: Option<i64>, most: u32) -> Result<Vec<Written>, DbError> {
    let rows = tx.rows(
        "select id, time, actor, user_id, princ_id, command, tool, application, topic, event, key, refusal from journal
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
            actor: Actor::of(&row.get::<String>("actor")?).unwrap_or(Actor::Store),
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

/// A row of the journal; what another program put there and is no JSON is shown as the text it is.
fn kept(row: &Row, column: &str) -> Option<Json> {
    match row.value(column)? {
        Value::Text(text) => Some(serde_json::from_str(text).unwrap_or_else(|_| Json::from(text.as_str()))),
        Value::Bytes(bytes) => Some(Json::from(String::from_utf8_lossy(bytes))),
        _ => None,
    }
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
                before: kept(row, "before"),
                after: kept(row, "after"),
            })
        })
        .collect()
}
