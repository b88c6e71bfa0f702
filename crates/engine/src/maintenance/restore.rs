//! A store from its backup, on either database.
//!
//! First the backup is read from end to end; then its files are written beside
//! the old ones and its rows into the database, in one transaction that is
//! compared with the backup before it is committed; then the files are renamed
//! into their places. See `staging.rs` for what a crash in between leaves.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use db::transfer::{self, Contents, Table, TableLoader, TableSum, TransferError, row_line};
use db::{Db, DbError, FreezeReason, Tx, WriteFreeze};

use super::archive::read::{self, Checked, Entry};
use super::archive::{PartKind, is_left_over, part_kind};
use super::database_address;
use super::error::MaintenanceError;
use super::locks::MaintenanceLock;
use super::migrate::bring_up;
use super::progress::{Activity, Step, Watch, go_on, rows_watch};
use super::staging::{self, End, Staging};
use super::versions;
use crate::settings::config_file::{self, ConfigFile};
use crate::store;

/// Rows between two looks at who watches.
const WORD_EVERY: u64 = 500;
/// Database file in which rows of an older build are brought to this one.
const SCRATCH: &str = "core/restore/rows.db";

/// A restore that is wished for.
#[derive(Clone, Debug)]
pub struct RestoreOptions {
    /// The backup.
    pub from: PathBuf,
    /// Address of the database; without it that of the settings here, else the backup's SQLite file.
    pub database: Option<String>,
    /// Rows of a database that is not this store's are removed.
    pub replace: bool,
}

/// A store that was restored.
#[derive(Clone, Debug)]
pub struct Restored {
    /// Name of the store.
    pub store: String,
    /// When the backup was made.
    pub made: String,
    /// Rows of all tables.
    pub rows: u64,
    /// Files.
    pub files: usize,
    /// Files of which the content of an older version was not in the backup.
    pub lost_versions: Vec<String>,
    /// Where a damaged database file was put aside.
    pub set_aside: Option<PathBuf>,
    /// The store is still closed: its owner had closed it, or an engine runs that must be started anew.
    pub is_closed: bool,
    /// An engine runs on this root.
    pub engine_runs: bool,
}

/// Restores a store, in place of what is there.
pub fn restore(
    root: &Path,
    options: &RestoreOptions,
    watch: Watch<'_>,
) -> Result<Restored, MaintenanceError> {
    let checked = read::check(&options.from, watch)?;
    // Nothing is locked or made where it cannot be done.
    Goal::find(root, &checked, options)?;
    let mut lock = MaintenanceLock::alone(root)?;
    staging::recover(root)?;
    // Once more: a restore that was brought to its end has put its own settings into their place.
    let Goal { own, database, config } = Goal::find(root, &checked, options)?;
    let mut db = Db::open(&database, root)?;
    let set_aside = set_damaged_aside(&db, &database, own.as_ref() == Some(&database), root, &lock)?;
    if set_aside.is_some() {
        // Its connections still read the file that was moved away.
        db = Db::open(&database, root)?;
    }
    let names = checked.manifest.parts.iter().map(|part| part.name.as_str());
    let folders = checked.manifest.folders.iter().map(|folder| folder.name.as_str());
    staging::check_places(root, names, folders)?;
    let held = transfer::contents(&db)?;
    if held == Contents::Rows && own.as_ref() != Some(&database) && !options.replace {
        return Err(MaintenanceError::NotEmpty);
    }
    lock.close_store("restore")?;
    let freeze = WriteFreeze::new(FreezeReason::Copy)?;
    match bring_in(root, &checked, &options.from, &db, &freeze, &config, watch) {
        Ok(()) => staging::finish(root)?,
        Err(error) => go_back(root, &lock, error)?,
    }
    let is_closed = lock.finish()?;
    Ok(Restored {
        store: checked.head.store.clone(),
        made: checked.head.made.clone(),
        rows: checked.tables.iter().map(|(_, sum)| sum.rows).sum(),
        files: checked
            .manifest
            .parts
            .iter()
            .filter(|part| part_kind(&part.name) == Some(PartKind::File))
            .count(),
        lost_versions: versions::lost(root, &db)?,
        set_aside,
        is_closed,
        engine_runs: !lock.has_no_engine(),
    })
}

/// What is restored into.
struct Goal {
    /// Address of the database of the store that is here.
    own: Option<String>,
    /// Address of the database that is filled.
    database: String,
    /// The settings then.
    config: ConfigFile,
}

