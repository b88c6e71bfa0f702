//! A backup: the store's rows, settings and files of one moment in one file.
//!
//! The rows are read in one transaction, while engines go on writing. The files
//! are looked at before it begins and after everything is copied; where they
//! differ, the backup is made anew.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use db::transfer::{self, TransferError};
use db::{Db, FreezeReason};
use jiff::Timestamp;

use super::archive::write::{Rows, Writer};
use super::archive::{FolderEntry, Head, Manifest, TableEntry, columns, read};
use super::error::{MaintenanceError, file_error};
use super::file_tree::FileTree;
use super::folders::FOLDERS;
use super::locks::MaintenanceLock;
use super::progress::{Activity, Step, Watch, go_on};
use super::{staging, versions};
use crate::new_file::private_new;
use crate::settings::{Settings, config_file};

/// How often a backup is begun anew because files changed.
const TRIES: usize = 3;
/// Rows between two looks at who watches.
const WORD_EVERY: u64 = 500;

/// A backup that was made.
#[derive(Clone, Debug)]
pub struct BackedUp {
    /// Rows of all tables.
    pub rows: u64,
    /// Files.
    pub files: usize,
    /// Length of the backup's file.
    pub bytes: u64,
    /// Links and the like below the store's folders, which it does not hold.
    pub left_out: Vec<String>,
    /// Files of which the content of an older version is missing or damaged, and so not in the backup.
    pub lost_versions: Vec<String>,
}

/// Writes a backup of a store into a file of its own, readable by its owner only.
pub fn backup(root: &Path, to: &Path, watch: Watch<'_>) -> Result<BackedUp, MaintenanceError> {
    Settings::read(root)?;
    let _lock = MaintenanceLock::beside(root)?;
    if staging::is_going_on(root) {
        return Err(MaintenanceError::Unfinished);
    }
    let settings = Settings::read(root)?;
    let output = OutputFile::open(root, to)?;
    let db = Db::open(&settings.config.database, root)?;
    match db.write_freeze()?.map(|freeze| freeze.reason) {
        Some(FreezeReason::Moved) => return Err(MaintenanceError::MovedAway),
        // From another root too, where this one's files are old.
        Some(FreezeReason::Copy) => return Err(MaintenanceError::Unfinished),
        Some(FreezeReason::Moving) | None => {}
    }
    db.migrate()?;
    let mut last = String::new();
    for _ in 0..TRIES {
        match attempt(root, &settings.config.name, &db, &output, watch)? {
            Attempt::Done(done) => return Ok(done),
            Attempt::Changed(name) => last = name,
        }
    }
    Err(MaintenanceError::Unquiet(last))
}

/// The file on its way to its place; what is not finished is removed.
struct OutputFile {
    path: PathBuf,
    part: PathBuf,
    file: File,
}

impl OutputFile {
    fn open(root: &Path, to: &Path) -> Result<Self, MaintenanceError> {
        if to == Path::new("-") {
            return Err(MaintenanceError::Stdout);
        }
        // Where it is a link, what it leads to is written.
        let real = if to.is_symlink() { to.canonicalize().map_err(file_error(to))? } else { to.to_owned() };
        let name = real.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let folder = match real.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let folder = folder.canonicalize().map_err(file_error(folder))?;
        let is_inside = |own: &str| root.join(own).canonicalize().is_ok_and(|own| folder.starts_with(own));
        if FOLDERS.iter().any(|own| is_inside(own)) {
            return Err(MaintenanceError::Inside);
        }
        let path = folder.join(name);
        if fs::symlink_metadata(&path).is_ok() && (name.is_empty() || read::head(&path).is_err()) {
            return Err(MaintenanceError::NotABackup(path));
        }
        let part = folder.join(format!("{name}.part"));
        remove_left(&part)?;
        let file = private_new(&part).map_err(file_error(&part))?;
        file.try_lock().map_err(|_| MaintenanceError::AtWork)?;
        Ok(Self { path, part, file })
    }

    /// The file, empty.
    fn fresh(&self) -> io::Result<File> {
        use io::Seek as _;
        let mut file = self.file.try_clone()?;
        file.set_len(0)?;
        file.rewind()?;
        Ok(file)
    }

    fn put(&self) -> io::Result<u64> {
        let bytes = self.file.metadata()?.len();
        fs::rename(&self.part, &self.path)?;
        if let Some(folder) = self.path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(bytes)
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // Gone where it was put into its place.
        let _ = fs::remove_file(&self.part);
    }
}

