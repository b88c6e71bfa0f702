//! Private folders, whole-file writes, comparing folders.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Makes a folder that only this user may enter; tightens one that is there.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }
    #[cfg(not(unix))]
    fs::create_dir_all(path)
}

/// Writes a file whole or not at all: readers see the old text or the new one.
///
/// A new file is readable by this user only; an existing one keeps its mode. A
/// link is followed, so that a file kept elsewhere stays there.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = tempfile::Builder::new().prefix(".shopwright-").tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    if let Ok(before) = fs::metadata(&target) {
        temporary.as_file().set_permissions(before.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&target)?;
    Ok(())
}

/// Opens the file that processes lock against each other, for this user only: whoever else could open it
/// could hold the lock.
pub fn lock_file(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
        let file = options.mode(0o600).custom_flags(wire::files::without_waiting()).open(path)?;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

/// Whether both paths name the same folder, links and dots resolved.
pub fn same_folder(one: &Path, other: &Path) -> bool {
    one == other || resolved(one) == resolved(other)
}

/// The path with links and dots resolved as far as it exists.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests;
