//! One transaction on a connection of SQLite.

use std::cell::Cell;
use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql};

use super::error::error;
use super::pool::Sqlite;
use crate::driver::purpose::Purpose;
use crate::signal::Signal;
use crate::{DbError, Row, Value};

/// What the triggers of the journal know of the open transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Context {
    /// Nothing: nothing was changed yet.
    #[default]
    Untold,
    /// The entry's number.
    Entry(i64),
    /// That its changes are not journalled, or there is no journal yet.
    Off,
}

/// A lent connection with an open transaction.
pub(crate) struct SqliteSession {
    database: Arc<Sqlite>,
    purpose: Purpose,
    /// `None` only after the end.
    connection: Option<Connection>,
    /// Told when the transaction is committed.
    signals: Vec<Signal>,
    /// What the triggers of the journal know of it.
    pub(super) context: Cell<Context>,
}

impl SqliteSession {
    pub(crate) fn begin(database: &Arc<Sqlite>, purpose: Purpose) -> Result<Self, DbError> {
        let connection = database.lend(purpose)?;
        let session = Self {
            database: Arc::clone(database),
            purpose,
            connection: Some(connection),
            signals: Vec::new(),
            context: Cell::default(),
        };
        let begin = match purpose {
            Purpose::Read => "begin",
            // Taken at once: a transaction that first reads and then wants to write could be refused.
            Purpose::Write | Purpose::Unit | Purpose::Bulk => "begin immediate",
        };
        session.connection()?.prepare_cached(begin).and_then(|mut sql| sql.execute([])).map_err(error)?;
        Ok(session)
    }

    pub(crate) fn rows(&mut self, sql: &str, params: &[(&str, Value)]) -> Result<Vec<Row>, DbError> {
        let mut statement = self.connection()?.prepare_cached(sql).map_err(error)?;
        if !statement.readonly() {
            self.tell_entry()?;
        }
        bind(&mut statement, params)?;
        let columns: Arc<[String]> = statement.column_names().map(str::to_owned).collect();
        let mut found = statement.raw_query();
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(error)? {
            let values = (0..columns.len())
                .map(|at| row.get_ref(at).map_err(error).and_then(value))
                .collect::<Result<_, _>>()?;
            rows.push(Row { columns: Arc::clone(&columns), values });
        }
        Ok(rows)
    }

    pub(crate) fn run(&mut self, sql: &str, params: &[(&str, Value)]) -> Result<u64, DbError> {
        let mut statement = self.connection()?.prepare_cached(sql).map_err(error)?;
        if !statement.readonly() {
            self.tell_entry()?;
        }
        bind(&mut statement, params)?;
        Ok(statement.raw_execute().map_err(error)? as u64)
    }

    /// Counts up a number of the file's head that is there for programs and that nothing reads.
    pub(crate) fn touch(&mut self) -> Result<(), DbError> {
        let rows = self.rows("pragma user_version", &[])?;
        let last: i64 = rows.first().map(|row| row.get("user_version")).transpose()?.unwrap_or_default();
        self.script(&format!("pragma user_version = {}", (last + 1) % 1_000_000))
    }

    pub(crate) fn signal(&mut self, channel: &str, payload: &str) {
        self.signals.push(Signal::Said { channel: channel.to_owned(), payload: payload.to_owned() });
    }

    pub(crate) fn script(&mut self, sql: &str) -> Result<(), DbError> {
        self.connection()?.execute_batch(sql).map_err(error)
    }

    pub(crate) fn commit(mut self) -> Result<(), DbError> {
        self.connection()?.prepare_cached("commit").and_then(|mut sql| sql.execute([])).map_err(error)?;
        self.database.give_back(self.purpose, self.connection.take());
        if self.purpose != Purpose::Read {
            self.database.listeners.ring();
        }
        for signal in &self.signals {
            self.database.listeners.tell(signal);
        }
        Ok(())
    }

    pub(super) fn purpose(&self) -> Purpose {
        self.purpose
    }

    pub(super) fn connection_mut(&mut self) -> Result<&mut Connection, DbError> {
        self.connection.as_mut().ok_or_else(|| DbError::sql("the transaction has ended"))
    }

    pub(super) fn connection(&self) -> Result<&Connection, DbError> {
        self.connection.as_ref().ok_or_else(|| DbError::sql("the transaction has ended"))
    }
}

impl Drop for SqliteSession {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        // Some failures end the transaction by themselves; a connection that cannot end it is not used again.
        let ended = connection.is_autocommit() || connection.execute_batch("rollback").is_ok();
        self.database.give_back(self.purpose, ended.then_some(connection));
    }
}

pub(super) fn bind(statement: &mut Statement<'_>, params: &[(&str, Value)]) -> Result<(), DbError> {
    for at in 1..=statement.parameter_count() {
        // A place without a name, `?`, is nothing that PostgreSQL knows.
        let place = statement.parameter_name(at).unwrap_or("?");
        if !params.iter().any(|(name, _)| place.strip_prefix(':') == Some(*name)) {
            return Err(DbError::Parameter(place.trim_start_matches(':').to_owned()));
        }
    }
    for (name, value) in params {
        let mut place = String::with_capacity(name.len() + 1);
        place.push(':');
        place.push_str(name);
        let at = statement.parameter_index(&place).map_err(error)?;
        let at = at.ok_or_else(|| DbError::Parameter((*name).to_owned()))?;
        statement.raw_bind_parameter(at, value).map_err(error)?;
    }
    Ok(())
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Bool(truth) => ValueRef::Integer((*truth).into()),
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

pub(super) fn value(value: ValueRef<'_>) -> Result<Value, DbError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    })
}
