//! Files of a store on the disk: read without following links, staged by hash, renamed into place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use tools::{StoreEntry, StorePath, is_open};
use wire::{Fault, Stop, catalogue};

/// Where contents lie, by their hash.
const VERSIONS: &str = "core/versions";
/// Largest file that is read whole.
pub(crate) const LARGEST: u64 = 64 << 20;
/// Most files and folders that are listed.
const MOST: usize = 200_000;
/// Folders whose files are attached to rows, and are no files of the project.
const NOT_LISTED: [&str; 2] = ["files", "profiles"];

/// The files below a root.
pub(super) struct Disk {
    root: PathBuf,
}

/// Hash of a content, as rows and names have it.
pub(super) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

impl Disk {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The bytes of a file; `None` where there is none. A link on the way to it is refused.
    pub(super) fn read(&self, path: &StorePath) -> Result<Option<Vec<u8>>, Stop> {
        self.refuse_links(path)?;
        match read_whole(&super::full(&self.root, path)) {
            Ok(bytes) => Ok(bytes),
            Err(error) => Err(unusable(path.as_str(), &error)),
        }
    }

    /// A regular file opened for reading, with its size; `None` for what is none.
    pub(super) fn open(&self, path: &StorePath) -> Result<Option<(File, u64)>, Stop> {
        self.refuse_links(path)?;
        let full = super::full(&self.root, path);
        let opened = match fs::symlink_metadata(&full) {
            Ok(about) if !about.is_file() => return Ok(None),
            Ok(_) => File::open(&full).and_then(|file| Ok((file.metadata()?.len(), file))),
            Err(error) => Err(error),
        };
        match opened {
            Ok((size, file)) => Ok(Some((file, size))),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(unusable(path.as_str(), &error)),
        }
    }

    /// Whether there is a folder. A link on the way to it is refused.
    pub(super) fn has_folder(&self, path: &StorePath) -> Result<bool, Stop> {
        self.refuse_links(path)?;
        match fs::symlink_metadata(super::full(&self.root, path)) {
            Ok(about) => Ok(about.is_dir()),
            Err(error) if is_absence(&error) => Ok(false),
            Err(error) => Err(unusable(path.as_str(), &error)),
        }
    }

    /// Refuses a path on which a link lies: it may lead anywhere.
    fn refuse_links(&self, path: &StorePath) -> Result<(), Stop> {
        let mut at = self.root.clone();
        for part in path.parts() {
            at.push(part);
            match fs::symlink_metadata(&at) {
                Ok(about) if about.is_symlink() => return Err(catalogue::outside_store("path").into()),
                Ok(_) => {}
                Err(error) if is_absence(&error) => return Ok(()),
                Err(error) => return Err(unusable(path.as_str(), &error)),
            }
        }
        Ok(())
    }

    /// Keeps a content under its hash, for good: it is synced when this returns.
    pub(super) fn keep(&self, bytes: &[u8]) -> Result<String, Stop> {
        keep(&self.root, bytes).map_err(|error| unusable(VERSIONS, &error))
    }

    /// The content of this hash.
    pub(super) fn content(&self, hash: &str) -> Result<Vec<u8>, Stop> {
        let kept = kept(&self.root, hash).map_err(|error| unusable(VERSIONS, &error))?;
        kept.ok_or_else(|| {
            Fault::new(format!("the content {hash} is not under {VERSIONS}, or damaged")).into()
        })
    }

    /// Makes a file what a kept content is: the whole of it or not at all.
    pub(super) fn put(&self, path: &StorePath, hash: &str) -> Result<(), Stop> {
        let bytes = self.content(hash)?;
        self.refuse_links(path)?;
        let target = super::full(&self.root, path);
        write_synced(&target, &bytes).map_err(|error| unusable(path.as_str(), &error))
    }

