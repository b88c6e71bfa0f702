//! Why a store was not moved, backed up, restored or opened.

use std::io;
use std::path::{Path, PathBuf};

use db::DbError;
use db::transfer::TransferError;

use crate::settings::ConfigError;

/// Why a store was not moved, backed up, restored or opened.
#[derive(Debug, thiserror::Error)]
pub enum MaintenanceError {
    /// The settings cannot be used.
    #[error("config.json {0}")]
    Config(#[from] ConfigError),
    /// The store's database cannot be used.
    #[error("the store's database cannot be used")]
    Db(#[from] DbError),
    /// The other database cannot be used.
    #[error("the database to move to cannot be used")]
    Target(#[source] DbError),
    /// Rows did not come out, go in or come out the same.
    #[error("the rows cannot be moved")]
    Rows(#[source] TransferError),
    /// A file cannot be read or written.
    #[error("`{0}`: {1}")]
    File(PathBuf, #[source] io::Error),
    /// The backup's file cannot be written, as on a full disk.
    #[error("the backup `{0}` cannot be written: {1}")]
    Unwritten(PathBuf, #[source] io::Error),
    /// Another of these commands is at work.
    #[error("another `shopwright store` command moves, backs up or restores this store now")]
    AtWork,
    /// An engine runs and lets people in.
    #[error(
        "an engine runs on this store: stop it, or close the store first (`shopwright store lock`), and repeat"
    )]
    EngineRuns,
    /// The store is in that database already.
    #[error("the store is in this database already")]
    SamePlace,
    /// The other database has rows.
    #[error(
        "the database to move to holds rows already; `--replace` removes them and puts this store's in their place"
    )]
    NotEmpty,
    /// The store's database was moved away.
    #[error(
        "the rows of this store's database were moved to another one; put that one's address into config.json. To \
         work with the old rows all the same: `shopwright store unlock --moved`"
    )]
    MovedAway,
    /// A backup of what is half restored or moved.
    #[error(
        "a restore of this store, or its move to another database, was not ended: rows and files may not belong \
         together. Repeat that command, or give it up (`shopwright store unlock`), and back up then"
    )]
    Unfinished,
    /// A database file among what a restore replaces.
    #[error(
        "a database cannot lie in the folders `files`, `templates`, `units` and `profiles` of the store: their \
         content is replaced as a whole when the store is restored. `sqlite:core/store.db` is a good place"
    )]
    DatabaseInside,
    /// A database file in a place that is not the store's to give.
    #[error("`{0}` is no place for the store's database: {1}. `sqlite:core/store.db` is a good one")]
    DatabasePath(String, String),
    /// The person wished to stop.
    #[error("stopped in the middle; nothing was changed")]
    Stopped,
    /// The backup is broken, cut off or not one.
    #[error("this backup cannot be used: {0}. The store was not touched")]
    Archive(String),
    /// There is a file where the backup is to be written that is none.
    #[error("`{0}` is there already and is no backup of a store; it was not replaced")]
    NotABackup(PathBuf),
    /// There is a file where the backup is written until it is whole.
    #[error("`{0}` is there already and is not the beginning of a backup; move it away, and repeat")]
    ForeignPart(PathBuf),
    /// Something cannot make place for what is restored.
    #[error("`{0}` cannot make place for what is in the backup: {1}. Nothing was changed")]
    InTheWay(PathBuf, String),
    /// A backup is no stream.
    #[error("a backup is written into a file, not to the standard output; name the file")]
    Stdout,
    /// A backup within what is backed up.
    #[error("a backup cannot be written into the folders it is made of")]
    Inside,
    /// Files changed all the time.
    #[error(
        "files changed while they were copied, again and again (last `{0}`): close the store for the time \
         (`shopwright store lock`), or repeat in a quiet hour"
    )]
    Unquiet(String),
    /// A name that is no text.
    #[error("the name of `{0}` is no UTF-8 text, which a backup cannot hold; rename the file")]
    Name(PathBuf),
    /// A new root needs a database.
    #[error(
        "name the database to restore into: `--database sqlite:core/store.db` or `--database postgres://…`"
    )]
    NoDatabase,
}

impl From<TransferError> for MaintenanceError {
    fn from(error: TransferError) -> Self {
        match error {
            TransferError::Stopped => Self::Stopped,
            TransferError::Caller(error) => match error.downcast::<Self>() {
                Ok(own) => *own,
                Err(other) => Self::Rows(TransferError::Caller(other)),
            },
            other => Self::Rows(other),
        }
    }
}

impl From<MaintenanceError> for TransferError {
    fn from(error: MaintenanceError) -> Self {
        Self::Caller(Box::new(error))
    }
}

/// Tells which file an error is of.
pub(super) fn file_error(file: &Path) -> impl FnOnce(io::Error) -> MaintenanceError + '_ {
    move |error| MaintenanceError::File(file.to_owned(), error)
}
