//! Statements of units within a transaction that writes: what they read, change and insert.

use std::time::Duration;

use serde_json::Value as Json;

use super::answer::{Limits, SelectError, Table};
use super::select::{cell, scalar};
use crate::schema::{self, is_written_by_units};
use crate::transaction::Session;
use crate::{DbError, Tx, Value};

/// Most rows that one statement changes.
pub(super) const MOST_ROWS: u64 = 10_000;
/// Longest statement.
const LONGEST: usize = 100_000;

impl Tx {
    /// Carries out one statement of a unit that reads; it sees what this transaction wrote.
    pub fn unit_select(
        &mut self,
        sql: &str,
        params: &[(String, Json)],
        limits: &Limits,
    ) -> Result<Table, SelectError> {
        let params = checked(sql, params)?;
        match &mut self.session {
            Session::Sqlite(session) => session.unit_select(sql, &params, limits),
            Session::Postgres(session) => session.unit_select(sql, &params, limits),
        }
    }

    /// Carries out one statement of a unit that changes rows of the tables in `writes`; how many it changed.
    ///
    /// One that fails, or changes too many rows, leaves the transaction as it was.
    pub fn unit_execute(
        &mut self,
        sql: &str,
        params: &[(String, Json)],
        writes: &[String],
        time: Duration,
    ) -> Result<u64, SelectError> {
        let params = checked(sql, params)?;
        // Of what the manifest names, what no unit writes is left out.
        let writes: Vec<String> = writes.iter().filter(|name| is_written_by_units(name)).cloned().collect();
        self.mark(STATEMENT)?;
        let done = match &mut self.session {
            Session::Sqlite(session) => session.unit_execute(sql, &params, &writes, time),
            Session::Postgres(session) => session.unit_execute(sql, &params, &writes, time),
        };
        let done = match done {
            Ok(rows) if rows > MOST_ROWS => Err(SelectError::TooManyRows(MOST_ROWS as usize)),
            done => done,
        };
        self.end_mark(STATEMENT, done.is_ok())?;
        done
    }

    /// Inserts rows into a table of `writes`; their numbers. All or none.
    pub fn unit_insert(
        &mut self,
        table: &str,
        rows: &[Vec<(String, Json)>],
        writes: &[String],
    ) -> Result<Vec<i64>, SelectError> {
        if !writes.iter().any(|name| name == table) || !is_written_by_units(table) {
            return Err(SelectError::Forbidden(format!("not authorized to change {table}")));
        }
        if rows.len() as u64 > MOST_ROWS {
            return Err(SelectError::TooManyRows(MOST_ROWS as usize));
        }
        self.mark(STATEMENT)?;
        let ids = rows.iter().map(|row| self.insert_one(table, row)).collect::<Result<Vec<_>, _>>();
        self.end_mark(STATEMENT, ids.is_ok())?;
        ids
    }

    pub(super) fn insert_one(&mut self, table: &str, row: &[(String, Json)]) -> Result<i64, SelectError> {
        for (name, _) in row {
            if !is_column(table, name) {
                return Err(SelectError::Wrong(format!("{table} has no column `{}`", short(name))));
            }
        }
        let values = row
            .iter()
            .map(|(name, value)| Ok((name.as_str(), cell(name, value)?)))
            .collect::<Result<Vec<(&str, Value)>, SelectError>>()?;
        let names: Vec<String> = row.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let places: Vec<String> = row.iter().map(|(name, _)| format!(":{name}")).collect();
        let what = match row.is_empty() {
            true => "default values".to_owned(),
            false => format!("({}) values ({})", names.join(", "), places.join(", ")),
        };
        let made = self.row(&format!("insert into \"{table}\" {what} returning id"), &values);
        let made =
            made.map_err(told)?.ok_or_else(|| SelectError::Wrong("nothing was inserted".to_owned()))?;
        Ok(made.get("id")?)
    }

    /// Begins a part of the transaction that can be taken back by itself.
    pub fn mark(&mut self, name: &'static str) -> Result<(), DbError> {
        // What the journal is told within the part would be taken back with it.
        if let Session::Sqlite(session) = &self.session {
            session.tell_entry()?;
        }
        self.script(&format!("savepoint {name}"))
    }

    /// Ends the part that [`Tx::mark`] began, and takes it back if it is not kept.
    pub fn end_mark(&mut self, name: &'static str, is_kept: bool) -> Result<(), DbError> {
        if !is_kept {
            self.script(&format!("rollback to savepoint {name}"))?;
        }
        self.script(&format!("release savepoint {name}"))
    }

    /// Does something as a part of the transaction, which is taken back by itself where it fails.
    pub fn part<T, E: From<DbError>>(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.mark(name)?;
        let done = work(self);
        self.end_mark(name, done.is_ok())?;
        done
    }
}

/// The part that one statement is.
const STATEMENT: &str = "statement";

pub(super) fn checked<'a>(
    sql: &str,
    params: &'a [(String, Json)],
) -> Result<Vec<(&'a str, Value)>, SelectError> {
    if sql.contains('\0') {
        return Err(SelectError::Wrong("a zero byte".to_owned()));
    }
    if sql.len() > LONGEST {
        return Err(SelectError::TooLarge);
    }
    params.iter().map(|(name, value)| Ok((name.as_str(), scalar(name, value)?))).collect()
}

/// Whether a table has this column; of one that the owner made, a plain name is left to the database.
fn is_column(table: &str, name: &str) -> bool {
    match schema::table(table) {
        Some(table) => table.columns().any(|column| column.name == name),
        None => {
            !name.is_empty()
                && name.len() <= 63
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
                && !name.starts_with(|letter: char| letter.is_ascii_digit())
        }
    }
}

fn short(name: &str) -> String {
    name.chars().take(60).filter(|letter| !letter.is_control()).collect()
}

/// What a script did wrong is told to it; what the database cannot do is not.
fn told(cause: DbError) -> SelectError {
    match cause {
        DbError::Conflict(words) | DbError::Dangling(words) => SelectError::Wrong(words),
        DbError::Sql(cause) => SelectError::Wrong(cause.to_string()),
        other => SelectError::Db(other),
    }
}
