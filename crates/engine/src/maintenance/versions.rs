//! What the store's files were at each save, in backups: contents by their hash, each once.
//!
//! A content never changes under its hash, so none is in the way of another, and whoever is killed while he
//! restores them leaves nothing that counts before its row is there. One that is missing or damaged is told; it is an
//! old version of one file, and no reason to have no backup.

use std::path::Path;

use db::{Db, file_versions};

use super::archive::VERSIONS;
use super::archive::read::Entry;
use super::archive::write::Writer;
use super::error::{MaintenanceError, file_error};
use super::progress::{Activity, Step, Watch, go_on};
use crate::files::{LARGEST, keep, kept};

/// Hashes that are read from the database at once.
const AT_ONCE: u32 = 1000;

/// Calls for each content that a version has, with its hash and a path that had it.
fn each(
    db: &Db,
    take: &mut dyn FnMut(&str, String) -> Result<(), MaintenanceError>,
) -> Result<(), MaintenanceError> {
    let mut last = String::new();
    loop {
        let some = db.read(|tx| file_versions::hashes(tx, &last, AT_ONCE))?;
        let Some((next, _)) = some.last() else { return Ok(()) };
        last.clone_from(next);
        for (hash, path) in some {
            take(&hash, path)?;
        }
    }
}

/// Adds the contents of all versions to a backup; the paths of those that are missing or damaged.
pub(super) fn write(
    root: &Path,
    db: &Db,
    writer: &mut Writer,
    watch: Watch<'_>,
) -> Result<Vec<String>, MaintenanceError> {
    let (_, all) = db.read(file_versions::extent)?;
    let (mut done, mut lost) = (0, Vec::new());
    each(db, &mut |hash, path| {
        go_on(watch, Step { what: Activity::Files, name: &path, done, all })?;
        match kept(root, hash) {
            Ok(Some(bytes)) => {
                done += bytes.len() as u64;
                writer.add(&format!("{VERSIONS}{hash}"), &bytes)
            }
            Ok(None) | Err(_) => {
                lost.push(path);
                Ok(())
            }
        }
    })?;
    Ok(lost)
}

/// Takes a content out of a backup into its place.
pub(super) fn restore(root: &Path, hash: &str, entry: &mut Entry<'_>) -> Result<(), MaintenanceError> {
    let bytes = entry.whole(LARGEST)?;
    // Whatever a backup calls it, it is kept by what it is.
    let kept = keep(root, &bytes).map_err(file_error(root))?;
    if kept != hash {
        tracing::warn!(hash, kept, "A version's content in the backup has another hash");
    }
    Ok(())
}

/// The paths whose versions have a content that is missing or damaged.
pub(super) fn lost(root: &Path, db: &Db) -> Result<Vec<String>, MaintenanceError> {
    let mut lost = Vec::new();
    each(db, &mut |hash, path| {
        if !matches!(kept(root, hash), Ok(Some(_))) {
            lost.push(path);
        }
        Ok(())
    })?;
    Ok(lost)
}
