//! What is mounted below a folder: it cannot be renamed, and what is in it belongs to another disk.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder that every new disk has, which only the system's administrator reads.
pub(crate) const LOST_AND_FOUND: &str = "lost+found";

/// What within a folder stays where it is, whatever is put into its place.
pub(crate) struct Fixed(Vec<PathBuf>);

impl Fixed {
    /// Looks at a folder.
    pub(crate) fn within(folder: &Path) -> Self {
        let Ok(real) = folder.canonicalize() else { return Self(Vec::new()) };
        let mounts = below(&real).into_iter();
        let mut fixed: Vec<PathBuf> =
            mounts.filter_map(|mount| Some(mount.strip_prefix(&real).ok()?.to_owned())).collect();
        fixed.push(LOST_AND_FOUND.into());
        Self(fixed)
    }

    /// Whether this, named from the folder, stays: it is mounted, or within what is.
    pub(crate) fn holds(&self, name: &Path) -> bool {
        self.0.iter().any(|fixed| name.starts_with(fixed))
    }

    /// Whether something within this stays, so that it cannot go as a whole.
    pub(crate) fn is_within(&self, name: &Path) -> bool {
        self.0.iter().any(|fixed| fixed != name && fixed.starts_with(name))
    }
}

/// Whether a file or folder is mounted itself.
pub(crate) fn is_mount(path: &Path) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    real.parent().is_some_and(|parent| below(parent).contains(&real))
}

/// What is mounted below a folder, whose path has no links.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = match fs::read("/proc/self/mountinfo") {
        Ok(table) => listed(&table),
        Err(_) => {
            let mut found = Vec::new();
            walk(folder, &mut found);
            found
        }
    };
    found.retain(|mount| mount != folder && mount.starts_with(folder));
    found.sort();
    found.dedup();
    found
}

/// The fifth word of each line of the system's table; characters that would part words are written as `\040`.
fn listed(table: &[u8]) -> Vec<PathBuf> {
    let lines = table.split(|byte| *byte == b'\n');
    lines.filter_map(|line| Some(path(&plain(line.split(|byte| *byte == b' ').nth(4)?)))).collect()
}

fn plain(word: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..]) => {
                out.push(((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'));
                rest = tail;
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Where the system has no table: folders that lie on another disk than the folder they are in.
#[cfg(unix)]
fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(own), Ok(entries)) = (fs::metadata(folder), fs::read_dir(folder)) else { return };
    for entry in entries.flatten() {
        match entry.metadata() {
            Ok(meta) if meta.is_dir() && meta.dev() != own.dev() => found.push(entry.path()),
            Ok(meta) if meta.is_dir() => walk(&entry.path(), found),
            _ => {}
        }
    }
}

#[cfg(not(unix))]
fn walk(_: &Path, _: &mut Vec<PathBuf>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_table_is_understood() {
        let table =
            b"22 27 0:20 / /srv/a\\040b rw - tmpfs t rw\n23 27 0:21 / /srv/a\\134c rw - tmpfs t rw\n\n";
        assert_eq!(listed(table), [PathBuf::from("/srv/a b"), PathBuf::from("/srv/a\\c")]);
    }

    #[test]
    fn what_is_fixed_is_known_with_what_is_in_it_and_what_leads_to_it() {
        let fixed = Fixed(vec!["a/b".into(), LOST_AND_FOUND.into()]);
        assert!(
            fixed.holds(Path::new("a/b")) && fixed.holds(Path::new("a/b/c")) && !fixed.holds(Path::new("a"))
        );
        assert!(fixed.is_within(Path::new("a")) && !fixed.is_within(Path::new("a/b")));
        assert!(fixed.holds(Path::new("lost+found")) && !fixed.holds(Path::new("a/lost+found")));
    }
}