impl Goal {
    fn find(root: &Path, checked: &Checked, options: &RestoreOptions) -> Result<Self, MaintenanceError> {
        let has_store = root.join(wire::paths::CONFIG).exists();
        let here = if has_store { Some(config_file::read(root)?) } else { None };
        let own = here
            .as_ref()
            .map(|here| database_of(here).unwrap_or_else(|| crate::settings::Config::default().database));
        let theirs = config_file::parse(&checked.config)?;
        let database = options.database.clone().or_else(|| own.clone()).or_else(|| database_of(&theirs));
        let database = database.ok_or(MaintenanceError::NoDatabase)?;
        // The store's own address is its owner's choice; any other may be somebody else's.
        if own.as_ref() == Some(&database) {
            database_address::refuse_inside(root, &database)?;
        } else {
            database_address::check(root, &database)?;
        }
        let config = config_file::of_backup(theirs, here.as_ref(), &database);
        config_file::parse(&config_file::text(&config))?;
        Ok(Self { own, database, config })
    }
}

/// Gives a restore up that failed, unless its rows are in all the same: then it goes on.
fn go_back(root: &Path, lock: &MaintenanceLock, error: MaintenanceError) -> Result<(), MaintenanceError> {
    let is_unknown = matches!(error, MaintenanceError::Rows(TransferError::Db(DbError::CommitLost(_))));
    if is_unknown && !staging::is_in(root).unwrap_or(false) {
        // The rows may come in yet. The store stays closed; the same command goes on from here.
        return Err(error);
    }
    match staging::recover(root) {
        Ok(End::On) => Ok(()),
        Ok(End::Back) => {
            lock.give_back()?;
            Err(error)
        }
        // Nobody can tell where it stands: it stays closed too.
        Err(_) => Err(error),
    }
}

fn database_of(config: &ConfigFile) -> Option<String> {
    config.get("database").and_then(|url| url.as_str()).map(str::to_owned)
}

/// A database file that cannot be read any more, the usual reason to restore, is kept beside the new one.
fn set_damaged_aside(
    db: &Db,
    url: &str,
    is_own: bool,
    root: &Path,
    lock: &MaintenanceLock,
) -> Result<Option<PathBuf>, MaintenanceError> {
    let Some(path) = url.strip_prefix("sqlite:").map(|path| root.join(path)) else { return Ok(None) };
    if !db.is_there()? || db.is_sound().unwrap_or(false) {
        return Ok(None);
    }
    if !lock.has_no_engine() {
        return Err(MaintenanceError::EngineRuns);
    }
    // Whatever else lies there is somebody's, and stays where it is.
    let is_file = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
    if !is_file || !(is_own || was_database(&path)) {
        return Err(MaintenanceError::DatabasePath(
            wire::text::quoted(url, 200),
            "what lies there is no database".to_owned(),
        ));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let now = jiff::Timestamp::now().as_second();
    let aside = path.with_file_name(format!("{name}.damaged-{now}"));
    for end in ["-wal", "-shm", ""] {
        let (from, to) = (with_end(&path, end), with_end(&aside, end));
        match fs::rename(&from, &to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(MaintenanceError::File(from, error));
            }
            _ => {}
        }
    }
    Ok(Some(aside))
}

/// Whether a file begins as every SQLite database does.
fn was_database(path: &Path) -> bool {
    use std::io::Read as _;
    let mut start = [0; 16];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && &start == b"SQLite format 3\0"
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(end);
    path.into()
}

/// Files beside the old ones, rows into the database. An error leaves the store as it was.
fn bring_in(
    root: &Path,
    checked: &Checked,
    from: &Path,
    db: &Db,
    freeze: &WriteFreeze,
    config: &ConfigFile,
    watch: Watch<'_>,
) -> Result<(), MaintenanceError> {
    store::make_folders(root).map_err(|(path, error)| MaintenanceError::File(path, error))?;
    let stage = Staging::begin(root, freeze, config)?;
    write_files(&stage, checked, from, watch)?;
    stage.sync();
    bring_up(db)?;
    if checked.head.step == transfer::newest_step() {
        fill(db, checked, from, Some(freeze), watch)?;
        return stage.rows_are_in();
    }
    // Rows of an older build go through the migrations that they have not seen.
    let scratch = Db::open(&format!("sqlite:{SCRATCH}"), root)?;
    scratch.migrate_to(checked.head.step)?;
    fill(&scratch, checked, from, None, watch)?;
    scratch.migrate()?;
    let mut report = rows_watch(watch);
    scratch.read(|scratch| {
        db.bulk_write(|tx| {
            tx.unfreeze_writes()?;
            transfer::copy(scratch, tx, &mut report)?;
            Ok::<_, TransferError>(tx.freeze_writes(freeze)?)
        })
    })?;
    stage.rows_are_in()
}

