//! Who works on a store's root: engines, and at most one command that moves or restores it.
//!
//! Both are locks of the system on files in `core`, which end with their
//! process however it ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::error::{MaintenanceError, file_error};

/// Held by every running engine together, or by one command alone.
const ENGINE: &str = "core/engine.lock";
/// Held by one command alone, or by several together that do not disturb each other.
const WORKS: &str = "core/works.lock";
/// What the marker of the closed store says when a command of ours set it.
const OURS: &str = "closed by `shopwright store ";

/// Says that an engine runs on this root, until the file is dropped; `None` while a command has it alone.
pub(crate) fn engine_lock(root: &Path) -> io::Result<Option<File>> {
    let file = open(root, ENGINE)?;
    match file.try_lock_shared() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn open(root: &Path, name: &str) -> io::Result<File> {
    let path = root.join(name);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut new = OpenOptions::new();
    new.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut new, 0o600);
    match new.open(&path) {
        Ok(file) => {
            hand_over(&file, &path);
            return Ok(file);
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let file = match open_there(OpenOptions::new().write(true), &path) {
        // Somebody else's, made by the system's administrator: to lock it is enough to read it.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            open_there(OpenOptions::new().read(true), &path)?
        }
        done => done?,
    };
    hide(&file, &path);
    Ok(file)
}

/// Opens a file that is there, without waiting where it is a pipe.
fn open_there(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, wire::files::without_waiting());
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

/// A lock that the system's administrator makes is as the folder is, so that the engine's user can use it too.
#[cfg(unix)]
fn hand_over(file: &File, path: &Path) {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    // Where it cannot be done, or need not, it stays as it is.
    if let Some(Ok(folder)) = path.parent().map(fs::metadata) {
        if fchown(file, Some(folder.uid()), Some(folder.gid())).is_err() {
            let _ = fchown(file, None, Some(folder.gid()));
        }
        let _ = file.set_permissions(fs::Permissions::from_mode(lock_mode(folder.mode())));
    }
}

/// Takes a lock that an earlier build made from those who may only read: whoever can open it can hold it.
#[cfg(unix)]
fn hide(file: &File, path: &Path) {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let (Some(Ok(folder)), Ok(meta)) = (path.parent().map(fs::metadata), file.metadata()) else { return };
    let (mode, hidden) = (meta.mode() & 0o777, meta.mode() & lock_mode(folder.mode()));
    // Its group is another one's where it was not handed over.
    let hidden = if meta.gid() == folder.gid() { hidden } else { hidden & 0o606 };
    if mode != hidden {
        // Only its owner can.
        let _ = file.set_permissions(fs::Permissions::from_mode(hidden));
    }
}

/// Who may open a lock: its owner, and whoever may make files beside it and could as well put another in its place.
#[cfg(unix)]
fn lock_mode(folder: u32) -> u32 {
    let writes = folder & 0o022;
    0o600 | writes | (writes << 1)
}

#[cfg(not(unix))]
fn hand_over(_: &File, _: &Path) {}

#[cfg(not(unix))]
fn hide(_: &File, _: &Path) {}

/// A command at work.
pub(super) struct MaintenanceLock {
    marker: PathBuf,
    _works: File,
    /// Held while no engine runs, so that none starts meanwhile.
    no_engine: Option<File>,
    /// The marker is ours, of this command or of a killed one.
    is_ours: bool,
}

impl MaintenanceLock {
    /// Work that needs the store alone: refused while an engine lets people in.
    pub(super) fn alone(root: &Path) -> Result<Self, MaintenanceError> {
        let mut lock = Self::take(root, true)?;
        let file = open(root, ENGINE).map_err(file_error(&root.join(ENGINE)))?;
        match file.try_lock() {
            Ok(()) => lock.no_engine = Some(file),
            Err(TryLockError::WouldBlock) if lock.marker.exists() => {}
            Err(TryLockError::WouldBlock) => return Err(MaintenanceError::EngineRuns),
            Err(TryLockError::Error(error)) => return Err(MaintenanceError::File(root.join(ENGINE), error)),
        }
        Ok(lock)
    }

    /// Work that goes on beside engines and other such work.
    pub(super) fn beside(root: &Path) -> Result<Self, MaintenanceError> {
        Self::take(root, false)
    }

    /// Work that goes on beside engines, and no other work.
    pub(super) fn beside_engines(root: &Path) -> Result<Self, MaintenanceError> {
        Self::take(root, true)
    }

    fn take(root: &Path, alone: bool) -> Result<Self, MaintenanceError> {
        let path = root.join(WORKS);
        let file = open(root, WORKS).map_err(file_error(&path))?;
        match if alone { file.try_lock() } else { file.try_lock_shared() } {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(MaintenanceError::AtWork),
            Err(TryLockError::Error(error)) => return Err(MaintenanceError::File(path, error)),
        }
        let marker = root.join(wire::paths::SHOP_LOCK);
        let is_ours = fs::read_to_string(&marker).is_ok_and(|text| text.starts_with(OURS));
        Ok(Self { marker, _works: file, no_engine: None, is_ours })
    }

    /// Whether no engine runs, and none can start.
    pub(super) fn has_no_engine(&self) -> bool {
        self.no_engine.is_some()
    }

    /// Closes the store for people, where it is not.
    pub(super) fn close_store(&mut self, command: &str) -> Result<(), MaintenanceError> {
        if self.marker.exists() {
            return Ok(());
        }
        fs::write(&self.marker, format!("{OURS}{command}`\n")).map_err(file_error(&self.marker))?;
        self.is_ours = true;
        Ok(())
    }

    /// Opens the store for people. Whether it was closed.
    pub(super) fn open_store(&self) -> Result<bool, MaintenanceError> {
        match fs::remove_file(&self.marker) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(MaintenanceError::File(self.marker.clone(), error)),
        }
    }

    /// Opens the store again if it was a command of ours that closed it. Whether it is closed now.
    pub(super) fn give_back(&self) -> Result<bool, MaintenanceError> {
        if self.is_ours {
            self.open_store()?;
        }
        Ok(self.marker.exists())
    }

    /// The same at the end of a move or a restore: an engine that still runs must first be started anew.
    pub(super) fn finish(&self) -> Result<bool, MaintenanceError> {
        if self.has_no_engine() { self.give_back() } else { Ok(self.marker.exists()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_works_at_a_time_and_only_without_an_open_engine() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let engine = engine_lock(root).unwrap().unwrap();
        let second = engine_lock(root).unwrap().unwrap();
        assert!(matches!(MaintenanceLock::alone(root), Err(MaintenanceError::EngineRuns)));
        fs::write(root.join(wire::paths::SHOP_LOCK), "").unwrap();
        assert!(!MaintenanceLock::alone(root).unwrap().has_no_engine());
        drop((engine, second));
        let lock = MaintenanceLock::alone(root).unwrap();
        assert!(lock.has_no_engine());
        assert!(engine_lock(root).unwrap().is_none(), "no engine starts meanwhile");
        assert!(matches!(MaintenanceLock::beside(root), Err(MaintenanceError::AtWork)));
        drop(lock);
        let beside = MaintenanceLock::beside(root).unwrap();
        assert!(MaintenanceLock::beside(root).is_ok());
        assert!(matches!(MaintenanceLock::alone(root), Err(MaintenanceError::AtWork)));
        drop(beside);
        assert!(engine_lock(root).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_mark_made_by_the_systems_administrator_serves_the_engines_user() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("core")).unwrap();
        let gives = chown(root.join("core"), Some(65534), Some(65534)).is_ok();
        drop(MaintenanceLock::alone(root).unwrap());
        let meta = fs::metadata(root.join(ENGINE)).unwrap();
        assert_eq!((meta.uid() == 65534, meta.mode() & 0o777), (gives, 0o600));
        // The folder's group works in it too.
        fs::set_permissions(root.join("core"), fs::Permissions::from_mode(0o770)).unwrap();
        drop(MaintenanceLock::beside(root).unwrap());
        fs::remove_file(root.join(WORKS)).unwrap();
        drop(MaintenanceLock::beside(root).unwrap());
        assert_eq!(fs::metadata(root.join(WORKS)).unwrap().mode() & 0o777, 0o660);
        // One that can only be read, as of an earlier build.
        fs::set_permissions(root.join(ENGINE), fs::Permissions::from_mode(0o444)).unwrap();
        let mark = engine_lock(root).unwrap();
        assert!(mark.is_some() && matches!(MaintenanceLock::alone(root), Err(MaintenanceError::EngineRuns)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nobody_else_can_open_the_locks_and_hold_them() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let mode = |name: &str| fs::metadata(root.join(name)).unwrap().permissions().mode() & 0o777;
        let lock = MaintenanceLock::alone(root).unwrap();
        assert_eq!((mode(ENGINE), mode(WORKS)), (0o600, 0o600));
        drop(lock);
        // As an earlier build made them.
        for name in [ENGINE, WORKS] {
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o644)).unwrap();
        }
        drop(engine_lock(root).unwrap());
        drop(MaintenanceLock::beside(root).unwrap());
        assert_eq!((mode(ENGINE), mode(WORKS)), (0o600, 0o600));
        // A pipe in its place is not waited for.
        fs::remove_file(root.join(ENGINE)).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, root.join(ENGINE), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(engine_lock(root).is_err());
    }

    #[test]
    fn only_a_marker_of_ours_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join(wire::paths::SHOP_LOCK);
        fs::write(&marker, "").unwrap();
        let mut lock = MaintenanceLock::alone(folder.path()).unwrap();
        lock.close_store("migrate").unwrap();
        assert!(lock.finish().unwrap());
        assert!(marker.exists());
        fs::remove_file(&marker).unwrap();
        lock.close_store("migrate").unwrap();
        drop(lock);
        // As a killed command leaves it.
        assert!(!MaintenanceLock::alone(folder.path()).unwrap().finish().unwrap());
        assert!(!marker.exists());
    }
}
