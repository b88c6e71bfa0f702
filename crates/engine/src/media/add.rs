//! A file becomes one of the shop's: written below `files/`, then told in the table.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use db::files::{self, NewElementFile};
use db::{DbError, Tx};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::check::{Checked, check};
use super::refused::Refused;

/// A file for a row.
#[derive(Clone, Copy, Debug)]
pub struct NewFile<'a> {
    /// The row's table.
    pub entity: &'a str,
    /// The row's number.
    pub elem_id: i64,
    /// What it is for: `kImage`, `kDocument`.
    pub kind: &'a str,
    /// The name it came with.
    pub name: &'a str,
    /// What is to be seen.
    pub alt: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// Why a file was not added.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// It is not taken.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It cannot be written.
    #[error("the file cannot be written")]
    Io(#[from] io::Error),
    /// The database cannot be used.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Checks a file, writes it below the root's `files/` and adds its row; answers the row's number. The same file of the
/// same row is there once. The file is there before the row is: a commit that fails leaves a file that nobody names.
pub fn add(tx: &mut Tx, root: &Path, new: &NewFile<'_>, now: Timestamp) -> Result<i64, AddError> {
    let checked = check(new.bytes)?;
    let (row, bytes) = described(new, checked);
    put(&root.join("files").join(&row.stored_name), &bytes)?;
    if let Some(known) = files::by_stored_name(tx, &row.stored_name)? {
        return Ok(known.id);
    }
    Ok(files::add(tx, &row, now)?)
}

/// The row of a checked file, and what is to be written under its name below the root's `files/`.
pub fn described(new: &NewFile<'_>, checked: Checked) -> (NewElementFile, Vec<u8>) {
    let Checked { kind, bytes, size } = checked;
    let sha256 = hex(&Sha256::digest(&bytes));
    // The content's own mark in the name: an address never means another content.
    let mark = sha256.get(..16).unwrap_or_default();
    let stored_name = format!("{}/{}/{mark}.{}", new.entity, new.elem_id, kind.ending());
    let row = NewElementFile {
        entity: new.entity.to_owned(),
        elem_id: new.elem_id,
        kind_key: new.kind.to_owned(),
        position: 0,
        real_name: real_name(new.name),
        stored_name,
        mime: kind.mime().to_owned(),
        bytes: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
        sha256,
        width: size.map(|(width, _)| width.into()),
        height: size.map(|(_, height)| height.into()),
        alt: new.alt.to_owned(),
    };
    (row, bytes)
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    if fs::metadata(path).is_ok_and(|known| known.len() == bytes.len() as u64) {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    let fresh = folder.join(format!(".{}", Uuid::new_v4().simple()));
    let mut file = File::create_new(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&fresh, path)
}

/// The last part of a name, without what names of files cannot hold.
fn real_name(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(200).collect();
    if name.trim().is_empty() { "file".to_owned() } else { name }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::real_name;

    #[test]
    fn a_name_is_a_name_and_no_path() {
        assert_eq!(real_name("C:\\photos\\Ёлка 1.jpg"), "Ёлка 1.jpg");
        assert_eq!(real_name("../../x\n.png"), "x.png");
        assert_eq!(real_name("a/"), "file");
    }
}