fn write_files(
    stage: &Staging,
    checked: &Checked,
    from: &Path,
    watch: Watch<'_>,
) -> Result<(), MaintenanceError> {
    let folders = &checked.manifest.folders;
    let is_kept = |name: &str| !is_left_over(name) && !stage.is_fixed(name);
    stage.folders(folders.iter().map(|folder| folder.name.as_str()).filter(|name| is_kept(name)))?;
    let parts = checked.manifest.parts.iter();
    let files =
        parts.filter(|part| matches!(part_kind(&part.name), Some(PartKind::File | PartKind::Version(_))));
    let (mut done, all) = (0, files.map(|part| part.size).sum());
    read::each(from, &mut |mut entry, _| {
        let name = entry.name.clone();
        let hash = match part_kind(&name) {
            Some(PartKind::File) if !is_left_over(&name) => None,
            Some(PartKind::Version(hash)) => Some(hash),
            _ => return Ok(()),
        };
        go_on(watch, Step { what: Activity::Files, name: &name, done, all })?;
        done += entry.size;
        if let Some(hash) = hash {
            versions::restore(stage.root(), hash, &mut entry)?;
            return checked.is_same(&entry.part()?);
        }
        let (mode, modified) = (entry.mode, entry.modified);
        stage.file(&name, mode, modified, &mut entry)?;
        checked.is_same(&entry.part()?)
    })?;
    // The inner ones first.
    let kept = folders.iter().rev().filter(|folder| is_kept(&folder.name));
    stage.folder_modes(kept.map(|folder| (folder.name.as_str(), folder.mode)))
}

/// Rows into the database, compared with the backup before they count.
fn fill(
    db: &Db,
    checked: &Checked,
    from: &Path,
    freeze: Option<&WriteFreeze>,
    watch: Watch<'_>,
) -> Result<(), MaintenanceError> {
    let all = checked.tables.iter().map(|(_, sum)| sum.rows).sum();
    db.bulk_write(|tx| {
        tx.unfreeze_writes()?;
        let tables: Vec<_> = checked.tables.iter().map(|(table, _)| table.clone()).collect();
        transfer::clear(tx, &tables)?;
        let mut feeding = Feeding { tx, tables: &checked.tables, at: 0, filling: None, done: 0, all };
        read::each(from, &mut |entry, _| feeding.take(entry, checked, watch))?;
        feeding.finish()?;
        transfer::check_links(tx)?;
        transfer::compare(tx, &checked.tables, &mut rows_watch(watch), all)?;
        match freeze {
            Some(freeze) => Ok(tx.freeze_writes(freeze)?),
            None => Ok::<_, TransferError>(()),
        }
    })?;
    Ok(())
}

/// Rows of a backup on their way into tables.
struct Feeding<'a> {
    tx: &'a mut Tx,
    tables: &'a [(Table, TableSum)],
    /// The table that is being filled, or comes next.
    at: usize,
    filling: Option<TableLoader<'a>>,
    done: u64,
    all: u64,
}

impl Feeding<'_> {
    fn take(
        &mut self,
        mut entry: Entry<'_>,
        checked: &Checked,
        watch: Watch<'_>,
    ) -> Result<(), MaintenanceError> {
        let name = entry.name.clone();
        let Some(PartKind::Rows(name)) = part_kind(&name) else { return Ok(()) };
        while self.tables.get(self.at).is_some_and(|(table, _)| table.name != name) {
            self.next()?;
        }
        let changed = || MaintenanceError::Archive("it changes while it is read".to_owned());
        let (table, _) = self.tables.get(self.at).ok_or_else(changed)?;
        entry.lines(&mut |text| {
            let values = row_line::parse(text, table).map_err(|_| changed())?;
            if self.done.is_multiple_of(WORD_EVERY) {
                go_on(watch, Step { what: Activity::Rows, name, done: self.done, all: self.all })?;
            }
            self.done += 1;
            let filling = match &mut self.filling {
                Some(filling) => filling,
                none => none.insert(TableLoader::new(self.tx, table)?),
            };
            Ok(filling.push(self.tx, &values)?)
        })?;
        checked.is_same(&entry.part()?)
    }

    /// Ends the table that is being filled.
    fn next(&mut self) -> Result<(), DbError> {
        let Some((table, sum)) = self.tables.get(self.at) else { return Ok(()) };
        let filling = match self.filling.take() {
            Some(filling) => filling,
            None => TableLoader::new(self.tx, table)?,
        };
        self.at += 1;
        filling.finish(self.tx, sum.last_id)
    }

    fn finish(mut self) -> Result<(), DbError> {
        while self.at < self.tables.len() {
            self.next()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
