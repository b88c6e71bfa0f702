//! What a file looked like when it was read: enough to see that it is another one now.

use std::fs::Metadata;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// A file younger than this may still change within one tick of the file system's clock.
const YOUNG: Duration = Duration::from_secs(2);

/// What a file looked like.
#[derive(Clone, Debug)]
pub(crate) struct Stamp {
    changed: Option<SystemTime>,
    bytes: u64,
    /// The number of the file in its file system: a file that was renamed into place has another one.
    node: u64,
    /// Hash of the content, where the file was too young to be told apart without.
    hash: Option<blake3::Hash>,
    /// Since then the file was seen to be the same, and old enough.
    settled: Arc<AtomicBool>,
}

impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        let own = (self.changed, self.bytes, self.node, self.hash);
        own == (other.changed, other.bytes, other.node, other.hash)
    }
}

impl Eq for Stamp {}

impl Stamp {
    /// The stamp of a file that was just read; `None` where there is none.
    pub(crate) fn of(path: &Path, content: &[u8]) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        let hash = is_young(&meta).then(|| blake3::hash(content));
        Some(Self {
            changed: meta.modified().ok(),
            bytes: meta.len(),
            node: node(&meta),
            hash,
            settled: Arc::default(),
        })
    }

    /// Whether the file still looks so.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        let Ok(meta) = std::fs::metadata(path) else { return false };
        if meta.len() != self.bytes || node(&meta) != self.node || meta.modified().ok() != self.changed {
            return false;
        }
        let Some(hash) = self.hash.filter(|_| !self.settled.load(Ordering::Relaxed)) else { return true };
        let is_same = std::fs::read(path).is_ok_and(|content| blake3::hash(&content) == hash);
        // Whoever writes it from now on gives it another time.
        if is_same && !is_young(&meta) {
            self.settled.store(true, Ordering::Relaxed);
        }
        is_same
    }
}

/// Whether a path that was looked at is as it was: the same file, or none as before.
pub(crate) fn is_as_it_was(path: &Path, stamp: Option<&Stamp>) -> bool {
    match stamp {
        Some(stamp) => stamp.holds(path),
        None => !path.exists(),
    }
}

fn is_young(meta: &Metadata) -> bool {
    let age = meta.modified().ok().and_then(|changed| changed.elapsed().ok());
    age.is_none_or(|age| age < YOUNG)
}

#[cfg(unix)]
fn node(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn node(_: &Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_equal_size_and_time_is_told_apart_while_it_is_young() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.htm");
        std::fs::write(&path, "one").unwrap();
        let stamp = Stamp::of(&path, b"one").unwrap();
        assert!(stamp.holds(&path));
        let changed = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&path, "two").unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(changed).unwrap();
        assert!(!stamp.holds(&path));
        std::fs::remove_file(&path).unwrap();
        assert!(!stamp.holds(&path) && is_as_it_was(&path, None));
    }
}
