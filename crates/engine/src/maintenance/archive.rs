//! A backup's one file: a gzipped tar of a head, rows, settings, files, and a manifest with the sum of every part.
//!
//! | part | what |
//! |---|---|
//! | `backup.json` | first: what this is, and of which build |
//! | `rows/<table>/<number>.jsonl` | rows of a table, a line of JSON each |
//! | `config.json` | the settings |
//! | `files/…`, `templates/…`, `units/…`, `profiles/…` | the store's files |
//! | `manifest.json` | last: every table and every part with its SHA-256, every folder |
//!
//! Any tar program shows and unpacks it. This one reads nothing but what it
//! writes itself: no links, no other kinds of entries, no other names.

pub(super) mod read;
pub(super) mod write;

use std::collections::BTreeSet;
use std::path::{Component, Path};

use db::transfer::Table;
use serde::{Deserialize, Serialize};

use super::folders::{FOLDERS, OLD, STAGE};
use crate::mounts::LOST_AND_FOUND;

/// First part.
pub(super) const HEAD: &str = "backup.json";
/// Last part.
pub(super) const MANIFEST: &str = "manifest.json";
/// Folder of the rows.
pub(super) const ROWS: &str = "rows/";
/// What names of the contents of versions begin with.
pub(super) const VERSIONS: &str = "versions/";
/// Largest manifest, which is read into memory: that of about a million files.
pub(super) const MANIFEST_MOST: u64 = 256 << 20;
/// Longest line of a row, which is read into memory: a note as long as a request may be, each byte of it as `\u0001`.
pub(super) const ROW_MOST: u64 = 400 << 20;
/// Bytes of rows in a part, about: so much is held in memory, since a part's length is told before it.
const PART: usize = 4 << 20;
/// What the head says of itself.
const WHAT: &str = "Shopwright backup";
/// The form of this page.
const FORMAT: u32 = 1;

/// What the backup is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) what: String,
    pub(super) format: u32,
    /// Build that made it.
    pub(super) build: String,
    /// Steps of migration of its tables.
    pub(super) step: i64,
    /// When it was made.
    pub(super) made: String,
    /// The store's name.
    pub(super) store: String,
}

impl Head {
    pub(super) fn new(store: &str, made: jiff::Timestamp) -> Self {
        Self {
            what: WHAT.to_owned(),
            format: FORMAT,
            build: wire::BUILD.to_owned(),
            step: db::transfer::newest_step(),
            made: db::seconds(made),
            store: store.to_owned(),
        }
    }

    /// Whether this build can read the rest.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.what != WHAT {
            return Err("it is no backup of a store".to_owned());
        }
        if self.format != FORMAT || self.step > db::transfer::newest_step() || self.step < 1 {
            return Err(format!(
                "build {} made it, which is newer than this one ({})",
                self.build,
                wire::BUILD
            ));
        }
        Ok(())
    }
}

/// What is in the backup.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) tables: Vec<TableEntry>,
    pub(super) folders: Vec<FolderEntry>,
    pub(super) parts: Vec<Part>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TableEntry {
    pub(super) name: String,
    /// Names and kinds.
    pub(super) columns: Vec<(String, String)>,
    pub(super) rows: u64,
    pub(super) last_id: i64,
    /// Over the lines of all its parts.
    pub(super) sha256: String,
}

/// A folder of the store's files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FolderEntry {
    pub(super) name: String,
    pub(super) mode: u32,
}

/// A part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) sha256: String,
}

/// Columns of a table as the manifest names them.
pub(super) fn columns(table: &Table) -> Vec<(String, String)> {
    table.columns.iter().map(|column| (column.name.clone(), column.kind.word().to_owned())).collect()
}

/// Where a part belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind<'a> {
    Head,
    Manifest,
    Config,
    /// Rows of this table.
    Rows(&'a str),
    /// A file of the store.
    File,
    /// The content of this hash, which a file of the store had at some save.
    Version(&'a str),
}

/// The place of a name; `None` for every name that a backup does not have.
pub(super) fn part_kind(name: &str) -> Option<PartKind<'_>> {
    match name {
        HEAD => Some(PartKind::Head),
        MANIFEST => Some(PartKind::Manifest),
        wire::paths::CONFIG => Some(PartKind::Config),
        _ if is_in_store(name) => Some(PartKind::File),
        _ if name.starts_with(VERSIONS) => {
            let hash = &name[VERSIONS.len()..];
            crate::files::is_hash(hash).then_some(PartKind::Version(hash))
        }
        _ => {
            let (table, number) = name.strip_prefix(ROWS)?.split_once('/')?;
            let number = number.strip_suffix(".jsonl")?;
            let is_plain = !table.is_empty()
                && table.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit());
            is_plain.then_some(PartKind::Rows(table))
        }
    }
}

