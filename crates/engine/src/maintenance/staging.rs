//! Files of a backup on their way to their places.
//!
//! They are first written beside the old ones, in a folder of a name of its own
//! within each of the store's folders (which may be links, or disks of their
//! own), and come to their places by renaming, once the rows are in the
//! database. `core/restore` tells that this is going on. Each step can be taken
//! again after a crash.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use db::{Db, FreezeReason, WriteFreeze};

use super::archive::is_left_over;
use super::error::{MaintenanceError, file_error};
use super::folders::{FOLDERS, OLD, STAGE};
use crate::mounts::{self, Fixed};
use crate::new_file::check_replace;
use crate::settings::config_file::{self, ConfigFile};

/// Where it is told that a restore is going on.
const GOING_ON: &str = "core/restore";
/// File that says that the old files are out of their places.
const OUT: &str = "out";
/// Folder of the old files that are out of their places.
const ASIDE: &str = "old";
/// File beside the token that says that the rows are in.
const ROWS_IN: &str = "rows-in";

/// How a restore that was not ended came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// There was none, or it was given up.
    Back,
    /// Its rows were in, and now its files are too.
    On,
}

/// A restore that is going on.
pub(super) struct Staging {
    root: PathBuf,
    /// What stays, in each of the folders.
    fixed: Vec<(&'static str, Fixed)>,
}

impl Staging {
    /// Begins: `freeze` will be that of the database when its rows are in.
    pub(super) fn begin(
        root: &Path,
        freeze: &WriteFreeze,
        config: &ConfigFile,
    ) -> Result<Self, MaintenanceError> {
        let going_on = root.join(GOING_ON);
        private_folder(&going_on)?;
        let token = going_on.join("token");
        fs::write(&token, &freeze.token).map_err(file_error(&token))?;
        let file = going_on.join(wire::paths::CONFIG);
        config_file::write(&file, config).map_err(file_error(&file))?;
        for folder in FOLDERS {
            let folder = root.join(folder);
            fs::create_dir_all(&folder).map_err(file_error(&folder))?;
            private_folder(&folder.join(STAGE).join("new"))?;
        }
        let fixed = FOLDERS.iter().map(|folder| (*folder, Fixed::within(&root.join(folder)))).collect();
        Ok(Self { root: root.to_owned(), fixed })
    }

    /// The store's root.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether a folder of the backup is one that stays here as it is.
    pub(super) fn is_fixed(&self, name: &str) -> bool {
        let Some((top, rest)) = name.split_once('/') else { return false };
        self.fixed.iter().any(|(folder, fixed)| *folder == top && fixed.holds(Path::new(rest)))
    }

    /// Where a file or folder of the backup waits.
    fn part_kind(&self, name: &str) -> PathBuf {
        let (top, rest) = name.split_once('/').unwrap_or((name, ""));
        self.root.join(top).join(STAGE).join("new").join(rest)
    }

    /// Makes the folders, the outer ones first.
    pub(super) fn folders<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<(), MaintenanceError> {
        for name in names {
            private_folder(&self.part_kind(name))?;
        }
        Ok(())
    }

    /// Gives the folders their modes, once they are full.
    pub(super) fn folder_modes<'a>(
        &self,
        modes: impl Iterator<Item = (&'a str, u32)>,
    ) -> Result<(), MaintenanceError> {
        for (name, mode) in modes.filter(|(name, _)| name.contains('/')) {
            let path = self.part_kind(name);
            set_mode(&path, mode | 0o700).map_err(file_error(&path))?;
        }
        Ok(())
    }

    /// Writes a file.
    pub(super) fn file(
        &self,
        name: &str,
        mode: u32,
        modified: u64,
        from: &mut dyn io::Read,
    ) -> Result<(), MaintenanceError> {
        let path = self.part_kind(name);
        let mut write = || {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
            io::copy(from, &mut file)?;
            // A year that the system does not know is no reason to lose the file.
            if let Some(time) = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(modified)) {
                let _ = file.set_modified(time);
            }
            drop(file);
            set_mode(&path, mode | 0o600)
        };
        write().map_err(file_error(&path))
    }

