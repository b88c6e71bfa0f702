//! The authority's pair of keys on disk.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use licence::{Keys, PublicKey};

use super::LicensorError;
use crate::new_file::private_new;

fn file(folder: &Path) -> PathBuf {
    folder.join("authority.key")
}

/// Makes the pair; the answer is what stores keep in their settings.
pub fn make_keys(folder: &Path) -> Result<PublicKey, LicensorError> {
    let file = file(folder);
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => LicensorError::KeyExists(file.clone()),
        _ => LicensorError::File(file.clone(), error),
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let keys = Keys::generate()?;
    let mut out = private_new(&file).map_err(failed)?;
    out.write_all(format!("{}\n", keys.secret.reveal()?).as_bytes())
        .and_then(|()| out.sync_all())
        .map_err(failed)?;
    Ok(keys.public)
}

/// The public key, for the settings of stores.
pub fn public_key(folder: &Path) -> Result<PublicKey, LicensorError> {
    Ok(keys(folder)?.public)
}

pub(super) fn keys(folder: &Path) -> Result<Keys, LicensorError> {
    let file = file(folder);
    let text = fs::read_to_string(&file).map_err(|error| LicensorError::File(file, error))?;
    Ok(Keys::of(text.parse()?)?)
}
