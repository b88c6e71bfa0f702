//! Opening a store that was closed, by whomever.

use std::path::Path;

use db::{Db, FreezeReason};

use super::error::MaintenanceError;
use super::{locks, staging};
use crate::settings::Settings;

/// Opens a store that was closed, by whomever. Whether it was closed.
///
/// What a killed move or restore left is brought to an end first: a restore
/// whose rows are in goes on, anything else is given up.
pub fn unlock(root: &Path, even_if_moved: bool) -> Result<bool, MaintenanceError> {
    let lock = if staging::has_left(root) {
        // Two at once would bring the same files to their places.
        let lock = locks::MaintenanceLock::beside_engines(root)?;
        staging::recover(root)?;
        lock
    } else {
        locks::MaintenanceLock::beside(root)?
    };
    let was_closed = match open_database(root) {
        Some(db) => reopen(&db, even_if_moved)?,
        None => false,
    };
    let had_marker = lock.open_store()?;
    Ok(was_closed || had_marker)
}

/// The database, where it can be reached: to open a store is possible without.
fn open_database(root: &Path) -> Option<Db> {
    let settings = Settings::read(root).ok()?;
    let db = Db::open(&settings.config.database, root).ok()?;
    db.write_freeze().ok()?;
    Some(db)
}

fn reopen(db: &Db, even_if_moved: bool) -> Result<bool, MaintenanceError> {
    match db.write_freeze()? {
        None => Ok(false),
        Some(freeze) if freeze.reason == FreezeReason::Moved && !even_if_moved => {
            Err(MaintenanceError::MovedAway)
        }
        Some(_) => Ok(db.unfreeze_writes()?),
    }
}
