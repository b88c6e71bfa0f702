//! The store's files: which there are, and whether they stayed as they were.
//!
//! A backup's files must be of the moment of its rows, and nothing stops who
//! writes files. So the folders are looked at before and after: where nothing
//! changed in between, every moment in between had these files.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::error::{MaintenanceError, file_error};
use super::folders::{FOLDERS, OLD, STAGE};
use crate::mounts::Fixed;

/// Clocks of file systems tick this seldom: a file that changed within a tick may have changed once more.
const TICK: Duration = Duration::from_millis(20);
/// How often it is waited for a quiet tick.
const TRIES: usize = 20;

/// All files of a store.
#[derive(Debug, Default)]
pub(super) struct FileTree {
    pub(super) files: Vec<Found>,
    pub(super) folders: Vec<Folder>,
    /// Links and other things that are no files, what is mounted there, and the disk's own `lost+found`.
    pub(super) left_out: Vec<String>,
}

/// A file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its name from the root, with `/`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) size: u64,
    pub(super) mode: u32,
    /// When it was changed, in seconds.
    pub(super) modified: u64,
    /// Changes with every change of the file.
    mark: Mark,
}

/// A folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folder {
    pub(super) name: String,
    pub(super) mode: u32,
}

/// Times of change in nanoseconds, and the file's number.
#[derive(Debug, PartialEq, Eq)]
struct Mark(i128, i128, u64);

impl FileTree {
    /// Looks at all files, in a tick in which none of them changed.
    pub(super) fn look(root: &Path) -> Result<Self, MaintenanceError> {
        for _ in 0..TRIES {
            let before = SystemTime::now();
            let tree = Self::scan(root)?;
            let quiet = nanos(before.checked_sub(TICK).unwrap_or(before));
            if tree.files.iter().all(|file| file.mark.0 < quiet) {
                return Ok(tree);
            }
            std::thread::sleep(TICK);
        }
        Self::scan(root)
    }

    fn scan(root: &Path) -> Result<Self, MaintenanceError> {
        let mut tree = Self::default();
        for folder in FOLDERS {
            // A folder of the root may be a link to a larger disk.
            match fs::metadata(root.join(folder)) {
                Ok(meta) if meta.is_dir() => {
                    let path = root.join(folder);
                    tree.walk(&path, folder, &meta, &Fixed::within(&path))?;
                }
                _ => {}
            }
        }
        tree.files.sort_by(|one, other| one.name.cmp(&other.name));
        tree.left_out.sort();
        tree.folders.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(tree)
    }

    fn walk(
        &mut self,
        path: &Path,
        name: &str,
        meta: &Metadata,
        fixed: &Fixed,
    ) -> Result<(), MaintenanceError> {
        self.folders.push(Folder { name: name.to_owned(), mode: mode(meta) });
        let is_top = !name.contains('/');
        for entry in fs::read_dir(path).map_err(file_error(path))? {
            let entry = entry.map_err(file_error(path))?;
            let path = entry.path();
            let own = entry.file_name();
            let own = own.to_str().ok_or_else(|| MaintenanceError::Name(path.clone()))?;
            if is_top && (own == STAGE || own.starts_with(OLD)) {
                continue;
            }
            let name = format!("{name}/{own}");
            if name.split_once('/').is_some_and(|(_, rest)| fixed.holds(Path::new(rest))) {
                self.left_out.push(name);
                continue;
            }
            match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_dir() => self.walk(&path, &name, &meta, fixed)?,
                Ok(meta) if meta.is_file() => self.files.push(Found::of(name, path, &meta)),
                Ok(_) => self.left_out.push(name),
                // Gone since the folder was listed: the second look tells.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(MaintenanceError::File(path, error)),
            }
        }
        Ok(())
    }

    /// The first thing that is not as it was.
    pub(super) fn difference(&self, later: &Self) -> Option<String> {
        let folder = self.folders.iter().zip(&later.folders).find(|(one, other)| one != other);
        let file = self.files.iter().zip(&later.files).find(|(one, other)| one != other);
        let lengths = [
            (self.folders.len() == later.folders.len(), FOLDERS[0]),
            (self.files.len() == later.files.len(), FOLDERS[0]),
        ];
        file.map(|(one, _)| one.name.clone())
            .or_else(|| folder.map(|(one, _)| one.name.clone()))
            .or_else(|| lengths.iter().find(|(same, _)| !same).map(|(_, name)| (*name).to_owned()))
    }

    /// Bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

impl Found {
    fn of(name: String, path: PathBuf, meta: &Metadata) -> Self {
        let modified = meta.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        Self {
            name,
            path,
            size: meta.len(),
            mode: mode(meta),
            modified: modified.unwrap_or_default().as_secs(),
            mark: Mark::of(meta),
        }
    }
}

impl Mark {
    #[cfg(unix)]
    fn of(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let time = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        Self(time(meta.ctime(), meta.ctime_nsec()), time(meta.mtime(), meta.mtime_nsec()), meta.ino())
    }

    #[cfg(not(unix))]
    fn of(meta: &Metadata) -> Self {
        let modified = meta.modified().map(nanos).unwrap_or_default();
        Self(modified, modified, 0)
    }
}

fn nanos(time: SystemTime) -> i128 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i128::try_from(since.as_nanos()).unwrap_or(i128::MAX)
}

/// Who may read and write; nothing that lends rights.
#[cfg(unix)]
fn mode(meta: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    meta.permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn mode(meta: &Metadata) -> u32 {
    if meta.is_dir() { 0o755 } else { 0o644 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("files/a/empty")).unwrap();
        fs::write(folder.path().join("files/a/b.txt"), "one").unwrap();
        fs::create_dir_all(folder.path().join("core/log")).unwrap();
        fs::write(folder.path().join("core/log/x"), "not the store's").unwrap();
        for left in [STAGE, OLD] {
            fs::create_dir_all(folder.path().join("files").join(left).join("old/x")).unwrap();
        }
        folder
    }

    #[test]
    fn the_stores_folders_are_walked_and_nothing_else() {
        let folder = store();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc", folder.path().join("files/etc")).unwrap();
        let tree = FileTree::look(folder.path()).unwrap();
        assert_eq!(tree.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["files/a/b.txt"]);
        let folders: Vec<_> = tree.folders.iter().map(|folder| folder.name.as_str()).collect();
        assert_eq!(folders, ["files", "files/a", "files/a/empty"]);
        #[cfg(unix)]
        assert_eq!(tree.left_out, ["files/etc"]);
    }

    #[test]
    fn every_change_is_seen_even_one_of_the_same_length() {
        let folder = store();
        let look = || FileTree::look(folder.path()).unwrap();
        let file = folder.path().join("files/a/b.txt");
        let first = look();
        assert_eq!(first.difference(&look()), None);
        fs::write(&file, "two").unwrap();
        assert_eq!(first.difference(&look()), Some("files/a/b.txt".to_owned()));
        let second = look();
        fs::write(folder.path().join("files/a/c.txt"), "").unwrap();
        assert!(second.difference(&look()).is_some());
        let third = look();
        fs::remove_dir(folder.path().join("files/a/empty")).unwrap();
        assert!(third.difference(&look()).is_some());
    }
}
