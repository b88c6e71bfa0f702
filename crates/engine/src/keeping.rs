//! Moving a store to another database, backing it up, restoring it: what the server's owner does with all of it.
//!
//! While a store is moved or restored it is closed twice: for people by the
//! marker `shop.lock`, and for everybody who writes by the database itself
//! ([`db::WriteFreeze`]). What a killed process leaves is a closed store that is
//! whole, old or new; the same command again goes on from there, and
//! `store unlock` gives the attempt up.

mod archive;
mod backup;
mod files;
mod marks;
mod moving;
mod restore;
mod settings;
mod swap;

use std::io;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};

use db::transfer::{Phase, Progress, TransferError};
use db::{Db, DbError, FreezeReason};

use crate::config::{ConfigError, Settings};

pub use backup::{BackedUp, backup};
pub(crate) use marks::engine_mark;
pub use moving::{Move, Moved, migrate};
pub use restore::{RestoreOptions, Restored, restore};
pub use settings::shown;

/// Folders of the root that belong to the store.
const FOLDERS: [&str; 4] = ["files", "templates", "units", "profiles"];

/// Why a store was not moved, backed up, restored or opened.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
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
    /// The person wished to stop.
    #[error("stopped in the middle; nothing was changed")]
    Stopped,
    /// The backup is broken, cut off or not one.
    #[error("this backup cannot be used: {0}. The store was not touched")]
    Archive(String),
    /// There is a file where the backup is to be written that is none.
    #[error("`{0}` is there already and is no backup of a store; it was not replaced")]
    NotABackup(PathBuf),
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

impl From<TransferError> for KeepError {
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

impl From<KeepError> for TransferError {
    fn from(error: KeepError) -> Self {
        Self::Caller(Box::new(error))
    }
}

/// Refuses a database file within the folders that are swapped as a whole.
fn refuse_inside(root: &Path, url: &str) -> Result<(), KeepError> {
    let Some(file) = url.strip_prefix("sqlite:") else { return Ok(()) };
    let file = real(&root.join(file));
    let mut folders = FOLDERS.iter().map(|folder| real(&root.join(folder)));
    if folders.any(|folder| file.starts_with(folder)) { Err(KeepError::DatabaseInside) } else { Ok(()) }
}

/// A path without links and detours, as far as it is there.
fn real(path: &Path) -> PathBuf {
    let mut real = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(real.pop()),
            Component::CurDir => {}
            part => real.push(part),
        }
        if let Ok(there) = real.canonicalize() {
            real = there;
        }
    }
    real
}

fn file_error(file: &Path) -> impl FnOnce(io::Error) -> KeepError + '_ {
    move |error| KeepError::File(file.to_owned(), error)
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Rows are copied.
    Rows,
    /// What was copied is read again and compared.
    Check,
    /// Files are copied.
    Files,
    /// A backup is looked through.
    Backup,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// What is being done.
    pub what: What,
    /// The table or file.
    pub name: &'a str,
    /// Rows or bytes done.
    pub done: u64,
    /// Rows or bytes there are.
    pub all: u64,
}

/// Watches the work; `Break` stops it, and nothing is changed.
pub type Watch<'a> = &'a mut dyn FnMut(Step<'_>) -> ControlFlow<()>;

fn go_on(watch: Watch<'_>, step: Step<'_>) -> Result<(), KeepError> {
    match watch(step) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(KeepError::Stopped),
    }
}

/// A watch as the database's crate wants it.
fn rows_watch(watch: Watch<'_>) -> impl FnMut(Progress<'_>) -> Result<(), TransferError> + '_ {
    move |progress| {
        let what = match progress.phase {
            Phase::Copy => What::Rows,
            Phase::Check => What::Check,
        };
        let step = Step { what, name: progress.table, done: progress.done, all: progress.all };
        go_on(watch, step).map_err(|_| TransferError::Stopped)
    }
}

/// Opens a store that was closed, by whomever. Whether it was closed.
///
/// What a killed move or restore left is brought to an end first: a restore
/// whose rows are in goes on, anything else is given up.
pub fn unlock(root: &Path, even_if_moved: bool) -> Result<bool, KeepError> {
    let works = if swap::has_left(root) {
        // Two at once would bring the same files to their places.
        let works = marks::Works::beside_engines(root)?;
        swap::recover(root)?;
        works
    } else {
        marks::Works::beside(root)?
    };
    let was_closed = match open_database(root) {
        Some(db) => reopen(&db, even_if_moved)?,
        None => false,
    };
    let had_marker = works.open_store()?;
    Ok(was_closed || had_marker)
}

/// The database, where it can be reached: to open a store is possible without.
fn open_database(root: &Path) -> Option<Db> {
    let settings = Settings::read(root).ok()?;
    let db = Db::open(&settings.config.database, root).ok()?;
    db.write_freeze().ok()?;
    Some(db)
}

fn reopen(db: &Db, even_if_moved: bool) -> Result<bool, KeepError> {
    match db.write_freeze()? {
        None => Ok(false),
        Some(closure) if closure.reason == FreezeReason::Moved && !even_if_moved => Err(KeepError::MovedAway),
        Some(_) => Ok(db.unfreeze_writes()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_lies_outside_of_what_a_restore_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("files/a")).unwrap();
        std::fs::create_dir_all(root.join("core")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("files/a"), root.join("core/link")).unwrap();
        let inside = |url: &str| refuse_inside(root, url).is_err();
        assert!(inside("sqlite:files/x.db") && inside("sqlite:core/../units/new/x.db"));
        assert!(inside(&format!("sqlite:{}", root.join("profiles/x.db").display())));
        #[cfg(unix)]
        assert!(inside("sqlite:core/link/x.db") && !inside("sqlite:core/link/../../x.db"));
        assert!(!inside("sqlite:core/store.db") && !inside("sqlite:x.db") && !inside("sqlite:filesystem.db"));
        assert!(!inside("sqlite:files/../core/x.db") && !inside("postgres://h/files/x"));
    }
}
