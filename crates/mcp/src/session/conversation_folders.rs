//! Conversation folders: `mcp/<application>/<topic>/` in the store folder.
//!
//! Invariant: no link is ever followed below the store folder, neither to make
//! a folder nor to measure or remove one. See spec: session.md, system.md.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::{Timestamp, Unit};
use wire::{Refusal, catalogue, paths};

/// Longest topic.
const LONGEST_TOPIC: usize = 64;
/// Folder of the sessions that events launched.
const EVENTS: &str = "event";

/// Names of folders that Windows keeps for itself.
const RESERVED: &[&str] = &["con", "prn", "aux", "nul"];

/// Whether a text is one word that can name a conversation.
pub(crate) fn is_topic(text: &str) -> bool {
    (1..=LONGEST_TOPIC).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Whether a text names a conversation folder: a topic, or `event/<day>/<number>`.
pub(crate) fn is_conversation(text: &str) -> bool {
    is_topic(text) || is_event(text)
}

fn is_event(text: &str) -> bool {
    let mut parts = text.split('/');
    parts.next() == Some(EVENTS)
        && parts.next().is_some_and(is_day)
        && parts.next().is_some_and(is_number)
        && parts.next().is_none()
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_number(text: &str) -> bool {
    (1..=19).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The conversation of a session that an event launched.
pub(crate) fn event_topic(day: &str, number: i64) -> String {
    format!("{EVENTS}/{day}/{number}")
}

/// An application's name as a folder: letters, digits, `-` and `_` stay, the rest becomes `_`.
pub(crate) fn application(name: &str) -> String {
    let mut folder: String = name
        .trim()
        .chars()
        .take(LONGEST_TOPIC)
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' })
        .collect();
    if !folder.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        return "agent".to_owned();
    }
    if RESERVED.contains(&folder.to_ascii_lowercase().as_str()) {
        folder.push('_');
    }
    folder
}

/// The conversation folder, made where it is missing.
pub(crate) fn open(store: &Path, application: &str, topic: &str) -> Result<PathBuf, Refusal> {
    let mut path = store.to_owned();
    for part in [paths::CONVERSATIONS, application].into_iter().chain(topic.split('/')) {
        path.push(part);
        let made = match fs::symlink_metadata(&path) {
            Ok(about) if about.is_dir() => Ok(()),
            Ok(about) => Err(not_a_folder(&about).to_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path),
            Err(error) => Err(why(&error)),
        };
        made.map_err(|why| catalogue::folder_not_made(&path.display().to_string(), &why))?;
    }
    Ok(path)
}

fn make(path: &Path) -> Result<(), String> {
    let mut builder = fs::DirBuilder::new();
    // What the store told is nobody else's business on this computer.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another session may have made it in between; a link that appeared there is refused.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match fs::symlink_metadata(path) {
            Ok(about) if about.is_dir() => Ok(()),
            Ok(about) => Err(not_a_folder(&about).to_owned()),
            Err(error) => Err(why(&error)),
        },
        made => made.map_err(|error| why(&error)),
    }
}

fn not_a_folder(about: &Metadata) -> &'static str {
    if about.is_symlink() { "it is a link, and links are not followed" } else { "it is not a folder" }
}

/// A conversation folder, measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conversation {
    /// Its topic.
    pub(crate) topic: String,
    /// Bytes of all its files.
    pub(crate) size: u64,
    /// Last change of anything in it.
    pub(crate) changed: String,
}

/// All conversation folders of an application in a store, by topic.
pub(crate) fn list(store: &Path, application: &str) -> Vec<Conversation> {
    let Ok(root) = root(store, application) else { return Vec::new() };
    let mut topics: Vec<String> = names(&root).filter(|name| is_topic(name)).collect();
    let events = root.join(EVENTS);
    if is_folder(&events) {
        for day in names(&events).filter(|name| is_day(name)) {
            let numbers =
                if is_folder(&events.join(&day)) { names(&events.join(&day)).collect() } else { Vec::new() };
            topics.extend(
                numbers.iter().map(|number| format!("{EVENTS}/{day}/{number}")).filter(|name| is_event(name)),
            );
        }
        // The folder of events is a conversation of its own only where somebody chose that word.
        if names(&events).all(|name| is_day(&name)) {
            topics.retain(|topic| topic != EVENTS);
        }
    }
    topics.sort();
    topics.into_iter().filter_map(|topic| measure(&root, topic)).collect()
}

