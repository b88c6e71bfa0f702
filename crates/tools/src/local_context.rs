//! This computer, as the local half of a tool sees it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use wire::text::quoted;
use wire::{Refusal, Stop, catalogue};

use crate::inline::Room;

/// The mark that some editors put before UTF-8.
const BOM: &[u8] = b"\xEF\xBB\xBF";
/// Largest file that lines are written behind.
const APPENDED: u64 = 1 << 30;
/// Most characters of a source of JSON: what a request carries.
const JSON_MOST: usize = 16 << 20;
/// Longest path that a refusal repeats.
const QUOTE: usize = 400;

/// Where a session works on this computer.
#[derive(Clone, Debug)]
pub struct LocalContext {
    /// The store folder.
    pub store: PathBuf,
    /// The conversation folder.
    pub conversation: PathBuf,
    /// Room for bodies in an answer to this application.
    pub room: Room,
    /// How long the request took, for the half after the answer.
    pub trip: Duration,
}

impl LocalContext {
    /// The whole text of a file; `path` is absolute or from the store folder.
    ///
    /// Links are followed: reading is the person's own right on this computer. A BOM is dropped. What has more
    /// bytes than `most` characters can have is not read at all: the field it is for would refuse it.
    pub fn read_text(&self, path: &str, most: usize) -> Result<String, Stop> {
        let refused = |why: &str| catalogue::no_such_file(&quoted(path, QUOTE), why);
        let full = self.absolute(Path::new(path)).ok_or_else(|| refused("no path is named"))?;
        let limit = most.saturating_mul(char::MAX.len_utf8()).saturating_add(BOM.len()) as u64;
        let mut bytes = wire::files::read_regular(&full, limit).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => {
                refused(&format!("it is larger than {limit} bytes, and at most {most} characters are taken"))
            }
            _ => refused(&not_read(&full, &error)),
        })?;
        if bytes.starts_with(BOM) {
            bytes.drain(..BOM.len());
        }
        Ok(String::from_utf8(bytes).map_err(|_| catalogue::not_utf8(&quoted(path, QUOTE)))?)
    }

    /// The bytes of a file of at most `most` bytes; `path` is absolute or from the store folder, links are followed.
    pub fn read_bytes(&self, path: &str, most: u64) -> Result<Vec<u8>, Stop> {
        let refused = |why: &str| catalogue::no_such_file(&quoted(path, QUOTE), why);
        let full = self.absolute(Path::new(path)).ok_or_else(|| refused("no path is named"))?;
        let read = wire::files::read_regular(&full, most).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => refused(&format!("it is larger than {most} bytes")),
            _ => refused(&not_read(&full, &error)),
        });
        Ok(read?)
    }

    /// A text that a call names itself, or by the file in `<name>_source`; `None` where it does neither.
    pub fn text_or_file(
        &self,
        name: &str,
        text: Option<String>,
        source: Option<String>,
        most: usize,
    ) -> Result<Option<String>, Stop> {
        match (text, source) {
            (Some(_), Some(_)) => Err(catalogue::not_both(name, &format!("{name}_source")).into()),
            (None, Some(source)) => Ok(Some(self.read_text(&source, most)?)),
            (text, None) => Ok(text),
        }
    }

    /// The JSON of a file, read as [`Self::read_text`] does.
    pub fn read_json(&self, path: &str) -> Result<serde_json::Value, Stop> {
        let text = self.read_text(path, JSON_MOST)?;
        let value = serde_json::from_str(&text);
        let broken = |error: serde_json::Error| {
            catalogue::not_whole_json(&quoted(path, QUOTE), &quoted(&error.to_string(), 200))
        };
        Ok(value.map_err(broken)?)
    }

    /// Writes a file of an answer: whole or not at all, and never through a link.
    ///
    /// `folder` is absolute or from the store folder and is made where it is missing;
    /// `name` is the tool's own, one plain name.
    pub fn write(&self, folder: impl AsRef<Path>, name: &str, bytes: &[u8]) -> Result<PathBuf, Stop> {
        if !is_plain(name) {
            return Err(wire::Fault::new(format!("a tool writes to the name `{}`", quoted(name, 80))).into());
        }
        let folder = folder.as_ref();
        let refused = |why: &str| catalogue::not_written(&quoted(&folder.to_string_lossy(), QUOTE), why);
        let wanted = self.absolute(folder).ok_or_else(|| refused("no folder is named"))?;
        let folder = self.made_without_links(&wanted)?;
        let target = folder.join(name);
        replace(&folder, &target, bytes)
            .map_err(|error| catalogue::not_written(&target.to_string_lossy(), &why(&error)))?;
        Ok(target)
    }

    /// Writes lines behind those that a file of an answer has; how many there are now.
    ///
    /// The file is written anew: whoever reads it meanwhile sees the former lines or all.
    pub fn append_lines(&self, folder: impl AsRef<Path>, name: &str, lines: &str) -> Result<usize, Stop> {
        /// Two calls at once would each write only their own lines behind the same former ones.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = folder.as_ref();
        let wanted = self.store.join(folder).join(name);
        let mut text = match wire::files::read_regular(&wanted, APPENDED) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(catalogue::not_written(&wanted.to_string_lossy(), &why(&error)).into()),
        };
        text.push_str(lines);
        self.write(folder, name, text.as_bytes())?;
        Ok(text.lines().count())
    }

    /// Where a file goes that a tool brings: `output` itself, or in it where it is a folder. Its folder is made
    /// where it is missing. A link at the end is replaced, not followed.
    pub fn output_file(&self, output: &str, name: &str) -> Result<PathBuf, Stop> {
        let refused = |why: &str| catalogue::not_written(&quoted(output, QUOTE), why);
        let wanted = self.absolute(Path::new(output)).ok_or_else(|| refused("no file is named"))?;
        let is_folder = fs::symlink_metadata(&wanted).is_ok_and(|about| about.is_dir());
        let wanted = if is_folder || output.ends_with(['/', '\\']) { wanted.join(name) } else { wanted };
        let (Some(folder), Some(name)) = (wanted.parent(), wanted.file_name().and_then(|name| name.to_str()))
        else {
            return Err(refused("it names no file").into());
        };
        if !is_plain(name) {
            return Err(refused("its name is none that every system takes").into());
        }
        let target = self.made_without_links(folder)?.join(name);
        match fs::symlink_metadata(&target) {
            Ok(about) if about.is_dir() => Err(refused("it is a folder").into()),
            _ => Ok(target),
        }
    }

    /// `None` for an empty path and one that no file system takes.
    fn absolute(&self, path: &Path) -> Option<PathBuf> {
        let words = path.to_string_lossy();
        (!words.trim().is_empty() && !words.contains('\0')).then(|| self.store.join(path))
    }

    /// The folder, made where it is missing, with no link below the point where trust begins.
    ///
    /// The store folder itself may lie behind links of the person's own; anything else starts at the root.
    fn made_without_links(&self, wanted: &Path) -> Result<PathBuf, Refusal> {
        let refused =
            |path: &Path, why: &str| catalogue::folder_not_made(&quoted(&path.to_string_lossy(), QUOTE), why);
        let wanted = lexical(wanted).ok_or_else(|| refused(wanted, "`..` leads out of the root"))?;
        let (mut path, rest) = match self.below_store(&wanted) {
            Some((store, rest)) => (store, rest),
            None => (PathBuf::new(), wanted.clone()),
        };
        for part in rest.components() {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(about) if about.is_symlink() => {
                    let real = fs::canonicalize(&path).unwrap_or_default();
                    return Err(refused(&path, &format!("it is a link to `{}`", real.to_string_lossy())));
                }
                Ok(about) if about.is_dir() => {}
                Ok(_) => return Err(refused(&path, "it is not a folder")),
                Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::create_dir(&path) {
                    // Another writer may have made it in between.
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(refused(&path, &why(&error)));
                    }
                    _ => {}
                },
                Err(error) => return Err(refused(&path, &why(&error))),
            }
        }
        Ok(path)
    }

    /// The real store folder and the way below it, where the path lies in it.
    fn below_store(&self, wanted: &Path) -> Option<(PathBuf, PathBuf)> {
        let real = fs::canonicalize(&self.store).ok()?;
        let rest = wanted.strip_prefix(&self.store).or_else(|_| wanted.strip_prefix(&real)).ok()?;
        let rest = rest.to_owned();
        Some((real, rest))
    }
}

