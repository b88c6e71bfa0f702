//! The journal on SQLite: triggers of each table, and one row that tells them the entry of the open transaction.
//!
//! One writes at a time, so that row is its own; it is taken back before the commit. A program
//! that changes the file without it gets entries of the store.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::error::error;
use super::session::{Context, SqliteSession};
use crate::driver::purpose::Purpose;
use crate::journal_entry::{Entry, LARGE, PREFIX};
use crate::schema::{self, TableSpec};
use crate::{DbError, Value, micros};

/// Which entry a change belongs to.
const ENTRY: &str = "coalesce((select entry from journal_context), (select max(id) from journal))";
/// A change outside of our transactions: an entry of the store for all that come in the same second.
const OUTSIDE: &str = "insert into journal (time, actor, command)
  select strftime('%Y-%m-%dT%H:%M:%S.000000Z', 'now'), 'store', ''
  where (select entry from journal_context) is null and not exists (
    select 1 from journal where id = (select max(id) from journal) and actor = 'store' and command = ''
      and time = strftime('%Y-%m-%dT%H:%M:%S.000000Z', 'now'));";

impl SqliteSession {
    /// Makes the triggers as this build wants them, where they are not.
    pub(crate) fn install_journal(&mut self) -> Result<(), DbError> {
        let tables = self.table_names()?;
        let there = |name: &str| tables.iter().any(|there| there == name);
        let mut wanted = BTreeMap::new();
        if there("journal_context") {
            for table in schema::journalled().filter(|table| there(table.name)) {
                wanted.extend(triggers(table, &self.columns(table)?));
            }
        }
        self.replace_triggers(PREFIX, &wanted)
    }

    fn columns(&mut self, table: &TableSpec) -> Result<Vec<Column>, DbError> {
        let sql = "select name, lower(type) as kind from pragma_table_info(:name) order by cid";
        let rows = self.rows(sql, &[("name", table.name.into())])?;
        let column = |row: &crate::Row| {
            let name: String = row.get("name")?;
            Ok(Column { is_secret: table.is_secret(&name), name, kind: row.get("kind")? })
        };
        rows.iter().map(column).collect()
    }

    /// Tells the triggers the entry of this transaction, before its first change.
    pub(crate) fn tell_entry(&self) -> Result<(), DbError> {
        match (self.purpose(), self.context().get()) {
            (Purpose::Write | Purpose::Unit, Context::Untold) => {}
            _ => return Ok(()),
        }
        let sql = "update journal_context
                   set entry = coalesce((select seq from sqlite_sequence where name = 'journal'), 0) + 1
                   returning entry";
        let context = match self.connection()?.prepare_cached(sql) {
            Ok(mut told) => Context::Entry(told.query_row([], |row| row.get(0)).map_err(error)?),
            // Before its migration.
            Err(cause) if cause.to_string().contains("no such table") => Context::Off,
            Err(cause) => return Err(error(cause)),
        };
        self.context().set(context);
        Ok(())
    }

    /// Journals nothing of what this transaction changes from here on.
    pub(crate) fn skip_journal(&mut self) -> Result<(), DbError> {
        let sql = "update journal_context set entry = 0";
        match self.connection()?.prepare_cached(sql) {
            Ok(mut told) => told.execute([]).map(drop).map_err(error)?,
            Err(cause) if cause.to_string().contains("no such table") => {}
            Err(cause) => return Err(error(cause)),
        }
        self.context().set(Context::Off);
        Ok(())
    }

    /// Writes the entry of this transaction, if there are changes, and takes back what the triggers were told.
    pub(crate) fn keep_entry(&mut self, entry: Option<&Entry>) -> Result<(), DbError> {
        match self.context().get() {
            Context::Untold => return Ok(()),
            Context::Off => {}
            Context::Entry(number) => {
                let of = [("number", Value::Int(number))];
                let found = self
                    .rows("select 1 as yes from journal_changes where journal_id = :number limit 1", &of)?;
                if !found.is_empty() {
                    self.write_entry(number, entry)?;
                    self.move_large(number)?;
                }
            }
        }
        let sql = "update journal_context set entry = null";
        match self.connection()?.prepare_cached(sql) {
            Ok(mut told) => told.execute([]).map(drop).map_err(error),
            Err(cause) if cause.to_string().contains("no such table") => Ok(()),
            Err(cause) => Err(error(cause)),
        }
    }

