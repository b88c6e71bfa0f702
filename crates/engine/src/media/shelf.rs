//! Pictures in sizes that were made once: a folder of bounded size, and how many are made at once.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tokio::sync::{Semaphore, SemaphorePermit};
use uuid::Uuid;

use super::sizes::Size;
use super::{Encoding, Kind};

/// The folder below the root.
const FOLDER: &str = "core/cache/images";
/// Most bytes that are kept.
const MOST_BYTES: u64 = 1 << 30;
/// Most requests that wait for a picture to be made.
const MOST_WAITING: usize = 64;
/// Largest file that is read back.
const LARGEST: u64 = 32 << 20;

/// A picture in a size, as it is known on the shelf.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    hash: String,
    size: Size,
    encoding: Encoding,
}

/// What was taken off the shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Its kind.
    pub(crate) kind: Kind,
    /// Its file.
    pub(crate) bytes: Vec<u8>,
}

/// Locks of the pictures that are being made.
type Busy = HashMap<Key, Arc<Mutex<()>>>;

/// The made pictures of a store.
pub(crate) struct Shelf {
    folder: PathBuf,
    most: u64,
    /// Bytes on the shelf; `u64::MAX` until they were counted.
    used: AtomicU64,
    busy: Mutex<Busy>,
    makers: Semaphore,
    waiting: AtomicUsize,
}

impl Shelf {
    /// The shelf of a store's root.
    pub(crate) fn new(root: &Path) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self::with(root, MOST_BYTES, (cores / 2).clamp(1, 4))
    }

    fn with(root: &Path, most: u64, makers: usize) -> Self {
        Self {
            folder: root.join(FOLDER),
            most,
            used: AtomicU64::new(u64::MAX),
            busy: Mutex::default(),
            makers: Semaphore::new(makers),
            waiting: AtomicUsize::new(0),
        }
    }

    /// The key of a picture whose content has this hash.
    pub(crate) fn key(&self, sha256: &str, size: Size, encoding: Encoding) -> Option<Key> {
        // The hash becomes a file's name.
        let is_hash = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| Key { hash: sha256.to_ascii_lowercase(), size, encoding })
    }

    /// Leave to make a picture; `None` where too many wait already.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        if let Ok(permit) = self.makers.try_acquire() {
            return Some(permit);
        }
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        // Counted down even where the visitor goes away while waiting.
        let _waits = Waits(&self.waiting);
        self.makers.acquire().await.ok()
    }

    /// A picture that was made before.
    pub(crate) fn find(&self, key: &Key) -> Option<Taken> {
        kinds(key.encoding).into_iter().find_map(|kind| {
            let bytes = wire::files::read_regular(&self.path(key, kind), LARGEST).ok()?;
            (Kind::of(&bytes) == Some(kind)).then_some(Taken { kind, bytes })
        })
    }

    /// A picture, made now if it was not before; of several who ask at once, one makes it.
    pub(crate) fn get<E>(
        &self,
        key: &Key,
        make: impl FnOnce() -> Result<(Kind, Vec<u8>), E>,
    ) -> Result<Taken, E> {
        let lock = Arc::clone(self.busy().entry(key.clone()).or_default());
        let held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match self.find(key) {
            Some(taken) => Ok(taken),
            None => make().map(|(kind, bytes)| {
                // A full or closed disk costs time, not the picture.
                if let Err(error) = self.put(&self.path(key, kind), &bytes) {
                    tracing::warn!(cause = %error, "A picture could not be kept");
                }
                Taken { kind, bytes }
            }),
        };
        drop(held);
        let mut busy = self.busy();
        // Two: the map's and this one.
        if Arc::strong_count(&lock) <= 2 {
            busy.remove(key);
        }
        answer
    }

    fn busy(&self) -> std::sync::MutexGuard<'_, Busy> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, key: &Key, kind: Kind) -> PathBuf {
        let folder = key.hash.get(..2).unwrap_or_default();
        self.folder.join(folder).join(format!("{}-{}.{}", key.hash, key.size.mark(), kind.ending()))
    }

    fn put(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let fresh = folder.join(format!(".{}", Uuid::new_v4().simple()));
        fs::write(&fresh, bytes)?;
        fs::rename(&fresh, path)?;
        let more = bytes.len() as u64;
        let used = match self.used.load(Ordering::Relaxed) {
            u64::MAX => self.files()?.iter().map(|file| file.bytes).sum(),
            used => used + more,
        };
        self.used.store(used, Ordering::Relaxed);
        if used > self.most { self.clear_old() } else { Ok(()) }
    }

    /// Takes the oldest pictures off until a quarter is free.
    fn clear_old(&self) -> io::Result<()> {
        let mut files = self.files()?;
        files.sort_by_key(|file| file.made);
        let mut used: u64 = files.iter().map(|file| file.bytes).sum();
        for file in files {
            if used <= self.most / 4 * 3 {
                break;
            }
            fs::remove_file(&file.path)?;
            used -= file.bytes;
        }
        self.used.store(used, Ordering::Relaxed);
        Ok(())
    }

    fn files(&self) -> io::Result<Vec<Kept>> {
        let mut files = Vec::new();
        for folder in fs::read_dir(&self.folder)? {
            let folder = folder?;
            if !folder.file_type()?.is_dir() {
                continue;
            }
            for entry in fs::read_dir(folder.path())? {
                let (entry, meta) = entry.and_then(|entry| entry.metadata().map(|meta| (entry, meta)))?;
                let made = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                files.push(Kept { path: entry.path(), bytes: meta.len(), made });
            }
        }
        Ok(files)
    }
}

