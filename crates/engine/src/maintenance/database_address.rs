//! Addresses of databases: which ones a store may be moved to or restored into.

use std::path::{Component, Path, PathBuf};

use super::error::MaintenanceError;
use super::folders::FOLDERS;

/// What below `core` and in the root itself is the engine's own, and no place for a database.
const RESERVED: [&str; 11] = [
    "config.json",
    "config.json.new",
    wire::paths::SHOP_LOCK,
    wire::paths::ADMIN_HERE,
    "core/engine.lock",
    "core/works.lock",
    "core/restore",
    "core/cache",
    "core/log",
    "core/tmp",
    "core/versions",
];

/// Refuses the address of a database file that is not a place of its own within the root.
///
/// An address comes from an archive that anybody may have made, or from a hurried hand: it must not lead to a file of
/// somebody else, nor to one of the engine's own.
pub(crate) fn check(root: &Path, url: &str) -> Result<(), MaintenanceError> {
    let Some(name) = url.strip_prefix("sqlite:") else { return Ok(()) };
    let refused =
        |why: &str| Err(MaintenanceError::DatabasePath(wire::text::quoted(url, 200), why.to_owned()));
    if name.starts_with("//") {
        return refused("the path follows `sqlite:` at once");
    }
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if name.contains(['\0', '?']) || !Path::new(name).components().all(is_plain) {
        return refused("the path is relative, and stays within the store's root");
    }
    let (top, file) = (real(root), real(&root.join(name)));
    let Ok(within) = file.strip_prefix(&top) else {
        return refused("the path leads out of the store's root");
    };
    if within.as_os_str().is_empty() || file.is_dir() {
        return refused("it is a folder");
    }
    refuse_inside(root, url)?;
    if RESERVED.iter().any(|own| within.starts_with(own) || Path::new(own).starts_with(within)) {
        return refused("it is the engine's own");
    }
    if file.exists() && !file.is_file() { refused("it is no plain file") } else { Ok(()) }
}

/// Refuses a database file within the folders whose content is replaced as a whole.
pub(super) fn refuse_inside(root: &Path, url: &str) -> Result<(), MaintenanceError> {
    let Some(name) = url.strip_prefix("sqlite:") else { return Ok(()) };
    let file = real(&root.join(name));
    let is_inside = FOLDERS.iter().any(|folder| file.starts_with(real(&root.join(folder))));
    if is_inside { Err(MaintenanceError::DatabaseInside) } else { Ok(()) }
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

    fn store() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("files/a")).unwrap();
        std::fs::create_dir_all(folder.path().join("core/log")).unwrap();
        folder
    }

    #[test]
    fn a_database_lies_within_the_root_and_is_none_of_the_engines_own_files() {
        let folder = store();
        let root = folder.path();
        let absolute = format!("sqlite:{}", root.join("core/store.db").display());
        for url in [
            "sqlite:",
            "sqlite:.",
            "sqlite:core",
            "sqlite:core/",
            "sqlite:config.json",
            "sqlite:./config.json",
            "sqlite:core/engine.lock",
            "sqlite:core/restore/rows.db",
            "sqlite:core/log/x.db",
            "sqlite:shop.lock",
            "sqlite:../x.db",
            "sqlite:core/../../x.db",
            "sqlite:/etc/passwd",
            "sqlite://core/store.db",
            "sqlite:///core/store.db",
            absolute.as_str(),
        ] {
            assert!(matches!(check(root, url), Err(MaintenanceError::DatabasePath(..))), "{url}");
        }
        for url in ["sqlite:core/store.db", "sqlite:x.db", "sqlite:filesystem.db", "postgres://h/files/x"] {
            assert!(check(root, url).is_ok(), "{url}");
        }
    }

    #[test]
    fn a_database_lies_outside_of_what_a_restore_replaces() {
        let folder = store();
        let inside = |url: &str| matches!(check(folder.path(), url), Err(MaintenanceError::DatabaseInside));
        assert!(
            inside("sqlite:files/x.db") && inside("sqlite:units/new/x.db") && inside("sqlite:profiles/x.db")
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_before_a_path_is_judged() {
        let folder = store();
        let (root, elsewhere) = (folder.path(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(root.join("files/a"), root.join("core/link")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), root.join("core/out")).unwrap();
        assert!(matches!(check(root, "sqlite:core/link/x.db"), Err(MaintenanceError::DatabaseInside)));
        assert!(matches!(check(root, "sqlite:core/out/x.db"), Err(MaintenanceError::DatabasePath(..))));
    }
}
