//! The database as the rest of the house sees it: transactions over either driver.

mod whole;

use std::path::Path;
use std::sync::Arc;

use crate::migrate;
use crate::postgres::{Postgres, PostgresSession, reader};
use crate::signal::{LONGEST, Signals};
use crate::sqlite::{Sqlite, SqliteSession};
use crate::{DbError, Row, Value};

/// Which database is behind a [`Db`]. For messages and tests: no statement of the house depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite in this process.
    Sqlite,
    /// A PostgreSQL server.
    Postgres,
}

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Write,
    /// All tables anew: long, and without a look at every link at once.
    Fill,
}

/// A store's database. Cheap to clone; blocks, so call it from threads that may wait.
#[derive(Clone)]
pub struct Db {
    pub(crate) driver: Driver,
}

#[derive(Clone)]
pub(crate) enum Driver {
    Sqlite(Arc<Sqlite>),
    Postgres(Arc<Postgres>),
}

impl Db {
    /// Opens `sqlite:<path>` (from the store's `root`) or `postgres://…`.
    pub fn open(url: &str, root: &Path) -> Result<Self, DbError> {
        let driver = if let Some(path) = url.strip_prefix("sqlite:") {
            Driver::Sqlite(Arc::new(Sqlite::open(&root.join(path))?))
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Driver::Postgres(Arc::new(Postgres::open(url, root)?))
        } else {
            return Err(DbError::Address);
        };
        Ok(Self { driver })
    }

    /// Which database this is.
    pub fn dialect(&self) -> Dialect {
        match self.driver {
            Driver::Sqlite(_) => Dialect::Sqlite,
            Driver::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Runs the missing migrations. Several processes may do so at once: one works, the others wait.
    pub fn migrate(&self) -> Result<(), DbError> {
        match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.prepare_file()?,
            Driver::Postgres(_) => {}
        }
        self.write(|tx| migrate::run(tx, self.dialect()))?;
        if let Driver::Postgres(_) = &self.driver
            && let Err(cause) = self.write(reader::prepare)
        {
            // The store works without it; only agents' own statements do not.
            tracing::warn!(cause = ?cause, "Cannot make the login for agents' statements");
        }
        Ok(())
    }

    /// Whether the database can be reached and has this build's tables.
    pub fn ready(&self) -> Result<(), DbError> {
        self.read(migrate::check)
    }

    /// Reads in one transaction, which sees the database of one moment and can change nothing.
    pub fn read<T, E: From<DbError>>(&self, f: impl FnOnce(&mut Tx) -> Result<T, E>) -> Result<T, E> {
        self.within(Purpose::Read, f)
    }

    /// Changes in one transaction: `Ok` commits, `Err` and a panic roll back.
    pub fn write<T, E: From<DbError>>(&self, f: impl FnOnce(&mut Tx) -> Result<T, E>) -> Result<T, E> {
        self.within(Purpose::Write, f)
    }

    /// Tells all nodes something that no change of the database comes with.
    pub fn signal(&self, channel: &str, payload: &str) -> Result<(), DbError> {
        self.write(|tx| tx.signal(channel, payload))
    }

    /// What the nodes, this one too, tell from now on.
    pub fn listen(&self) -> Result<Signals, DbError> {
        match &self.driver {
            Driver::Sqlite(sqlite) => Ok(sqlite.listen()),
            Driver::Postgres(postgres) => postgres.listen(),
        }
    }

    fn within<T, E: From<DbError>>(
        &self,
        purpose: Purpose,
        f: impl FnOnce(&mut Tx) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut tx = self.begin(purpose)?;
        let done = f(&mut tx)?;
        tx.commit()?;
        Ok(done)
    }

    fn begin(&self, purpose: Purpose) -> Result<Tx, DbError> {
        let session = match &self.driver {
            Driver::Sqlite(sqlite) => Session::Sqlite(SqliteSession::begin(sqlite, purpose)?),
            Driver::Postgres(postgres) => Session::Postgres(PostgresSession::begin(postgres, purpose)?),
        };
        Ok(Tx { session })
    }
}

/// One transaction. Dropped before its end, it rolls back.
pub struct Tx {
    session: Session,
}

enum Session {
    Sqlite(SqliteSession),
    Postgres(PostgresSession),
}

impl Tx {
    pub(crate) fn of(session: PostgresSession) -> Self {
        Self { session: Session::Postgres(session) }
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

    fn commit(self) -> Result<(), DbError> {
        match self.session {
            Session::Sqlite(session) => session.commit(),
            Session::Postgres(session) => session.commit(),
        }
    }
}
