//! Addresses of databases: which ones a store may be moved to or restored into.

use std::path::{Component, Path, PathBuf};

use super::error::MaintenanceError;
use super::folders::FOLDERS;

/// Refuses a database file within the folders that are swapped as a whole.
pub(super) fn refuse_inside(root: &Path, url: &str) -> Result<(), MaintenanceError> {
    let Some(file) = url.strip_prefix("sqlite:") else { return Ok(()) };
    let file = real(&root.join(file));
    let mut folders = FOLDERS.iter().map(|folder| real(&root.join(folder)));
    if folders.any(|folder| file.starts_with(folder)) {
        Err(MaintenanceError::DatabaseInside)
    } else {
        Ok(())
    }
}

/// A path without links and detours, as far as it is there.
fn real(path: &Path) -> PathBuf {
    let mut real = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(real.pop()),
            Component::CurDir => {}
            part => real.push(part),
        }
        if let Ok(there) = real.canonicalize() {
            real = there;
        }
    }
    real
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_lies_outside_of_what_a_restore_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("files/a")).unwrap();
        std::fs::create_dir_all(root.join("core")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("files/a"), root.join("core/link")).unwrap();
        let inside = |url: &str| refuse_inside(root, url).is_err();
        assert!(inside("sqlite:files/x.db") && inside("sqlite:core/../units/new/x.db"));
        assert!(inside(&format!("sqlite:{}", root.join("profiles/x.db").display())));
        #[cfg(unix)]
        assert!(inside("sqlite:core/link/x.db") && !inside("sqlite:core/link/../../x.db"));
        assert!(!inside("sqlite:core/store.db") && !inside("sqlite:x.db") && !inside("sqlite:filesystem.db"));
        assert!(!inside("sqlite:files/../core/x.db") && !inside("postgres://h/files/x"));
    }
}