/// Whether a name is of a file or folder below the store's folders, and of nothing else.
pub(super) fn is_in_store(name: &str) -> bool {
    let path = Path::new(name);
    let parts: Option<Vec<&str>> = path
        .components()
        .map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect();
    let Some(parts) = parts else { return false };
    let is_plain = !name.contains('\0') && parts.join("/") == name;
    is_plain && parts.len() > 1 && FOLDERS.contains(&parts[0]) && parts[1] != STAGE
}

/// Whether a name is of what an earlier restore had left in the store, or of the disk's own folder: builds before this
/// one backed them up.
pub(super) fn is_left_over(name: &str) -> bool {
    name.split('/').nth(1).is_some_and(|name| name.starts_with(OLD) || name == LOST_AND_FOUND)
}

/// Whether no name is there twice, and no file where another one has its folder.
pub(super) fn are_apart<'a>(files: impl Iterator<Item = &'a str>, folders: &[FolderEntry]) -> bool {
    let mut names = BTreeSet::new();
    let mut within: BTreeSet<&str> = folders.iter().map(|folder| folder.name.as_str()).collect();
    for name in files {
        if !names.insert(name) {
            return false;
        }
        let mut rest = name;
        while let Some((folder, _)) = rest.rsplit_once('/') {
            within.insert(folder);
            rest = folder;
        }
    }
    names.iter().all(|name| !within.contains(name))
}

#[cfg(test)]
mod hostile_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_a_backup_has_are_taken() {
        assert_eq!(part_kind("backup.json"), Some(PartKind::Head));
        assert_eq!(part_kind("rows/user_groups/00001.jsonl"), Some(PartKind::Rows("user_groups")));
        assert_eq!(part_kind("files/я/a b.jpg"), Some(PartKind::File));
        let hash = "0f".repeat(32);
        assert_eq!(part_kind(&format!("versions/{hash}")), Some(PartKind::Version(&hash)));
        for name in [
            "",
            "/",
            "files",
            "files/",
            "/files/a",
            "files//a",
            "files/./a",
            "files/../config.json",
            "files/a/../../core/store.db",
            "../files/a",
            "files/a/",
            "files/a\0b",
            "files/.shopwright-restore/new",
            "core/store.db",
            "core/versions/00",
            "versions/00",
            "versions/../00000000000000000000000000000000000000000000000000000000000",
            "admin.here",
            "shop.lock",
            "Config.json",
            "config.json/a",
            "rows/users/1.json",
            "rows/users/x.jsonl",
            "rows/../1.jsonl",
            "rows/Users/1.jsonl",
            "rows//1.jsonl",
            "rows/users/sub/1.jsonl",
        ] {
            assert_eq!(part_kind(name), None, "{name:?}");
        }
    }

    #[test]
    fn a_name_is_there_once_and_a_file_is_no_folder() {
        let folders = [FolderEntry { name: "files/b".into(), mode: 0o755 }];
        assert!(are_apart(["files/a", "files/b/c"].into_iter(), &folders));
        assert!(!are_apart(["files/a", "files/a"].into_iter(), &[]));
        assert!(!are_apart(["files/a", "files/a/b"].into_iter(), &[]));
        assert!(!are_apart(["files/b"].into_iter(), &folders));
    }

    #[test]
    fn what_a_restore_left_is_known() {
        assert!(
            is_left_over("files/.shopwright-restore-old/old/a")
                && is_left_over("units/.shopwright-restore-old")
                && is_left_over("files/lost+found/#1")
        );
        assert!(!is_left_over("files/a/.shopwright-restore-old") && !is_left_over("files"));
    }

    proptest::proptest! {
        #[test]
        fn no_name_leads_out_of_the_store(name in "(files|\\.\\.|a|/|\\.|\\\\|core|units){0,8}") {
            if is_in_store(&name) {
                let path = Path::new("/root").join(&name);
                proptest::prop_assert!(path.starts_with("/root/files") || path.starts_with("/root/units"));
                proptest::prop_assert!(!path.components().any(|part| part == Component::ParentDir));
            }
        }
    }
}
