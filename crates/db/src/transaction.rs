//! One transaction over either driver.

use std::sync::Arc;

use crate::change_notes::Position;
use crate::driver::postgres::{Postgres, PostgresSession};
use crate::driver::purpose::Purpose;
use crate::driver::sqlite::{Sqlite, SqliteSession};
use crate::journal_entry::Entry;
use crate::signal::LONGEST;
use crate::{DbError, Row, Value};

/// One transaction. Dropped before its end, it rolls back.
pub struct Tx {
    pub(crate) session: Session,
    /// Whether it makes no notes of what it changes.
    pauses_changes: bool,
    /// Who changes what it changes; `None`: the store by itself.
    pub(crate) entry: Option<Entry>,
}

pub(crate) enum Session {
    Sqlite(SqliteSession),
    Postgres(PostgresSession),
}

impl Tx {
    /// Ends it and keeps what it changed, for a transaction that [`Db::begin_unit`](crate::Db::begin_unit) began.
    pub fn keep(self) -> Result<(), DbError> {
        self.commit()
    }

    pub(crate) fn of_sqlite(database: &Arc<Sqlite>, purpose: Purpose) -> Result<Self, DbError> {
        let session = Session::Sqlite(SqliteSession::begin(database, purpose)?);
        Ok(Self { session, pauses_changes: false, entry: None })
    }

    pub(crate) fn of_postgres(database: &Arc<Postgres>, purpose: Purpose) -> Result<Self, DbError> {
        let session = Session::Postgres(PostgresSession::begin(database, purpose)?);
        Ok(Self { session, pauses_changes: false, entry: None })
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

    /// Makes the triggers that note changes, where they are missing.
    pub(crate) fn install_changes(&mut self) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.install_changes(),
            Session::Postgres(session) => session.install_changes(),
        }
    }

    /// Makes the triggers of the journal, where they are missing.
    pub(crate) fn install_journal(&mut self) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.install_journal(),
            Session::Postgres(session) => session.install_journal(),
        }
    }

    /// Journals nothing of what this transaction changes from here on.
    pub(crate) fn skip_journal(&mut self) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.skip_journal(),
            Session::Postgres(session) => session.skip_journal(),
        }
    }

    pub(crate) fn pause_changes(&mut self) -> Result<(), DbError> {
        self.pauses_changes = true;
        self.skip_journal()?;
        match &mut self.session {
            Session::Sqlite(session) => session.pause_changes(),
            Session::Postgres(session) => session.pause_changes(),
        }
    }

    pub(crate) fn change_position(&mut self) -> Result<Position, DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.change_position(),
            Session::Postgres(session) => session.change_position(),
        }
    }

    /// Tables and rows of the changes that are not seen at a position.
    pub(crate) fn changes_since(
        &mut self,
        position: &Position,
        most: usize,
    ) -> Result<Vec<(String, Option<i64>)>, DbError> {
        let rows = match &mut self.session {
            Session::Sqlite(session) => session.changes_since(position, most),
            Session::Postgres(session) => session.changes_since(position, most),
        }?;
        rows.iter().map(|row| Ok((row.get("table_name")?, row.get("row_id")?))).collect()
    }

    pub(crate) fn prune_changes(&mut self, kept: i64) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.prune_changes(kept),
            Session::Postgres(session) => session.prune_changes(kept),
        }
    }

    /// Notes that anything may have changed; notes are made again, if they were not.
    pub(crate) fn tell_anything_changed(&mut self) -> Result<(), DbError> {
        self.pauses_changes = false;
        match &mut self.session {
            Session::Sqlite(session) => session.resume_changes(),
            Session::Postgres(session) => session.resume_changes(),
        }
    }

    pub(crate) fn commit(mut self) -> Result<(), DbError> {
        if self.pauses_changes {
            self.tell_anything_changed()?;
        }
        let entry = self.entry.take();
        match &mut self.session {
            Session::Sqlite(session) => session.keep_entry(entry.as_ref()),
            Session::Postgres(session) => session.keep_entry(entry.as_ref()),
        }?;
        match self.session {
            Session::Sqlite(session) => session.commit(),
            Session::Postgres(session) => session.commit(),
        }
    }
}