    /// Notes that the rows are in: from now on there is only the way on, whoever opens the database meanwhile.
    pub(super) fn rows_are_in(&self) -> Result<(), MaintenanceError> {
        let note = self.root.join(GOING_ON).join(ROWS_IN);
        File::create(&note).and_then(|file| file.sync_all()).map_err(file_error(&note))
    }

    /// Waits until the disk has everything.
    pub(super) fn sync(&self) {
        #[cfg(unix)]
        rustix::fs::sync();
    }
}

fn private_folder(path: &Path) -> Result<(), MaintenanceError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(file_error(path))
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// Whether a restore was begun and not ended.
pub(super) fn is_going_on(root: &Path) -> bool {
    root.join(GOING_ON).exists()
}

/// Whether there is anything that [`recover`] would touch.
pub(super) fn has_left(root: &Path) -> bool {
    is_going_on(root) || stages(root).any(|stage| stage.exists())
}

fn stages(root: &Path) -> impl Iterator<Item = PathBuf> {
    FOLDERS.iter().flat_map(move |folder| [STAGE, OLD].map(|name| root.join(folder).join(name)))
}

/// Brings a restore that was killed to its end: on where the rows are in, else back.
///
/// Once a file of the old store is out of its place there is only the way on:
/// the database may have been opened meanwhile, from the root of another node.
pub(super) fn recover(root: &Path) -> Result<End, MaintenanceError> {
    if is_going_on(root)
        && (root.join(GOING_ON).join(ROWS_IN).exists() || has_begun_to_place(root) || is_in(root)?)
    {
        finish(root)?;
        return Ok(End::On);
    }
    discard(root)?;
    Ok(End::Back)
}

/// Whether the database is the copy that this restore made.
pub(super) fn is_in(root: &Path) -> Result<bool, MaintenanceError> {
    let token = fs::read_to_string(root.join(GOING_ON).join("token")).unwrap_or_default();
    let wanted = WriteFreeze { reason: FreezeReason::Copy, token };
    match database(root) {
        Some(db) => Ok(db.write_freeze()? == Some(wanted)),
        None => Ok(false),
    }
}

/// Whether files have begun to change places.
fn has_begun_to_place(root: &Path) -> bool {
    let mut stages = FOLDERS.iter().map(|folder| root.join(folder).join(STAGE));
    stages.any(|stage| stage.join(ASIDE).exists() || stage.join(OUT).exists())
}

/// The database that the restore fills; `None` if it did not come so far.
fn database(root: &Path) -> Option<Db> {
    let text = fs::read_to_string(root.join(GOING_ON).join(wire::paths::CONFIG)).ok()?;
    let file = config_file::parse(&text).ok()?;
    Db::open(file.get("database")?.as_str()?, root).ok()
}

/// Gives a restore up: what was written beside the store's files is removed.
fn discard(root: &Path) -> Result<(), MaintenanceError> {
    for folder in FOLDERS {
        let folder = root.join(folder);
        let stage = folder.join(STAGE);
        // A restore that nobody remembers has taken these out of their places: they may be the only ones.
        if stage.join(ASIDE).exists() || stage.join(OUT).exists() {
            put_in_place(&folder).map_err(file_error(&folder))?;
        }
        remove(&stage)?;
        remove_old(&folder);
    }
    remove(&root.join(GOING_ON))
}

/// Puts everything into its place, opens the database, and forgets that a restore was going on.
pub(super) fn finish(root: &Path) -> Result<(), MaintenanceError> {
    for folder in FOLDERS {
        let folder = root.join(folder);
        put_in_place(&folder).map_err(file_error(&folder))?;
    }
    let config = root.join(GOING_ON).join(wire::paths::CONFIG);
    let text = fs::read_to_string(&config).map_err(file_error(&config))?;
    let file = config_file::parse(&text)?;
    let target = root.join(wire::paths::CONFIG);
    if let Err(error) = config_file::write(&target, &file) {
        // The store runs with the settings that are there, if they name the database that was filled.
        if config_file::read(root).ok().and_then(|here| here.get("database").cloned())
            != file.get("database").cloned()
        {
            return Err(MaintenanceError::File(target, error));
        }
        tracing::warn!("`config.json` cannot be written and stays as it is: {error}");
    }
    // Unless it was opened meanwhile, or is somebody else's now.
    if is_in(root)?
        && let Some(db) = database(root)
    {
        db.unfreeze_writes()?;
    }
    remove(&root.join(GOING_ON))?;
    for folder in FOLDERS {
        remove_old(&root.join(folder));
    }
    Ok(())
}

