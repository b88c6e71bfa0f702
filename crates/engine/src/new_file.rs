//! Files that are written as a whole, and files that only their owner reads.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use crate::mounts;

/// Puts a file in place of an old one, whose owner, mode and links stay; a new one is its owner's only.
pub(crate) fn replace(file: &Path, text: &str) -> io::Result<()> {
    // Where it is a link, what it leads to is replaced.
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let fresh = file.with_extension("json.new");
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut out = match private_new(&fresh) {
        // Its folder is somebody else's.
        Err(error) if file.exists() && is_closed(&error) => return write_over(file, text),
        made => made?,
    };
    out.write_all(text.as_bytes())?;
    if let Ok(old) = fs::metadata(file) {
        keep_rights(&out, &old)?;
    }
    out.sync_all()?;
    match fs::rename(&fresh, file) {
        // It is mounted by itself. Killed here, the new file beside it has all of the text.
        Err(error) if matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices) => {
            write_over(file, text)?;
            fs::remove_file(&fresh)
        }
        done => done,
    }
}

/// Looks whether [`replace`] can be done, and changes nothing.
pub(crate) fn check_replace(file: &Path) -> io::Result<()> {
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    if !mounts::is_mount(file) {
        let probe = file.with_extension("json.probe");
        match private_new(&probe) {
            Err(error) if file.exists() && is_closed(&error) => {}
            made => return made.and_then(|_| fs::remove_file(&probe)),
        }
    }
    fs::OpenOptions::new().write(true).open(file).map(drop)
}

fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Writes over a file that cannot be replaced.
fn write_over(file: &Path, text: &str) -> io::Result<()> {
    let mut out = fs::OpenOptions::new().write(true).open(file)?;
    out.write_all(text.as_bytes())?;
    out.set_len(text.len() as u64)?;
    out.sync_all()
}

/// A file that was not there, readable by its owner only.
pub(crate) fn private_new(file: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// Whoever could read the old file reads the new one, and nobody else.
#[cfg(unix)]
fn keep_rights(out: &fs::File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    let new = out.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid())
        && fchown(out, Some(old.uid()), Some(old.gid())).is_err()
    {
        // Only the system's administrator gives files away: what another group might do is not this one's right.
        return out.set_permissions(fs::Permissions::from_mode(old.mode() & 0o700 | 0o600));
    }
    out.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
}

#[cfg(not(unix))]
fn keep_rights(_: &fs::File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}