    fn write_entry(&mut self, number: i64, entry: Option<&Entry>) -> Result<(), DbError> {
        let Some(entry) = entry else {
            let sql = "insert into journal (id, time, actor, command)
                       values (:id, strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'), 'store', '')";
            return self.run(sql, &[("id", number.into())]).map(drop);
        };
        self.run(
            "insert into journal (id, time, actor, user_id, princ_id, command, tool, application, topic, event, key)
             values (:id, :time, :actor, :user_id, :princ_id, :command, :tool, :application, :topic, :event, :key)",
            &[
                ("id", number.into()),
                ("time", micros(entry.time).into()),
                ("actor", entry.actor.word().into()),
                ("user_id", entry.user_id.into()),
                ("princ_id", entry.princ_id.into()),
                ("command", (&entry.command).into()),
                ("tool", (&entry.tool).into()),
                ("application", (&entry.application).into()),
                ("topic", (&entry.topic).into()),
                ("event", entry.event.into()),
                ("key", entry.key.clone().into()),
            ],
        )?;
        Ok(())
    }

    /// Puts long values of an entry where each lies once, by its hash.
    fn move_large(&mut self, number: i64) -> Result<(), DbError> {
        let large = i64::try_from(LARGE).unwrap_or(i64::MAX);
        let rows = self.rows(
            "select id, before, after from journal_changes
             where journal_id = :number and (octet_length(before) > :large or octet_length(after) > :large)",
            &[("number", number.into()), ("large", large.into())],
        )?;
        for row in rows {
            let before = self.kept(number, row.get("before")?)?;
            let after = self.kept(number, row.get("after")?)?;
            self.run(
                "update journal_changes set before = :before, after = :after where id = :id",
                &[("before", before.into()), ("after", after.into()), ("id", Value::Int(row.get("id")?))],
            )?;
        }
        Ok(())
    }

    /// A row with its long values moved away.
    fn kept(&mut self, number: i64, row: Option<String>) -> Result<Option<String>, DbError> {
        let Some(text) = row else { return Ok(None) };
        // What no JSON can say (an endless number that another program wrote) stays where it is.
        let Ok(mut values) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text) else {
            return Ok(Some(text));
        };
        for value in values.values_mut() {
            let text = value.to_string();
            if text.len() > LARGE {
                let hash = sha256(&text);
                self.run(
                    "insert into journal_values (hash, journal_id, value) values (:hash, :number, :value)
                     on conflict (hash) do update set journal_id = excluded.journal_id",
                    &[("hash", (&hash).into()), ("number", number.into()), ("value", (&text).into())],
                )?;
                *value = serde_json::json!({"hash": hash, "size": text.len()});
            }
        }
        serde_json::to_string(&values).map(Some).map_err(DbError::sql)
    }

    /// Where it is kept what the triggers know.
    fn context(&self) -> &Cell<Context> {
        &self.context
    }
}

fn sha256(text: &str) -> String {
    use std::fmt::Write as _;

    use sha2::{Digest as _, Sha256};
    Sha256::digest(text).iter().fold(String::new(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}

/// A column, as far as triggers need to know it.
struct Column {
    name: String,
    kind: String,
    is_secret: bool,
}

impl Column {
    /// Its value in JSON, exactly.
    fn json(&self, row: &str) -> String {
        let value = format!("{row}.\"{}\"", self.name);
        let unless_null = |json: &str| format!("case when {value} is null then 'null' else {json} end");
        if self.is_secret {
            return unless_null("'{\"changed\":true}'");
        }
        match self.kind.as_str() {
            "boolean" => unless_null(&format!("case when {value} then 'true' else 'false' end")),
            "double precision" => unless_null(&format!("printf('%!.17g', {value})")),
            // Other programs put bytes into any column.
            _ => format!(
                "case typeof({value}) when 'blob' then '\"\\\\x' || lower(hex({value})) || '\"' else json_quote({value}) end"
            ),
        }
    }
}

/// The triggers of a table, by name.
fn triggers(table: &TableSpec, columns: &[Column]) -> [(String, String); 3] {
    let name = table.name;
    let row = |of: &str| {
        let fields: Vec<_> =
            columns.iter().map(|column| format!("'\"{}\":' || {}", column.name, column.json(of))).collect();
        format!("'{{' || {} || '}}'", fields.join(" || ',' || "))
    };
    // Of rows without a number the whole row says which one it is.
    let difference = |of: &str| match table.has_id() {
        false => row(of),
        true => {
            let fields: Vec<_> = columns
                .iter()
                .map(|column| {
                    let (name, json) = (&column.name, column.json(of));
                    format!("iif(old.\"{name}\" is new.\"{name}\", '', ',\"{name}\":' || {json})")
                })
                .collect();
            format!("'{{' || substr({}, 2) || '}}'", fields.join(" || "))
        }
    };
    let changed: Vec<_> =
        columns.iter().map(|column| format!("old.\"{0}\" is not new.\"{0}\"", column.name)).collect();
    let changed = format!(" and ({})", changed.join(" or "));
    let trigger = |change: &str, of: &str, condition: &str, before: String, after: String| {
        let trigger = format!("{PREFIX}{change}_{name}");
        let id = if table.has_id() { format!("{of}.id") } else { "0".to_owned() };
        let sql = format!(
            "CREATE TRIGGER \"{trigger}\" after {change} on \"{name}\"
when (select entry from journal_context) is not 0{condition} begin
{OUTSIDE}
insert into journal_changes (journal_id, table_name, row_id, before, after)
values ({ENTRY}, '{name}', {id}, {before}, {after});
end"
        );
        (trigger, sql)
    };
    let null = || "null".to_owned();
    [
        trigger("insert", "new", "", null(), row("new")),
        trigger("update", "old", &changed, difference("old"), difference("new")),
        trigger("delete", "old", "", row("old"), null()),
    ]
}
