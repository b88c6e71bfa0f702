//! What a statement of an agent may take, and what comes of it.

use std::time::Duration;

use serde_json::Value as Json;

use crate::DbError;

/// How much one statement may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Rows of the answer.
    pub rows: usize,
    /// Bytes of one value.
    pub value: usize,
    /// Bytes of all values together.
    pub bytes: usize,
    /// Time.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rows: 5000, value: 1 << 20, bytes: 16 << 20, time: Duration::from_secs(10) }
    }
}

/// Rows as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Values, in the order of the columns.
    pub rows: Vec<Vec<Json>>,
}

/// Why a statement was not carried out to its end.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// The statement is wrong, in the database's words.
    #[error("{0}")]
    Wrong(String),
    /// The statement wants more than reading the store's data.
    #[error("only one statement that reads the store's data is carried out: {0}")]
    Forbidden(String),
    /// A parameter has no place, no value, or a list or an object for a value.
    #[error("parameter `{0}` has no place, no value or no single value")]
    Parameter(String),
    /// More rows than allowed.
    #[error("more than {0} rows")]
    TooManyRows(usize),
    /// More bytes than allowed, in a value or altogether, or in between.
    #[error("values larger than allowed")]
    TooLarge,
    /// Longer than allowed.
    #[error("stopped after {0:?}")]
    TooLong(Duration),
    /// The database has no login for agents' statements.
    #[error("the database has no login for agents' statements: {0}")]
    NotReady(String),
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// The rows as they come in, counted against the limits.
pub(crate) struct Collected<'a> {
    limits: &'a Limits,
    table: Table,
    bytes: usize,
}

impl<'a> Collected<'a> {
    pub(crate) fn new(columns: Vec<String>, limits: &'a Limits) -> Self {
        Self { limits, table: Table { columns, rows: Vec::new() }, bytes: 0 }
    }

    pub(crate) fn push(&mut self, row: Vec<Json>) -> Result<(), SelectError> {
        if self.table.rows.len() >= self.limits.rows {
            return Err(SelectError::TooManyRows(self.limits.rows));
        }
        for value in &row {
            let bytes = value.as_str().map_or(8, str::len);
            self.bytes += bytes;
            if bytes > self.limits.value || self.bytes > self.limits.bytes {
                return Err(SelectError::TooLarge);
            }
        }
        self.table.rows.push(row);
        Ok(())
    }

    pub(crate) fn finish(self) -> Table {
        self.table
    }
}
