//! The store's files as one call sees them: what it saved itself is there for it at once.

use std::collections::HashMap;
use std::path::Path;

use db::Tx;
use db::file_versions::{self, NewVersion, Version};
use tools::{FileChange, StoreEntry, StoreFiles, StorePath, StoredFile};
use wire::Stop;

use super::disk::{Disk, hash};
use crate::http::attachment::{Attachment, Source};

/// The files of one call.
pub(crate) struct CallFiles<'a> {
    disk: &'a Disk,
    /// What the call changed: `None` is removed.
    changed: HashMap<StorePath, Option<StoredFile>>,
    /// The file that goes out with the answer.
    attached: Option<Attachment>,
}

impl<'a> CallFiles<'a> {
    pub(super) fn new(disk: &'a Disk) -> Self {
        Self { disk, changed: HashMap::new(), attached: None }
    }

    /// The store's root.
    pub(crate) fn root(&self) -> &'a Path {
        self.disk.root()
    }

    /// The paths that the call changed.
    pub(crate) fn changed(self) -> Vec<StorePath> {
        let mut paths: Vec<_> = self.changed.into_keys().collect();
        super::sort(&mut paths);
        paths
    }

    /// The file that goes out with the answer.
    pub(crate) fn attached(self) -> Option<Attachment> {
        self.attached
    }

    /// A file as it was before this call. Where the disk lags behind the newest version, the version counts.
    fn current(&self, tx: &mut Tx, path: &StorePath) -> Result<Option<StoredFile>, Stop> {
        let there = self.disk.read(path)?;
        let Some(newest) = file_versions::newest(tx, path.as_str())? else {
            return Ok(there.map(|bytes| StoredFile { version: unsaved(&bytes), bytes }));
        };
        let version = newest.id;
        let there_hash = there.as_deref().map(hash);
        match (there, newest.hash) {
            (there, wanted) if there_hash == wanted => Ok(there.map(|bytes| StoredFile { bytes, version })),
            (Some(bytes), wanted) => {
                let lags = file_versions::has_been(tx, path.as_str(), &hash(&bytes))?;
                match (lags, wanted) {
                    (false, _) => Ok(Some(StoredFile { version: unsaved(&bytes), bytes })),
                    (true, None) => Ok(None),
                    (true, Some(wanted)) => {
                        Ok(Some(StoredFile { bytes: self.disk.content(&wanted)?, version }))
                    }
                }
            }
            (None, Some(wanted)) => Ok(Some(StoredFile { bytes: self.disk.content(&wanted)?, version })),
            (None, None) => Ok(None),
        }
    }
}

/// The version of a content that no tool saved: a negative number of its own.
fn unsaved(bytes: &[u8]) -> i64 {
    let digest = *blake3::hash(bytes).as_bytes();
    let mut number = [0; 8];
    number[2..].copy_from_slice(&digest[..6]);
    -i64::from_be_bytes(number).max(1)
}

impl StoreFiles for CallFiles<'_> {
    fn load(&mut self, tx: &mut Tx, path: &StorePath) -> Result<Option<StoredFile>, Stop> {
        match self.changed.get(path) {
            Some(file) => Ok(file.clone()),
            None => self.current(tx, path),
        }
    }

    fn change(&mut self, tx: &mut Tx, change: FileChange<'_>) -> Result<Version, Stop> {
        let path = change.path;
        file_versions::hold(tx, path.as_str())?;
        // What was changed on the disk by hand is a version too, so that it can be had back.
        if let Some(file) = self.load(tx, path)?
            && file.version < 0
        {
            let hash = self.disk.keep(&file.bytes)?;
            let by_hand = NewVersion {
                path: path.as_str(),
                hash: Some(&hash),
                size: size(&file.bytes),
                user_id: None,
                time: change.time,
                application: "",
                tool: "",
                moved_from: None,
            };
            file_versions::add(tx, &by_hand)?;
        }
        let hash = change.content.map(|bytes| self.disk.keep(bytes)).transpose()?;
        let new = NewVersion {
            path: path.as_str(),
            hash: hash.as_deref(),
            size: change.content.map_or(0, size),
            user_id: Some(change.user_id),
            time: change.time,
            application: change.application,
            tool: change.tool,
            moved_from: change.moved_from,
        };
        let id = file_versions::add(tx, &new)?;
        let file = change.content.map(|bytes| StoredFile { bytes: bytes.to_vec(), version: id });
        self.changed.insert(path.clone(), file);
        let version = file_versions::find(tx, id)?;
        version.ok_or_else(|| wire::Fault::new("a version is not there after it was written").into())
    }

    fn content(&mut self, hash: &str) -> Result<Vec<u8>, Stop> {
        self.disk.content(hash)
    }

    fn send(&mut self, tx: &mut Tx, path: &StorePath) -> Result<Option<u64>, Stop> {
        // What has versions is small, and the newest of them counts. Anything else is read from the disk as it goes.
        let has_versions = file_versions::newest(tx, path.as_str())?.is_some();
        self.attached = if has_versions {
            let bytes = self.load(tx, path)?.map(|file| file.bytes);
            bytes.map(|bytes| Attachment { size: bytes.len() as u64, source: Source::Bytes(bytes) })
        } else {
            self.disk.open(path)?.map(|(file, size)| Attachment { size, source: Source::File(file) })
        };
        Ok(self.attached.as_ref().map(|attached| attached.size))
    }

    fn has_folder(&mut self, tx: &mut Tx, path: &StorePath) -> Result<bool, Stop> {
        let mark = path.folder_mark();
        match self.changed.get(&mark) {
            Some(mark) => Ok(mark.is_some()),
            None => Ok(self.disk.has_folder(path)?
                || file_versions::newest(tx, mark.as_str())?.is_some_and(|newest| newest.hash.is_some())),
        }
    }

    fn entries(&mut self, below: &str) -> Result<Vec<StoreEntry>, Stop> {
        self.disk.entries(below)
    }
}

fn size(bytes: &[u8]) -> i64 {
    i64::try_from(bytes.len()).unwrap_or(i64::MAX)
}
