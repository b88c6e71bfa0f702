//! What can go wrong with the database.

use std::error::Error;

/// Why the database did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// The address in the settings is of no known form. It is not repeated: it may hold a password.
    #[error("the database's address must be `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/NAME`")]
    Address,
    /// A letter in the login or password that means something else in an address.
    #[error("the database's address: `{0}` in a login or password is written `{1}`")]
    Letter(char, &'static str),
    /// How the line to the server is to be kept secret is not understood, or cannot be done.
    #[error("the database's address: {0}")]
    Tls(String),
    /// The database cannot be opened or reached.
    #[error("the database cannot be reached")]
    Unreachable(#[source] Box<dyn Error + Send + Sync>),
    /// The line broke while a change was being committed: nobody knows whether it was.
    #[error("the line to the database broke while a change was being committed")]
    CommitLost(#[source] Box<dyn Error + Send + Sync>),
    /// Someone else writes for longer than this call may wait, or changed the same rows at once.
    #[error("the database is busy with another change; repeat")]
    Busy,
    /// A row with this key is there already.
    #[error("the database has a row of this key already: {0}")]
    Conflict(String),
    /// A row that is pointed to is missing, or still pointed to.
    #[error("rows of the database would point to nothing: {0}")]
    Dangling(String),
    /// A statement failed.
    #[error("the database refused a statement")]
    Sql(#[source] Box<dyn Error + Send + Sync>),
    /// A column is missing or holds a value of another kind.
    #[error("column `{column}` of the database: wanted {wanted}, got {got}")]
    Column {
        /// Name of the column.
        column: String,
        /// What the reader wanted.
        wanted: &'static str,
        /// What is there.
        got: String,
    },
    /// A statement and its parameters do not fit.
    #[error("parameter `{0}` of a statement has no value, or no place")]
    Parameter(String),
    /// The database is being moved, or was moved: nobody may write to it.
    #[error("the database is closed: it is being moved, or was moved elsewhere")]
    WritesFrozen,
    /// A newer build has brought the tables to its form.
    #[error("a newer build has worked on this database; this one does not know all of its tables")]
    Newer,
    /// The database belongs to something else.
    #[error("the database has a table `{0}` of another program; name an empty one")]
    Foreign(String),
    /// The tables are missing or older than this build.
    #[error("the database is not migrated to this build")]
    NotMigrated,
}

impl DbError {
    pub(crate) fn sql(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Sql(error.into())
    }

    pub(crate) fn unreachable(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unreachable(error.into())
    }
}
