//! A store moves to another database.
//!
//! The order is what keeps every acknowledged write: the store is closed for
//! people, its database for everybody; then its rows are read, put into the
//! other database in one transaction and compared there; that one is closed too
//! until the settings name it. Killed anywhere in between, the settings name a
//! database that has all rows, nothing writes to either, and the same command
//! again takes it from there.

use std::path::Path;

use db::transfer::{self, Contents, Table, TableSum};
use db::{Db, DbError, FreezeReason, WriteFreeze};

use super::marks::Works;
use super::{KeepError, Watch, refuse_inside, rows_watch, settings, swap};
use crate::config::Settings;

/// A move that is wished for.
#[derive(Clone, Debug)]
pub struct Move {
    /// Address of the database to move to.
    pub to: String,
    /// Rows that are there are removed.
    pub replace: bool,
}

/// A store that was moved.
#[derive(Clone, Debug)]
pub struct Moved {
    /// Every table with what it holds on both sides; empty where an earlier move only had to be ended.
    pub tables: Vec<(Table, TableSum)>,
    /// Address of the old database.
    pub from: String,
    /// The store is still closed: its owner had closed it, or an engine runs that must be started anew.
    pub is_closed: bool,
    /// An engine runs that knows nothing of the move.
    pub engine_runs: bool,
}

/// Moves a store to another database.
pub fn migrate(root: &Path, wish: &Move, watch: Watch<'_>) -> Result<Moved, KeepError> {
    if !swap::is_going_on(root) {
        // Nothing is locked or made where no store is.
        Settings::read(root)?;
    }
    let mut works = Works::alone(root)?;
    swap::recover(root)?;
    // Only now: a restore that was brought to its end has put its own settings into their place.
    let address = Settings::read(root)?.config.database;
    refuse_inside(root, &wish.to)?;
    let from = Db::open(&address, root)?;
    let to = Db::open(&wish.to, root).map_err(KeepError::Target)?;
    if is_same(&address, &wish.to, root) {
        return finish_earlier(&from, &works, address);
    }
    let closure = closure(&from, &to, wish.replace)?;
    works.close_store("migrate")?;
    let tables = match carry(root, &from, &to, &closure, wish, watch) {
        Ok(tables) => tables,
        Err(error) => {
            // The settings name the old database still.
            from.unfreeze_writes()?;
            works.give_back()?;
            return Err(error);
        }
    };
    to.unfreeze_writes().map_err(KeepError::Target)?;
    let is_closed = works.finish()?;
    Ok(Moved { tables, from: address, is_closed, engine_runs: !works.has_no_engine() })
}

fn is_same(one: &str, other: &str, root: &Path) -> bool {
    let file = |url: &str| url.strip_prefix("sqlite:").and_then(|path| root.join(path).canonicalize().ok());
    one == other || file(one).is_some_and(|path| file(other) == Some(path))
}

/// A move that was killed after the settings had named the new database.
fn finish_earlier(db: &Db, works: &Works, from: String) -> Result<Moved, KeepError> {
    match db.write_freeze()? {
        Some(WriteFreeze { reason: FreezeReason::Copy, .. }) => {
            db.unfreeze_writes()?;
            let is_closed = works.finish()?;
            Ok(Moved { tables: Vec::new(), from, is_closed, engine_runs: !works.has_no_engine() })
        }
        _ => Err(KeepError::SamePlace),
    }
}

/// The closure of this move, or of a killed one that goes on; an error where rows would be lost.
fn closure(from: &Db, to: &Db, replace: bool) -> Result<WriteFreeze, KeepError> {
    let held = transfer::contents(to).map_err(KeepError::Target)?;
    let (here, there) = (from.write_freeze()?, to.write_freeze().map_err(KeepError::Target)?);
    let is_own_copy = match (&here, &there) {
        (Some(here), Some(there)) => there.reason == FreezeReason::Copy && here.token == there.token,
        _ => false,
    };
    if held == Contents::Rows && !replace && !is_own_copy {
        return Err(KeepError::NotEmpty);
    }
    match here {
        Some(closure) if closure.reason == FreezeReason::Moved && !is_own_copy => Err(KeepError::MovedAway),
        Some(closure) => Ok(closure.because(FreezeReason::Moving)),
        None => Ok(WriteFreeze::new(FreezeReason::Moving)?),
    }
}

/// Everything between closing the old database and naming the new one.
fn carry(
    root: &Path,
    from: &Db,
    to: &Db,
    closure: &WriteFreeze,
    wish: &Move,
    watch: Watch<'_>,
) -> Result<Vec<(Table, TableSum)>, KeepError> {
    bring_up(from)?;
    from.freeze_writes(closure)?;
    if to.write_freeze().map_err(KeepError::Target)?.as_ref() == Some(closure) {
        // Two addresses of one database.
        return Err(KeepError::SamePlace);
    }
    bring_up(to).map_err(KeepError::Target)?;
    let mut report = rows_watch(watch);
    let tables = from.read(|from| {
        to.bulk_write(|to| {
            to.unfreeze_writes()?;
            let tables = transfer::copy(from, to, &mut report)?;
            to.freeze_writes(&closure.because(FreezeReason::Copy))?;
            Ok::<_, transfer::TransferError>(tables)
        })
    })?;
    // Before the settings change: from now on nobody opens the old one by mistake.
    from.freeze_writes(&closure.because(FreezeReason::Moved))?;
    settings::set_database(root, &wish.to)?;
    Ok(tables)
}

/// Brings a database to this build, even if a killed command of an older one left it closed.
pub(super) fn bring_up(db: &Db) -> Result<(), DbError> {
    match db.migrate() {
        Err(DbError::WritesFrozen) => {
            db.unfreeze_writes()?;
            db.migrate()
        }
        done => done,
    }
}