/// Refuses a restore whose files could not be put into their places, before anything is changed.
pub(super) fn check_places<'a>(
    root: &Path,
    files: impl Iterator<Item = &'a str>,
    folders: impl Iterator<Item = &'a str>,
) -> Result<(), MaintenanceError> {
    let config = root.join(wire::paths::CONFIG);
    check_replace(&config).map_err(file_error(&config))?;
    let fixed = FOLDERS.map(|folder| (folder, Fixed::within(&root.join(folder))));
    let is_in_the_way = |name: &str, is_file: bool| {
        let Some((top, rest)) = name.split_once('/') else { return false };
        let Some((_, fixed)) = fixed.iter().find(|(folder, _)| *folder == top) else { return false };
        let rest = Path::new(rest);
        // An empty folder is there already.
        if is_file {
            fixed.holds(rest) || fixed.is_within(rest)
        } else {
            rest.parent().is_some_and(|rest| fixed.holds(rest))
        }
    };
    let names = files.map(|name| (name, true)).chain(folders.map(|name| (name, false)));
    let mut names = names.filter(|(name, _)| !is_left_over(name));
    if let Some((name, _)) = names.find(|(name, is_file)| is_in_the_way(name, *is_file)) {
        let words = "a disk or folder is mounted there; unmount it for the time of the restore";
        return Err(MaintenanceError::InTheWay(root.join(name), words.to_owned()));
    }
    fixed.iter().try_for_each(|(folder, fixed)| check_moves(&root.join(folder), fixed))
}