    /// Removes a file, and the folder of a unit's templates that becomes empty by it.
    pub(super) fn remove(&self, path: &StorePath) -> Result<(), Stop> {
        self.refuse_links(path)?;
        match fs::remove_file(super::full(&self.root, path)) {
            Err(error) if !is_absence(&error) => return Err(unusable(path.as_str(), &error)),
            _ => {}
        }
        if let Some(folder) = path.marked_folder() {
            // One that is not empty stays, which is what the error means.
            let _ = fs::remove_dir(self.root.join(folder));
        } else if let ["templates", group, "units", unit, _] = path.parts().as_slice() {
            // One that is not empty stays, which is what the error means.
            let _ = fs::remove_dir(self.root.join("templates").join(group).join("units").join(unit));
        }
        Ok(())
    }

    /// Everything agents may see below a folder, in the order of paths.
    pub(super) fn entries(&self, below: &str) -> Result<Vec<StoreEntry>, Stop> {
        let mut found = Vec::new();
        self.list(below, &mut found).map_err(|error| unusable(below, &error))?;
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    fn list(&self, below: &str, found: &mut Vec<StoreEntry>) -> io::Result<()> {
        let entries = match fs::read_dir(self.root.join(below)) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            // A name that is no text can be named by no tool.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if below.is_empty() { name } else { format!("{below}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_symlink()
                || !is_open(&path)
                || NOT_LISTED.contains(&path.as_str())
                || found.len() >= MOST
            {
                continue;
            }
            let Ok(about) = entry.metadata() else { continue };
            let time =
                about.modified().ok().and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_default();
            let size = if kind.is_dir() { 0 } else { about.len() };
            found.push(StoreEntry { path: path.clone(), is_folder: kind.is_dir(), size, time });
            if kind.is_dir() {
                self.list(&path, found)?;
            }
        }
        Ok(())
    }
}

/// Keeps a content of a store under its hash, synced. One that is damaged there is written anew.
pub(crate) fn keep(root: &Path, bytes: &[u8]) -> io::Result<String> {
    let hash = hash(bytes);
    let target = kept_path(root, &hash);
    let is_kept = fs::metadata(&target).is_ok_and(|about| about.len() == bytes.len() as u64)
        && kept(root, &hash)?.is_some();
    if !is_kept {
        write_synced(&target, bytes)?;
    }
    Ok(hash)
}

/// The content that a store keeps under this hash; `None` where it is missing or damaged.
pub(crate) fn kept(root: &Path, hash: &str) -> io::Result<Option<Vec<u8>>> {
    if !is_hash(hash) {
        return Ok(None);
    }
    Ok(read_whole(&kept_path(root, hash))?.filter(|bytes| self::hash(bytes) == hash))
}

/// Whether this may be the hash of a content, and so part of a path.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn kept_path(root: &Path, hash: &str) -> PathBuf {
    root.join(VERSIONS).join(hash.get(..2).unwrap_or_default()).join(hash)
}

/// A regular file whole; `None` for what is none.
fn read_whole(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::symlink_metadata(path) {
        Ok(about) if !about.is_file() => return Ok(None),
        Ok(_) => {}
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    let file = File::open(path)?;
    if file.metadata()?.len() > LARGEST {
        return Err(io::Error::other(format!("it is larger than {LARGEST} bytes")));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Writes beside the target and renames: file, name and folder are on the disk when this returns.
fn write_synced(target: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let folder = target.parent().ok_or_else(|| io::Error::other("no folder"))?;
    fs::create_dir_all(folder)?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let beside = folder.join(format!(".{}-{count}.part", std::process::id()));
    let written = write_new(&beside, bytes).and_then(|()| fs::rename(&beside, target));
    if written.is_err() {
        // The first error is what the reader needs; a left-over is harmless.
        let _ = fs::remove_file(&beside);
    }
    written?;
    // Some systems cannot open a folder; there the name comes to the disk a little later.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A killed process of this number may have left one.
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A part of the path that is a file, or too long a name, is no path to a file either.
fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename | InvalidInput)
}

fn unusable(path: &str, error: &io::Error) -> Stop {
    Fault::new(format!("{path} cannot be used: {error}")).into()
}
