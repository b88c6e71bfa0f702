//! The folder of a `try`: what lies where, and who works in it.
//!
//! | path | what |
//! |---|---|
//! | `server/` | the store's root on the server side |
//! | `store/` | the store folder on the person's computer |
//! | `home/` | the program's home, unless `SHOPWRIGHT_HOME` is set |
//! | `people.json` | passwords of the three people; drawn anew when it is lost |
//! | `try.json` | addresses and people, there only while `try` runs |
//! | `try.lock` | held by the running `try` |

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The folder, with the lock that says that a `try` runs here.
pub(super) struct TryFolder {
    dir: PathBuf,
    _lock: File,
}

impl TryFolder {
    /// Takes the folder, making it where it is missing.
    pub(super) fn take(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
        let dir = dir.canonicalize()?;
        let path = dir.join("try.lock");
        let lock = home::lock_file(&path);
        let lock = lock.with_context(|| format!("cannot open {}", path.display()))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { dir, _lock: lock }),
            Err(TryLockError::WouldBlock) => bail!(
                "another `shopwright try` works in {}; stop it with Ctrl-C, or name another folder",
                dir.display()
            ),
            Err(TryLockError::Error(error)) => Err(error).context("cannot lock try.lock"),
        }
    }

    /// The folder itself, absolute.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The store's root on the server side.
    pub(super) fn root(&self) -> PathBuf {
        self.dir.join("server")
    }

    /// The store folder.
    pub(super) fn store(&self) -> PathBuf {
        self.dir.join("store")
    }

    /// The program's home.
    pub(super) fn home(&self) -> Result<PathBuf> {
        match std::env::var_os(wire::env::HOME).filter(|home| !home.is_empty()) {
            // The MCP server starts elsewhere, where a relative one would be another.
            Some(set) => Ok(std::path::absolute(set)?),
            None => Ok(self.dir.join("home")),
        }
    }
}

/// Whether a `try` works in this folder now.
pub(super) fn taken(dir: &Path) -> bool {
    let Ok(lock) = OpenOptions::new().write(true).open(dir.join("try.lock")) else { return false };
    matches!(lock.try_lock(), Err(TryLockError::WouldBlock))
}

/// Writes a file that only this person may read, whole or not at all.
pub(super) fn write_private(path: &Path, text: &str) -> Result<()> {
    use std::io::Write;
    let fresh = path.with_extension("new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let write = || -> std::io::Result<()> {
        let _ = std::fs::remove_file(&fresh);
        let mut file = options.open(&fresh)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&fresh, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{TryFolder, taken};

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_hold_the_lock() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("try.lock");
        // Left by an older build.
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let _taken = TryFolder::take(folder.path()).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_folder_is_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!taken(folder.path()));
        let taken_folder = TryFolder::take(folder.path()).unwrap();
        assert!(taken(folder.path()));
        assert!(TryFolder::take(folder.path()).is_err());
        drop(taken_folder);
        assert!(!taken(folder.path()));
    }
}
