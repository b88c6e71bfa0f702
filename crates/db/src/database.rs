//! The database as the other crates see it: transactions over either driver.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::driver::postgres::{Postgres, agent_role};
use crate::driver::purpose::Purpose;
use crate::driver::sqlite::Sqlite;
use crate::migrate;
use crate::signal::Signals;
use crate::{DbError, Dialect, Tx};

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

/// See [`Db::commit_mark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitMark(Mark);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// Of which connection to the file, and its count of the others' commits.
    File(u64, i64),
    /// How often this node was told of one.
    Told(u64),
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
        if let Driver::Postgres(postgres) = &self.driver
            && let Err(cause) = agent_role::prepare(postgres)
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

    /// Whether a change would be kept: the database takes one, and there is room for more.
    ///
    /// It commits a change that nobody sees, so it costs what a small call costs.
    pub fn check_writable(&self) -> Result<(), DbError> {
        if let Driver::Sqlite(sqlite) = &self.driver {
            sqlite.check_room()?;
        }
        self.write(Tx::touch)
    }

    /// Reads in one transaction, which sees the database of one moment and can change nothing.
    pub fn read<T, E: From<DbError>>(&self, f: impl FnOnce(&mut Tx) -> Result<T, E>) -> Result<T, E> {
        self.within(Purpose::Read, f)
    }

    /// Changes in one transaction: `Ok` commits, `Err` and a panic roll back.
    pub fn write<T, E: From<DbError>>(&self, f: impl FnOnce(&mut Tx) -> Result<T, E>) -> Result<T, E> {
        self.within(Purpose::Write, f)
    }

    /// Looks whether tables can be made here, and leaves none behind; of SQLite at the most an empty file.
    pub fn check_table_making(&self) -> Result<(), DbError> {
        enum Probe {
            Made,
            Failed(DbError),
        }
        impl From<DbError> for Probe {
            fn from(error: DbError) -> Self {
                Self::Failed(error)
            }
        }
        if let Driver::Sqlite(sqlite) = &self.driver {
            sqlite.prepare_file()?;
        }
        let probed = self.write(|tx| {
            tx.run("create table shopwright_probe (id integer)", &[])?;
            // Whatever is not done to its end is taken back.
            Err::<(), _>(Probe::Made)
        });
        match probed {
            Err(Probe::Failed(error)) => Err(error),
            _ => Ok(()),
        }
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

    /// A mark that is another one after each commit that this node can know of without asking: on SQLite every one,
    /// on PostgreSQL its own and those that the server told it of. `None` where nothing is heard at the moment.
    pub fn commit_mark(&self) -> Option<CommitMark> {
        match &self.driver {
            Driver::Sqlite(sqlite) => {
                sqlite.commit_numbers().map(|(opened, number)| CommitMark(Mark::File(opened, number)))
            }
            Driver::Postgres(postgres) => {
                postgres.listeners.hears().then(|| CommitMark(Mark::Told(postgres.listeners.rung())))
            }
        }
    }

    /// Hears from now on what other nodes commit, for [`Db::commit_mark`].
    pub fn hear_commits(&self) -> Result<(), DbError> {
        self.begin_hearing().map(drop)
    }

    /// Begins to hear what other nodes change; how often something was heard.
    pub(crate) fn begin_hearing(&self) -> Result<u64, DbError> {
        match &self.driver {
            Driver::Sqlite(sqlite) => Ok(sqlite.listeners.rung()),
            Driver::Postgres(postgres) => {
                postgres.begin_hearing()?;
                Ok(postgres.listeners.rung())
            }
        }
    }

    /// Waits until something was heard again, at most so long; how often something was heard.
    pub(crate) fn wait_for_change(&self, heard: u64, timeout: Duration) -> u64 {
        match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.listeners.wait_for_ring(heard, timeout),
            Driver::Postgres(postgres) => postgres.listeners.wait_for_ring(heard, timeout),
        }
    }

    /// Begins a transaction for statements of a unit, which ends with [`Tx::keep`]; dropped, it takes all back.
    pub fn begin_unit(&self) -> Result<Tx, DbError> {
        self.begin(Purpose::Unit)
    }

    fn begin(&self, purpose: Purpose) -> Result<Tx, DbError> {
        match &self.driver {
            Driver::Sqlite(sqlite) => Tx::of_sqlite(sqlite, purpose),
            Driver::Postgres(postgres) => Tx::of_postgres(postgres, purpose),
        }
    }

    pub(crate) fn within<T, E: From<DbError>>(
        &self,
        purpose: Purpose,
        f: impl FnOnce(&mut Tx) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut tx = self.begin(purpose)?;
        let done = f(&mut tx)?;
        tx.commit()?;
        Ok(done)
    }
}