/// Whether everything in a folder can be moved out of it.
#[cfg(unix)]
fn check_moves(folder: &Path, fixed: &Fixed) -> Result<(), MaintenanceError> {
    use rustix::fs::{Access, access};
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(file_error(folder))?,
    };
    for entry in entries {
        let entry = entry.map_err(file_error(folder))?;
        let kind = entry.file_type().map_err(file_error(folder))?;
        let name = entry.file_name();
        if fixed.holds(Path::new(&name)) || kind.is_symlink() {
            continue;
        }
        match access(entry.path(), Access::WRITE_OK) {
            // A folder that goes elsewhere is written in itself; nobody moves what is marked as immutable.
            Err(error) if kind.is_dir() || error == rustix::io::Errno::PERM => {
                return Err(MaintenanceError::InTheWay(entry.path(), io::Error::from(error).to_string()));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_moves(_: &Path, _: &Fixed) -> Result<(), MaintenanceError> {
    Ok(())
}

/// Everything in a folder makes place for what waits in it.
///
/// What cannot be moved stays, and is told by name: a store that stays closed for its sake helps nobody.
fn put_in_place(folder: &Path) -> io::Result<()> {
    let stage = folder.join(STAGE);
    if !stage.exists() {
        return Ok(());
    }
    let fixed = Fixed::within(folder);
    if !stage.join(OUT).exists() {
        move_entries(folder, &stage.join(ASIDE), Path::new(""), &fixed)?;
        File::create(stage.join(OUT))?;
    }
    move_entries(&stage.join("new"), folder, Path::new(""), &fixed)?;
    // What an earlier restore could not remove is in the way.
    remove_old(folder);
    let names = std::iter::once(OLD.to_owned()).chain((1..1000).map(|number| format!("{OLD}-{number}")));
    let free = names.map(|name| folder.join(name)).find(|old| !old.exists());
    fs::rename(&stage, free.unwrap_or_else(|| folder.join(OLD)))
}

/// Moves everything within a folder to another one, but for what stays.
fn move_entries(from: &Path, to: &Path, within: &Path, fixed: &Fixed) -> io::Result<()> {
    fs::create_dir_all(to.join(within))?;
    for entry in fs::read_dir(from.join(within))? {
        let name = within.join(entry?.file_name());
        let is_ours = |name: &Path| name.to_str().is_some_and(|name| name == STAGE || name.starts_with(OLD));
        if is_ours(&name) || (fixed.holds(&name) && !from.ends_with("new")) {
            continue;
        }
        let is_split = fixed.is_within(&name) && from.join(&name).is_dir();
        if is_split {
            move_entries(from, to, &name, fixed)?;
        } else if let Err(error) = fs::rename(from.join(&name), to.join(&name)) {
            let name = name.display();
            tracing::warn!("`{name}` in {} cannot be moved and stays as it is: {error}", from.display());
        }
    }
    Ok(())
}

/// Removes the old files, unless something is mounted among them; what cannot be removed is in nobody's way.
fn remove_old(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(OLD) {
            continue;
        }
        if let Err(error) = remove(&entry.path()) {
            tracing::warn!("Old files cannot be removed: {error}");
        }
    }
}

fn remove(path: &Path) -> Result<(), MaintenanceError> {
    // Nothing on a disk that was mounted meanwhile is removed.
    let mounted = path.canonicalize().map(|real| mounts::below(&real)).unwrap_or_default();
    if let Some(mount) = mounted.into_iter().next() {
        return Err(MaintenanceError::InTheWay(mount, "a disk or folder is mounted there".to_owned()));
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(MaintenanceError::File(path.to_owned(), error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn putting_in_place_can_be_taken_up_at_every_point() {
        // Where it was killed: after so many steps.
        for killed in 0..=6 {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            let stage = folder.join(STAGE);
            fs::create_dir_all(stage.join("new/b")).unwrap();
            fs::write(stage.join("new/a"), "new a").unwrap();
            fs::write(stage.join("new/b/c"), "new c").unwrap();
            fs::write(folder.join("a"), "old a").unwrap();
            fs::write(folder.join("z"), "old z").unwrap();
            // Left by an earlier restore.
            fs::create_dir_all(folder.join(OLD).join("old/q")).unwrap();
            let steps: [&dyn Fn(); 6] = [
                &|| fs::create_dir(stage.join("old")).unwrap(),
                &|| fs::rename(folder.join("a"), stage.join("old/a")).unwrap(),
                &|| fs::rename(folder.join("z"), stage.join("old/z")).unwrap(),
                &|| fs::write(stage.join(OUT), "").unwrap(),
                &|| fs::rename(stage.join("new/a"), folder.join("a")).unwrap(),
                &|| fs::rename(stage.join("new/b"), folder.join("b")).unwrap(),
            ];
            steps[..killed].iter().for_each(|step| step());
            put_in_place(folder).unwrap();
            assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "new a");
            assert_eq!(fs::read_to_string(folder.join("b/c")).unwrap(), "new c");
            assert!(!folder.join("z").exists() && !stage.exists());
            assert_eq!(fs::read_to_string(folder.join(OLD).join("old/z")).unwrap(), "old z");
            assert!(!folder.join(OLD).join("old/q").exists());
            put_in_place(folder).unwrap();
            assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "new a");
        }
    }

    #[test]
    fn files_that_are_out_of_their_places_are_never_given_up() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let folder = root.join("files");
        let stage = folder.join(STAGE);
        let begin = || {
            fs::create_dir_all(stage.join("new")).unwrap();
            fs::write(stage.join("new/a"), "new a").unwrap();
            fs::write(folder.join("z"), "old z").unwrap();
        };
        // Before that they are.
        begin();
        recover(root).unwrap();
        assert!(!stage.exists() && !folder.join("a").exists() && folder.join("z").exists());
        // Nobody knows of the database, or it was opened by another node: the restore goes on.
        for is_told in [false, true] {
            begin();
            fs::create_dir_all(stage.join(ASIDE)).unwrap();
            fs::rename(folder.join("z"), stage.join(ASIDE).join("z")).unwrap();
            if is_told {
                fs::create_dir_all(root.join(GOING_ON)).unwrap();
                fs::write(root.join(GOING_ON).join("token"), "t").unwrap();
                let text = "{\"database\": \"sqlite:core/store.db\"}";
                fs::write(root.join(GOING_ON).join(wire::paths::CONFIG), text).unwrap();
            }
            assert_eq!(recover(root).unwrap(), if is_told { End::On } else { End::Back });
            assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "new a");
            assert!(!has_left(root));
        }
        assert!(fs::read_to_string(root.join(wire::paths::CONFIG)).unwrap().contains("store.db"));
    }
}