/// Removes what a killed backup left, but neither what another one writes now nor what is somebody's own.
fn remove_left(part: &Path) -> Result<(), MaintenanceError> {
    let meta = match fs::symlink_metadata(part) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(MaintenanceError::File(part.to_owned(), error)),
    };
    let foreign = || MaintenanceError::ForeignPart(part.to_owned());
    if !meta.is_file() {
        return Err(foreign());
    }
    let left = File::open(part).map_err(file_error(part))?;
    match left.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(MaintenanceError::AtWork),
        Err(TryLockError::Error(error)) => return Err(MaintenanceError::File(part.to_owned(), error)),
    }
    // Killed before its first bytes, it is empty and its owner's only.
    let is_ours = if meta.len() == 0 { is_private(&meta) } else { read::head(part).is_ok() };
    if is_ours { fs::remove_file(part).map_err(file_error(part)) } else { Err(foreign()) }
}

#[cfg(unix)]
fn is_private(meta: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o077 == 0
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

enum Attempt {
    Done(BackedUp),
    /// This was not as before.
    Changed(String),
}

fn attempt(
    root: &Path,
    store: &str,
    db: &Db,
    output: &OutputFile,
    watch: Watch<'_>,
) -> Result<Attempt, MaintenanceError> {
    let config = config_file::read(root)?;
    let before = FileTree::look(root)?;
    let now = Timestamp::now();
    let file = output.fresh().map_err(file_error(&output.part))?;
    let mut writer = Writer::new(file, &output.path, &Head::new(store, now), now)?;
    let tables = write_rows(db, &mut writer, watch)?;
    let text = config_file::text(&config_file::for_backup(config.clone()));
    writer.add(wire::paths::CONFIG, text.as_bytes())?;
    if let Some(changed) = write_files(&mut writer, &before, watch)? {
        return Ok(Attempt::Changed(changed));
    }
    let lost_versions = versions::write(root, db, &mut writer, watch)?;
    if let Some(changed) = before.difference(&FileTree::look(root)?) {
        return Ok(Attempt::Changed(changed));
    }
    if config_file::read(root)? != config {
        return Ok(Attempt::Changed(wire::paths::CONFIG.to_owned()));
    }
    let rows = tables.iter().map(|table| table.rows).sum();
    let folders = before.folders.iter();
    let folders =
        folders.map(|folder| FolderEntry { name: folder.name.clone(), mode: folder.mode }).collect();
    writer.finish(Manifest { tables, folders, parts: Vec::new() })?;
    let bytes = output.put().map_err(file_error(&output.path))?;
    Ok(Attempt::Done(BackedUp {
        rows,
        files: before.files.len(),
        bytes,
        left_out: before.left_out,
        lost_versions,
    }))
}

/// The rows of one moment.
fn write_rows(db: &Db, writer: &mut Writer, watch: Watch<'_>) -> Result<Vec<TableEntry>, MaintenanceError> {
    let tables = transfer::tables()?;
    let entries = db.read(|tx| {
        transfer::refuse_newer(tx)?;
        let all = transfer::rows(tx, &tables)?;
        let mut done = 0;
        let mut entries = Vec::with_capacity(tables.len());
        for table in &tables {
            let mut rows = Rows::new(writer, &table.name);
            let sum = transfer::read(tx, table, &mut |_, line| {
                if u64::is_multiple_of(done, WORD_EVERY) {
                    go_on(watch, Step { what: Activity::Rows, name: &table.name, done, all })?;
                }
                done += 1;
                Ok(rows.add(line)?)
            })?;
            rows.flush()?;
            entries.push(TableEntry {
                name: table.name.clone(),
                columns: columns(table),
                rows: sum.rows,
                last_id: sum.last_id,
                sha256: sum.hex(),
            });
        }
        Ok::<_, TransferError>(entries)
    })?;
    Ok(entries)
}

/// The files; the name of one that changed meanwhile.
fn write_files(
    writer: &mut Writer,
    tree: &FileTree,
    watch: Watch<'_>,
) -> Result<Option<String>, MaintenanceError> {
    let (mut done, all) = (0, tree.bytes());
    for file in &tree.files {
        go_on(watch, Step { what: Activity::Files, name: &file.name, done, all })?;
        if !writer.add_file(file)? {
            return Ok(Some(file.name.clone()));
        }
        done += file.size;
    }
    Ok(None)
}
