//! The two databases by name.

/// Which database is behind a [`crate::Db`]. For messages and tests: no statement of ours depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite in this process.
    Sqlite,
    /// A PostgreSQL server.
    Postgres,
}
