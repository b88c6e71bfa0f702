//! Statements of agents that change rows: of one table that they may write, within the transaction of their call.

use std::time::Duration;

use serde_json::Value as Json;

use super::answer::SelectError;
use super::write::{MOST_ROWS, checked};
use crate::Tx;
use crate::schema::is_written_by_agents;
use crate::transaction::Session;

/// What a statement changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modified {
    /// Rows.
    pub affected: u64,
    /// Number of the first row, where the statement inserted some.
    pub insert_id: Option<i64>,
}

impl Tx {
    /// Carries out one statement that changes rows of `table`, where agents may write it.
    ///
    /// One that fails, or changes too many rows, leaves the transaction as it was.
    pub fn agent_modify(
        &mut self,
        sql: &str,
        params: &[(String, Json)],
        table: &str,
        time: Duration,
    ) -> Result<Modified, SelectError> {
        let (params, writes) = (checked(sql, params)?, written(table));
        if let Some(returning) = returning(sql)
            && let Ok(ids) = self.kept_or_not(|tx| {
                let ids = match &mut tx.session {
                    Session::Sqlite(session) => session.unit_returning(&returning, &params, &writes, time),
                    Session::Postgres(session) => session.unit_returning(&returning, &params, &writes, time),
                }?;
                few(ids.len() as u64)?;
                Ok(ids)
            })
        {
            return Ok(Modified { affected: ids.len() as u64, insert_id: ids.first().copied() });
        }
        let affected = self.kept_or_not(|tx| {
            let rows = match &mut tx.session {
                Session::Sqlite(session) => session.unit_execute(sql, &params, &writes, time),
                Session::Postgres(session) => session.unit_execute(sql, &params, &writes, time),
            }?;
            few(rows)?;
            Ok(rows)
        })?;
        Ok(Modified { affected, insert_id: None })
    }

    /// Inserts rows into a table that agents may write; their numbers. All or none.
    pub fn agent_insert(
        &mut self,
        table: &str,
        rows: &[Vec<(String, Json)>],
    ) -> Result<Vec<i64>, SelectError> {
        if !is_written_by_agents(table) {
            return Err(SelectError::Forbidden(format!("not authorized to change {table}")));
        }
        few(rows.len() as u64)?;
        self.kept_or_not(|tx| rows.iter().map(|row| tx.insert_one(table, row)).collect())
    }

    /// How the database goes about a statement of an agent, line by line in its own words.
    pub fn agent_plan(
        &mut self,
        sql: &str,
        params: &[(String, Json)],
        table: &str,
        time: Duration,
    ) -> Result<Vec<String>, SelectError> {
        let (params, writes) = (checked(sql, params)?, written(table));
        self.kept_or_not(|tx| match &mut tx.session {
            Session::Sqlite(session) => session.unit_plan(sql, &params, &writes, time),
            Session::Postgres(session) => session.unit_plan(sql, &params, time),
        })
    }

    /// A part that is taken back where it fails.
    fn kept_or_not<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, SelectError>,
    ) -> Result<T, SelectError> {
        self.part("pool_statement", work)
    }
}

/// The one table, as a list; of one that no agent writes, none.
fn written(table: &str) -> Vec<String> {
    if is_written_by_agents(table) { vec![table.to_owned()] } else { Vec::new() }
}

fn few(rows: u64) -> Result<(), SelectError> {
    if rows > MOST_ROWS { Err(SelectError::TooManyRows(MOST_ROWS as usize)) } else { Ok(()) }
}

/// An `insert` that also tells the numbers of its rows; `None` for another statement. One that this breaks is
/// carried out as it is.
fn returning(sql: &str) -> Option<String> {
    let (verb, _) = super::target(sql)?;
    let text = sql.trim().trim_end_matches(';').trim_end();
    (verb == "insert").then(|| format!("{text}\nreturning id"))
}
