//! The store's editable files with versions: what a call saves is on the disk before its commit, and in place after it.
//!
//! A save puts the content under `core/versions/`, by its hash, and synced; writes the version's row in the call's
//! transaction; and after the commit renames a copy into place. Whoever is killed in between leaves a file that lags
//! behind its newest row: the next start brings it up. Invariant: the row decides, so that it does not matter in
//! which order, how often or by which node files are put in place.

mod call;
mod disk;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use db::file_versions::{self, Version};
use db::{Db, Tx};
use tools::StorePath;
use wire::Stop;

pub(crate) use call::CallFiles;
use disk::Disk;
pub(crate) use disk::{LARGEST, is_hash, keep, kept};

/// The files of one store.
pub(crate) struct Files {
    disk: Disk,
    /// Held while files are put in place, so that the last one placed is the newest.
    placing: Mutex<()>,
}

impl Files {
    /// The files below a root.
    pub(crate) fn new(root: &Path) -> Self {
        Self { disk: Disk::new(root), placing: Mutex::new(()) }
    }

    /// The files as one call sees and changes them.
    pub(crate) fn for_call(&self) -> CallFiles<'_> {
        CallFiles::new(&self.disk)
    }

    /// Puts what a call saved in place. A file that cannot be put there now is brought up at the next start: the
    /// call itself is done.
    pub(crate) fn place(&self, db: &Db, paths: &[StorePath]) {
        for path in paths {
            let placed = db.read(|tx| self.bring_up(tx, path, |_, _| Ok(true)));
            if let Err(stop) = placed {
                tracing::error!(path = path.as_str(), ?stop, "A saved file was not put in place");
            }
        }
    }

    /// Brings up every file that lags behind its newest version: one that is missing, or has the content of an
    /// older one. What was changed on the disk by hand stays.
    pub(crate) fn recover(&self, db: &Db) -> Result<(), Stop> {
        let newest = db.read(|tx| Ok::<_, Stop>(file_versions::newest_of_all(tx)?))?;
        let mut paths: Vec<_> = newest.iter().filter_map(|version| StorePath::kept(&version.path)).collect();
        sort(&mut paths);
        for path in paths {
            db.read(|tx| {
                self.bring_up(tx, &path, |tx, hash| Ok(file_versions::has_been(tx, path.as_str(), hash)?))
            })?;
        }
        Ok(())
    }

    /// Makes a file what its newest version says, where `may_go` lets what is there be replaced.
    fn bring_up(
        &self,
        tx: &mut Tx,
        path: &StorePath,
        may_go: impl FnOnce(&mut Tx, &str) -> Result<bool, Stop>,
    ) -> Result<(), Stop> {
        let _alone = self.placing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Version { hash: wanted, .. }) = file_versions::newest(tx, path.as_str())? else {
            return Ok(());
        };
        let there = self.disk.read(path)?.map(|bytes| disk::hash(&bytes));
        // The mark of a folder stands for the folder, which may be there without it.
        let is_folder_gone = wanted.is_none() && path.marked_folder().is_some();
        if there == wanted && !is_folder_gone {
            return Ok(());
        }
        if let Some(hash) = &there
            && !may_go(tx, hash)?
        {
            return Ok(());
        }
        match wanted {
            Some(hash) => self.disk.put(path, &hash),
            None => self.disk.remove(path),
        }
    }
}

/// Marks of folders come last, inner ones first: a folder is removed when nothing is in it any more.
fn sort(paths: &mut [StorePath]) {
    paths.sort_by(|one, other| {
        let key = |path: &StorePath| path.marked_folder().is_some();
        key(one).cmp(&key(other)).then_with(|| other.as_str().cmp(one.as_str()))
    });
}

/// Where a root's files lie.
fn full(root: &Path, path: &StorePath) -> PathBuf {
    root.join(path.as_str())
}