/// A file on its way: written beside its target, and put in its place when it is whole. Dropped before, it is gone.
pub struct IncomingFile {
    file: fs::File,
    beside: PathBuf,
    target: PathBuf,
}

impl IncomingFile {
    /// Begins a file for a place that [`LocalContext::output_file`] gave.
    pub fn begin(target: &Path) -> Result<Self, Stop> {
        let beside = beside(target.parent().unwrap_or(target));
        let file = open_new(&beside)
            .map_err(|error| catalogue::not_written(&target.to_string_lossy(), &why(&error)))?;
        Ok(Self { file, beside, target: target.to_owned() })
    }

    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let added = self.file.write_all(bytes);
        Ok(added.map_err(|error| catalogue::not_written(&self.target.to_string_lossy(), &why(&error)))?)
    }

    /// Puts the whole file in its place.
    pub fn place(mut self) -> Result<(), Stop> {
        let placed = self.file.flush().and_then(|()| fs::rename(&self.beside, &self.target));
        Ok(placed.map_err(|error| catalogue::not_written(&self.target.to_string_lossy(), &why(&error)))?)
    }
}

impl Drop for IncomingFile {
    fn drop(&mut self) {
        // After a rename there is none.
        let _ = fs::remove_file(&self.beside);
    }
}

/// The path without `.` and `..`; `None` where `..` goes above the root.
///
/// Resolved by words, so that `link/..` cannot mean another place than it says.
fn lexical(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !matches!(out.components().next_back(), Some(Component::Normal(_))) {
                    return None;
                }
                out.pop();
            }
            other => out.push(other),
        }
    }
    Some(out)
}

fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
        && !name.contains(['/', '\\', ':', '\0'])
}

/// Writes beside the target, then renames over it: a reader sees the old file or the new one.
fn replace(folder: &Path, target: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = beside(folder);
    let written = write_new(&beside, bytes).and_then(|()| fs::rename(&beside, target));
    if written.is_err() {
        // The first error is what the reader needs; a left-over is harmless.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A name of this process alone.
fn beside(folder: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!(".{}-{count}.part", std::process::id()))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = open_new(path)?;
    file.write_all(bytes)?;
    file.flush()
}

fn open_new(path: &Path) -> io::Result<fs::File> {
    let open = || OpenOptions::new().write(true).create_new(true).open(path);
    match open() {
        // A killed process with this number left it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            open()
        }
        other => other,
    }
}

/// Why a source is not read: a folder can be opened on some systems and not on others.
fn not_read(path: &Path, error: &io::Error) -> String {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => "it is a folder".to_owned(),
        Ok(about) if !about.is_file() => "it is not a file".to_owned(),
        _ => why(error),
    }
}

/// An error of the file system in a few words.
fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it is not there".to_owned(),
        io::ErrorKind::PermissionDenied => "this user of the computer may not touch it".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => quoted(&error.to_string(), 200),
    }
}

#[cfg(test)]
mod tests;
