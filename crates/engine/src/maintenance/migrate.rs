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

use super::database_address;
use super::error::MaintenanceError;
use super::locks::MaintenanceLock;
use super::progress::{Watch, rows_watch};
use super::staging;
use crate::new_file::check_replace;
use crate::settings::{ConfigError, Settings, config_file};

/// A move that is wished for.
#[derive(Clone, Debug)]
pub struct Migration {
    /// Address of the database to move to.
    pub to: String,
    /// Rows that are there are removed.
    pub replace: bool,
}

/// A store that was moved.
#[derive(Clone, Debug)]
pub struct Migrated {
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
pub fn migrate(root: &Path, migration: &Migration, watch: Watch<'_>) -> Result<Migrated, MaintenanceError> {
    if !staging::is_going_on(root) {
        // Nothing is locked or made where no store is.
        Settings::read(root)?;
    }
    let mut lock = MaintenanceLock::alone(root)?;
    staging::recover(root)?;
    // Only now: a restore that was brought to its end has put its own settings into their place.
    let address = Settings::read(root)?.config.database;
    let from = Db::open(&address, root)?;
    if address != migration.to {
        database_address::check(root, &migration.to)?;
    }
    let to = Db::open(&migration.to, root).map_err(MaintenanceError::Target)?;
    if is_same(&address, &migration.to, root) {
        return finish_earlier(&from, &lock, address);
    }
    let freeze = wanted_freeze(&from, &to, migration.replace)?;
    check_end(root, &to)?;
    lock.close_store("migrate")?;
    let tables = match carry(root, &from, &to, &freeze, migration, watch) {
        Ok(tables) => tables,
        Err(error) => {
            // The settings name the old database still.
            from.unfreeze_writes()?;
            lock.give_back()?;
            return Err(error);
        }
    };
    to.unfreeze_writes().map_err(MaintenanceError::Target)?;
    let is_closed = lock.finish()?;
    Ok(Migrated { tables, from: address, is_closed, engine_runs: !lock.has_no_engine() })
}

fn is_same(one: &str, other: &str, root: &Path) -> bool {
    let file = |url: &str| url.strip_prefix("sqlite:").and_then(|path| root.join(path).canonicalize().ok());
    one == other || file(one).is_some_and(|path| file(other) == Some(path))
}

/// A move that was killed after the settings had named the new database.
fn finish_earlier(db: &Db, lock: &MaintenanceLock, from: String) -> Result<Migrated, MaintenanceError> {
    match db.write_freeze()? {
        Some(WriteFreeze { reason: FreezeReason::Copy, .. }) => {
            db.unfreeze_writes()?;
            let is_closed = lock.finish()?;
            Ok(Migrated { tables: Vec::new(), from, is_closed, engine_runs: !lock.has_no_engine() })
        }
        _ => Err(MaintenanceError::SamePlace),
    }
}

/// The freeze of this move, or of a killed one that goes on; an error where rows would be lost.
fn wanted_freeze(from: &Db, to: &Db, replace: bool) -> Result<WriteFreeze, MaintenanceError> {
    let held = transfer::contents(to).map_err(MaintenanceError::Target)?;
    let (here, there) = (from.write_freeze()?, to.write_freeze().map_err(MaintenanceError::Target)?);
    let is_own_copy = match (&here, &there) {
        (Some(here), Some(there)) => there.reason == FreezeReason::Copy && here.token == there.token,
        _ => false,
    };
    if held == Contents::Rows && !replace && !is_own_copy {
        return Err(MaintenanceError::NotEmpty);
    }
    match here {
        Some(freeze) if freeze.reason == FreezeReason::Moved && !is_own_copy => {
            Err(MaintenanceError::MovedAway)
        }
        Some(freeze) => Ok(freeze.because(FreezeReason::Moving)),
        None => Ok(WriteFreeze::new(FreezeReason::Moving)?),
    }
}

/// Looks whether the move can come to its end, and changes nothing.
fn check_end(root: &Path, to: &Db) -> Result<(), MaintenanceError> {
    let config = root.join(wire::paths::CONFIG);
    check_replace(&config).map_err(ConfigError::Write)?;
    match to.check_table_making() {
        // An earlier move that was killed has made them.
        Ok(()) | Err(DbError::WritesFrozen) => Ok(()),
        Err(error) => Err(MaintenanceError::Target(error)),
    }
}

/// Everything between closing the old database and naming the new one.
fn carry(
    root: &Path,
    from: &Db,
    to: &Db,
    freeze: &WriteFreeze,
    migration: &Migration,
    watch: Watch<'_>,
) -> Result<Vec<(Table, TableSum)>, MaintenanceError> {
    bring_up(from)?;
    from.freeze_writes(freeze)?;
    if to.write_freeze().map_err(MaintenanceError::Target)?.as_ref() == Some(freeze) {
        // Two addresses of one database.
        return Err(MaintenanceError::SamePlace);
    }
    bring_up(to).map_err(MaintenanceError::Target)?;
    let mut report = rows_watch(watch);
    let tables = from.read(|from| {
        to.bulk_write(|to| {
            to.unfreeze_writes()?;
            let tables = transfer::copy(from, to, &mut report)?;
            to.freeze_writes(&freeze.because(FreezeReason::Copy))?;
            Ok::<_, transfer::TransferError>(tables)
        })
    })?;
    // Before the settings change: from now on nobody opens the old one by mistake.
    from.freeze_writes(&freeze.because(FreezeReason::Moved))?;
    config_file::set_database(root, &migration.to)?;
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
