//! Notes of changed rows on SQLite: triggers of each table.

use std::collections::BTreeMap;

use super::session::SqliteSession;
use crate::change_notes::{EVERYTHING, PREFIX, PRUNED, Position, Seen, told_tables};
use crate::schema::{Sets, TableSpec};
use crate::{DbError, Row, Value};

impl SqliteSession {
    /// Makes the triggers as this build wants them, where they are not.
    pub(crate) fn install_changes(&mut self) -> Result<(), DbError> {
        let tables = self.table_names()?;
        let wanted: BTreeMap<String, String> = told_tables()
            .filter(|table| tables.iter().any(|there| there == table.name))
            .flat_map(triggers)
            .collect();
        self.replace_triggers(PREFIX, &wanted)
    }

    /// Makes these triggers the only ones whose names begin so.
    pub(super) fn replace_triggers(
        &mut self,
        prefix: &str,
        wanted: &BTreeMap<String, String>,
    ) -> Result<(), DbError> {
        let there = self.triggers(prefix)?;
        if there == *wanted {
            return Ok(());
        }
        for name in there.keys() {
            self.script(&format!("drop trigger \"{name}\""))?;
        }
        wanted.values().try_for_each(|trigger| self.script(trigger))
    }

    fn triggers(&mut self, prefix: &str) -> Result<BTreeMap<String, String>, DbError> {
        let sql = "select name, sql from sqlite_master
                   where type = 'trigger' and substr(name, 1, length(:prefix)) = :prefix";
        let rows = self.rows(sql, &[("prefix", prefix.into())])?;
        rows.iter().map(|row| Ok((row.get("name")?, row.get("sql")?))).collect()
    }

    pub(crate) fn pause_changes(&mut self) -> Result<(), DbError> {
        let there = self.triggers(PREFIX)?;
        there.keys().try_for_each(|name| self.script(&format!("drop trigger \"{name}\"")))
    }

    /// Notes that anything may have changed, and makes notes again.
    pub(crate) fn resume_changes(&mut self) -> Result<(), DbError> {
        self.install_changes()?;
        if self.table_names()?.iter().any(|table| table == "changes") {
            let sql = "insert into changes (table_name) values (:everything)";
            self.run(sql, &[("everything", EVERYTHING.into())])?;
        }
        Ok(())
    }

    pub(crate) fn change_position(&mut self) -> Result<Position, DbError> {
        let rows = self.rows("select coalesce(max(id), 0) as last from changes", &[])?;
        let last = rows.first().map_or(Ok(0), |row| row.get("last"))?;
        Ok(Position(Seen::UpTo(last)))
    }

    pub(crate) fn changes_since(&mut self, position: &Position, most: usize) -> Result<Vec<Row>, DbError> {
        let Position(Seen::UpTo(last)) = position else {
            return Err(DbError::Parameter("position".to_owned()));
        };
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.rows(
            "select table_name, row_id from changes where id > :last order by id limit :most",
            &[("last", Value::Int(*last)), ("most", most.into())],
        )
    }

    /// Keeps the newest changes; the newest of the others stays as a mark.
    pub(crate) fn prune_changes(&mut self, kept: i64) -> Result<(), DbError> {
        let of = [("kept", Value::Int(kept))];
        self.run(
            &format!(
                "update changes set table_name = '{PRUNED}', row_id = null
                 where id = (select id from changes order by id desc limit 1 offset :kept)"
            ),
            &of,
        )?;
        let sql =
            "delete from changes where id < (select id from changes order by id desc limit 1 offset :kept)";
        self.run(sql, &of)?;
        Ok(())
    }
}

/// The triggers of a table, by name.
fn triggers(table: &TableSpec) -> [(String, String); 3] {
    let name = table.name;
    let note = |row: &str| {
        let id = if table.has_id() { format!("{row}.id") } else { "null".to_owned() };
        format!("insert into changes (table_name, row_id) values ('{name}', {id});")
    };
    // A row may get another number; the former one is gone then.
    let renumbered = if table.has_id() {
        format!("insert into changes (table_name, row_id) select '{name}', old.id where old.id <> new.id;")
    } else {
        String::new()
    };
    // What left a set changed that one too.
    let moved = match table.sets {
        None => String::new(),
        Some(Sets::Column(column)) => set_note(table, "old", &format!("old.{column} is not new.{column}")),
        Some(Sets::Element) => {
            set_note(table, "old", "(old.elem_id is not new.elem_id or old.entity is not new.entity)")
        }
    };
    let trigger = |change: &str, notes: String| {
        let trigger = format!("{PREFIX}{change}_{name}");
        let sql = format!("CREATE TRIGGER \"{trigger}\" after {change} on \"{name}\" begin {notes} end");
        (trigger, sql)
    };
    [
        trigger("insert", note("new") + &set_note(table, "new", "true")),
        trigger("update", note("new") + &renumbered + &set_note(table, "new", "true") + &moved),
        trigger("delete", note("old") + &set_note(table, "old", "true")),
    ]
}

/// Notes in which set of rows a change was, where that is told of the table.
fn set_note(table: &TableSpec, row: &str, condition: &str) -> String {
    let name = table.name;
    let (set, id) = match table.sets {
        None => return String::new(),
        Some(Sets::Column(column)) => (format!("'{name}.{column}'"), format!("{row}.{column}")),
        Some(Sets::Element) => (format!("'{name}.' || {row}.entity"), format!("{row}.elem_id")),
    };
    format!(
        "insert into changes (table_name, row_id) select {set}, {id} where {id} is not null and {condition};"
    )
}