/// A file on the shelf.
struct Kept {
    path: PathBuf,
    bytes: u64,
    made: SystemTime,
}

/// One who waits.
struct Waits<'a>(&'a AtomicUsize);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn kinds(encoding: Encoding) -> Vec<Kind> {
    match encoding {
        Encoding::Webp => vec![Kind::Webp],
        Encoding::Common => vec![Kind::Jpeg, Kind::Png],
    }
}

#[cfg(test)]
mod tests {
    use super::super::sizes::Fit;
    use super::*;

    const SIZE: Size = Size { width: 160, height: None, fit: Fit::Inside };

    fn hash(number: usize) -> String {
        format!("{number:064x}")
    }

    /// Bytes that look like a picture of so many bytes.
    fn file(bytes: usize) -> Vec<u8> {
        let mut file = b"\xff\xd8\xff\xe0".to_vec();
        file.resize(bytes, 0);
        file
    }

    #[test]
    fn of_many_who_ask_at_once_one_makes_it() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::with(folder.path(), 1 << 20, 2);
        let key = shelf.key(&hash(1), SIZE, Encoding::Common).unwrap();
        let made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let taken = shelf.get(&key, || {
                        made.fetch_add(1, Ordering::Relaxed);
                        Ok::<_, ()>((Kind::Jpeg, file(10)))
                    });
                    assert_eq!(taken.unwrap().bytes, file(10));
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
        assert!(shelf.busy().is_empty());
    }

    #[test]
    fn the_shelf_stays_within_its_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::with(folder.path(), 10_000, 1);
        for number in 0..40 {
            let key = shelf.key(&hash(number), SIZE, Encoding::Common).unwrap();
            shelf.get(&key, || Ok::<_, ()>((Kind::Jpeg, file(1000)))).unwrap();
            let used: u64 = shelf.files().unwrap().iter().map(|file| file.bytes).sum();
            assert!(used <= 10_000, "{used}");
        }
        assert!(!shelf.files().unwrap().is_empty());
    }

    #[test]
    fn what_is_no_hash_names_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::with(folder.path(), 1, 1);
        assert_eq!(shelf.key("../../etc/passwd", SIZE, Encoding::Webp), None);
    }

    #[tokio::test]
    async fn only_so_many_wait() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::with(folder.path(), 1, 1);
        let held = shelf.turn().await.unwrap();
        shelf.waiting.store(MOST_WAITING, Ordering::Relaxed);
        assert!(shelf.turn().await.is_none());
        shelf.waiting.store(0, Ordering::Relaxed);
        drop(held);
        assert!(shelf.turn().await.is_some());
    }
}
