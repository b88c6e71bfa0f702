//! One transaction over either driver.

use std::sync::Arc;

use crate::driver::postgres::{Postgres, PostgresSession};
use crate::driver::purpose::Purpose;
use crate::driver::sqlite::{Sqlite, SqliteSession};
use crate::signal::LONGEST;
use crate::{DbError, Row, Value};

/// One transaction. Dropped before its end, it rolls back.
pub struct Tx {
    pub(crate) session: Session,
}

pub(crate) enum Session {
    Sqlite(SqliteSession),
    Postgres(PostgresSession),
}

impl Tx {
    pub(crate) fn of_sqlite(database: &Arc<Sqlite>, purpose: Purpose) -> Result<Self, DbError> {
        Ok(Self { session: Session::Sqlite(SqliteSession::begin(database, purpose)?) })
    }

    pub(crate) fn of_postgres(database: &Arc<Postgres>, purpose: Purpose) -> Result<Self, DbError> {
        Ok(Self { session: Session::Postgres(PostgresSession::begin(database, purpose)?) })
    }

    /// All rows of a statement; `:name` stands for a value of `params`.
    pub fn rows(&mut self, sql: &str, params: &[(&str, Value)]) -> Result<Vec<Row>, DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.rows(sql, params),
            Session::Postgres(session) => session.rows(sql, params),
        }
    }

    /// The first row of a statement.
    pub fn row(&mut self, sql: &str, params: &[(&str, Value)]) -> Result<Option<Row>, DbError> {
        Ok(self.rows(sql, params)?.into_iter().next())
    }

    /// Runs a statement; answers how many rows it touched.
    pub fn run(&mut self, sql: &str, params: &[(&str, Value)]) -> Result<u64, DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.run(sql, params),
            Session::Postgres(session) => session.run(sql, params),
        }
    }

    /// Waits until no other transaction, on any node, holds the same name; held to the end of this one.
    ///
    /// For what must not happen twice at once and has no row yet to hold.
    pub fn lock(&mut self, name: &str) -> Result<(), DbError> {
        match &mut self.session {
            // A writing transaction of SQLite is the only one there is.
            Session::Sqlite(_) => Ok(()),
            Session::Postgres(session) => session.lock(name, false),
        }
    }

    /// Like [`Tx::lock`], but many may hold it so at once, while nobody holds it alone.
    pub fn lock_shared(&mut self, name: &str) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(_) => Ok(()),
            Session::Postgres(session) => session.lock(name, true),
        }
    }

    /// Holds a row to the end of this transaction, so that what is read of it is still true when it is changed.
    pub fn lock_row(&mut self, table: &'static str, id: i64) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(_) => Ok(()),
            Session::Postgres(session) => session.lock_row(table, id),
        }
    }

    /// Tells all nodes, once this transaction is committed; `payload` has at most [`crate::signal::LONGEST`] bytes.
    pub fn signal(&mut self, channel: &str, payload: &str) -> Result<(), DbError> {
        if channel.len() + payload.len() > LONGEST {
            return Err(DbError::Parameter("payload".to_owned()));
        }
        match &mut self.session {
            Session::Sqlite(session) => {
                session.signal(channel, payload);
                Ok(())
            }
            Session::Postgres(session) => session.signal(channel, payload),
        }
    }

    /// Changes what is no row, so that the commit has something to keep.
    pub(crate) fn touch(&mut self) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.touch(),
            Session::Postgres(session) => session.touch(),
        }
    }

    /// The `id` of the row that an `insert … returning id` made.
    pub(crate) fn insert(&mut self, sql: &str, params: &[(&str, Value)]) -> Result<i64, DbError> {
        match self.row(sql, params)? {
            Some(row) => row.get("id"),
            None => Err(DbError::Conflict("nothing was inserted".to_owned())),
        }
    }

    /// Several statements without values, for migrations.
    pub(crate) fn script(&mut self, sql: &str) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.script(sql),
            Session::Postgres(session) => session.script(sql),
        }
    }

    pub(crate) fn commit(self) -> Result<(), DbError> {
        match self.session {
            Session::Sqlite(session) => session.commit(),
            Session::Postgres(session) => session.commit(),
        }
    }
}