/// Removes one conversation folder; `false` where there is none.
///
/// The error names what could not be removed, and why.
pub(crate) fn remove(store: &Path, application: &str, topic: &str) -> Result<bool, (PathBuf, String)> {
    let mut path = root(store, application)?;
    for part in topic.split('/') {
        // Only the last part may be a link: it is removed, not followed.
        if path.symlink_metadata().is_ok_and(|about| !about.is_dir()) {
            return Err((path, "it is a link or a file, and links are not followed".to_owned()));
        }
        path.push(part);
    }
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err((path, why(&error))),
        Ok(about) if about.is_symlink() => remove_file(&path).map(|()| true),
        Ok(about) if !about.is_dir() => Ok(false),
        Ok(_) if topic == EVENTS => remove_own(&path),
        Ok(_) => remove_tree(&path).map(|()| true),
    }
}

/// The topic `event`: everything but the folders of events below it.
fn remove_own(folder: &Path) -> Result<bool, (PathBuf, String)> {
    let mut found = false;
    for name in names(folder).filter(|name| !is_day(name)) {
        found = true;
        remove_entry(&folder.join(name))?;
    }
    let empty = names(folder).next().is_none();
    if empty {
        remove_folder(folder)?;
    }
    Ok(found || empty)
}

/// Folder of an application's conversations. A link on the way is an error, nothing there is not.
fn root(store: &Path, application: &str) -> Result<PathBuf, (PathBuf, String)> {
    let mut path = store.to_owned();
    for part in [paths::CONVERSATIONS, application] {
        path.push(part);
        if let Ok(about) = fs::symlink_metadata(&path)
            && !about.is_dir()
        {
            return Err((path, not_a_folder(&about).to_owned()));
        }
    }
    Ok(path)
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// Names in a folder, as far as they are text.
fn names(folder: &Path) -> impl Iterator<Item = String> + use<> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

fn measure(root: &Path, topic: String) -> Option<Conversation> {
    let path = root.join(&topic);
    let about = fs::symlink_metadata(&path).ok().filter(|about| about.is_dir() || about.is_symlink())?;
    let mut changed = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let mut size = 0;
    let mut folders = if about.is_dir() { vec![path] } else { Vec::new() };
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // This looks at a link itself, not at what it points to.
            let Ok(about) = entry.metadata() else { continue };
            changed = changed.max(about.modified().unwrap_or(SystemTime::UNIX_EPOCH));
            if about.is_dir() {
                folders.push(entry.path());
            } else if about.is_file() {
                size += about.len();
            }
        }
    }
    Some(Conversation { topic, size, changed: moment(changed) })
}

fn moment(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or_default();
    time.round(Unit::Second).unwrap_or(time).to_string()
}

/// Removes a folder with everything in it. A stack of paths, since folders may nest deeper than threads can.
fn remove_tree(folder: &Path) -> Result<(), (PathBuf, String)> {
    let mut waiting = vec![(folder.to_owned(), false)];
    while let Some((path, emptied)) = waiting.pop() {
        if emptied {
            remove_folder(&path)?;
            continue;
        }
        waiting.push((path.clone(), true));
        for entry in fs::read_dir(&path).map_err(|error| (path.clone(), why(&error)))? {
            let entry = entry.map_err(|error| (path.clone(), why(&error)))?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push((entry.path(), false));
            } else {
                remove_file(&entry.path())?;
            }
        }
    }
    Ok(())
}

fn remove_entry(path: &Path) -> Result<(), (PathBuf, String)> {
    if is_folder(path) { remove_tree(path) } else { remove_file(path) }
}

fn remove_file(path: &Path) -> Result<(), (PathBuf, String)> {
    gone(path, fs::remove_file(path))
}

fn remove_folder(path: &Path) -> Result<(), (PathBuf, String)> {
    gone(path, fs::remove_dir(path))
}

/// What somebody else removed in between is gone as well.
fn gone(path: &Path, removed: io::Result<()>) -> Result<(), (PathBuf, String)> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err((path.to_owned(), why(&error))),
        _ => Ok(()),
    }
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "this user of the computer may not touch it".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        _ => wire::text::quoted(&error.to_string(), 200),
    }
}

#[cfg(test)]
mod tests;
