//! All rows of a table out of SQLite and into it.

use rusqlite::types::ValueRef;

use super::error::error;
use super::session::{SqliteSession, value};
use crate::transfer::table::Table;
use crate::{DbError, Value};

impl SqliteSession {
    /// Hands over the rows of a statement one after the other.
    pub(crate) fn each<E: From<DbError>>(
        &mut self,
        sql: &str,
        take: &mut dyn FnMut(&mut Vec<Value>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut statement = self.connection()?.prepare(sql).map_err(error)?;
        let width = statement.column_count();
        let mut found = statement.query([]).map_err(error)?;
        let mut values = Vec::with_capacity(width);
        while let Some(row) = found.next().map_err(error)? {
            values.clear();
            for at in 0..width {
                values.push(exactly(row.get_ref(at).map_err(error)?)?);
            }
            take(&mut values)?;
        }
        Ok(())
    }

    /// Adds a row; the statement has a `?` for each value.
    pub(crate) fn insert_row(&mut self, sql: &str, values: &[Value]) -> Result<(), DbError> {
        let mut statement = self.connection()?.prepare_cached(sql).map_err(error)?;
        for (place, value) in (1..).zip(values) {
            statement.raw_bind_parameter(place, value).map_err(error)?;
        }
        statement.raw_execute().map_err(error)?;
        Ok(())
    }

    /// Removes every row that `filter` names.
    pub(crate) fn clear(&mut self, tables: &[(&Table, &str)]) -> Result<(), DbError> {
        for (table, filter) in tables.iter().rev() {
            self.script(&format!("delete from \"{}\"{filter}", table.name))?;
        }
        Ok(())
    }

    /// The largest number that a row of this table ever had.
    pub(crate) fn last_id(&mut self, table: &Table) -> Result<i64, DbError> {
        let sql = format!(
            "select max(coalesce((select max(seq) from sqlite_sequence where name = :name), 0),
                        coalesce((select max(id) from \"{}\"), 0)) as last",
            table.name
        );
        match self.rows(&sql, &[("name", (&table.name).into())])?.first() {
            Some(row) => row.get("last"),
            None => Ok(0),
        }
    }

    /// Numbers up to this one are not given again.
    pub(crate) fn set_last_id(&mut self, table: &Table, last: i64) -> Result<(), DbError> {
        let name = || ("name", Value::from(&table.name));
        self.run("delete from sqlite_sequence where name = :name", &[name()])?;
        if last > 0 {
            let sql = "insert into sqlite_sequence (name, seq) values (:name, :last)";
            self.run(sql, &[name(), ("last", last.into())])?;
        }
        Ok(())
    }

    /// Whether every row points to rows that are there; filling does not look.
    pub(crate) fn check_links(&mut self) -> Result<(), DbError> {
        let sql = "select \"table\" || ' -> ' || \"parent\" as link from pragma_foreign_key_check limit 1";
        match self.rows(sql, &[])?.first() {
            Some(row) => Err(DbError::Dangling(row.get("link")?)),
            None => Ok(()),
        }
    }
}

/// Text that is no UTF-8 is given as bytes instead of being mended silently.
fn exactly(raw: ValueRef<'_>) -> Result<Value, DbError> {
    match raw {
        ValueRef::Text(bytes) => Ok(match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Bytes(bytes.to_vec()),
        }),
        other => value(other),
    }
}
