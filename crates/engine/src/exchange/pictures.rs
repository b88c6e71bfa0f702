//! Pictures of products: those of the store itself, and those in a folder beside the table.
//!
//! Nothing is fetched from other servers: an address names a file of the folder by
//! the end of its path, and one that is not there is counted and told.

use std::fs;
use std::path::{Component, Path, PathBuf};

use db::{Tx, files};
use jiff::Timestamp;

use super::goods::Picture;
use crate::media::{AddError, NewFile, add, check, described};

/// Largest picture that is read.
const LARGEST: u64 = 32 << 20;

/// Where pictures come from and go to.
pub(super) struct Pictures<'a> {
    pub(super) root: &'a Path,
    /// The folder of pictures, without links in its path.
    pub(super) folder: Option<PathBuf>,
    /// The store's address, whose own pictures are there already.
    pub(super) url: &'a str,
    /// Nothing is written.
    pub(super) is_check: bool,
}

/// What came of a picture.
pub(super) enum Came {
    /// It is there already.
    Known,
    /// It was added.
    Added,
    /// There is no such file.
    Missing,
    /// It is no picture that is taken.
    Bad,
}

impl Pictures<'_> {
    /// Gives a product a picture.
    pub(super) fn give(
        &self,
        tx: &mut Tx,
        product: i64,
        picture: &Picture,
        now: Timestamp,
    ) -> Result<Came, AddError> {
        let own = picture.source.strip_prefix(self.url).and_then(|rest| rest.strip_prefix("/files/"));
        let known = files::of(tx, "products", product)?;
        if let Some(own) = own
            && known.iter().any(|file| file.stored_name == own)
        {
            return Ok(Came::Known);
        }
        let folder = own.is_some().then(|| self.root.join("files"));
        let Some((path, bytes)) = self.read(&picture.source, folder.as_deref()) else {
            return Ok(Came::Missing);
        };
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let new = NewFile {
            entity: "products",
            elem_id: product,
            kind: "kImage",
            name,
            alt: &picture.alt,
            bytes: &bytes,
        };
        let Ok(checked) = check(&bytes) else { return Ok(Came::Bad) };
        let (row, _) = described(&new, checked);
        if !row.mime.starts_with("image/") {
            return Ok(Came::Bad);
        }
        if known.iter().any(|file| file.sha256 == row.sha256) {
            return Ok(Came::Known);
        }
        if self.is_check {
            return Ok(Came::Added);
        }
        add(tx, self.root, &new, now)?;
        Ok(Came::Added)
    }

    /// The file that a source names: the longest end of its path that is one of the folder's.
    fn read(&self, source: &str, own: Option<&Path>) -> Option<(PathBuf, Vec<u8>)> {
        let path = source.split(['?', '#']).next()?;
        let path = path.split_once("://").map_or(path, |(_, rest)| rest);
        let decoded = percent_decoded(path);
        let parts: Vec<&str> = decoded.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
        for folder in own.into_iter().chain(self.folder.as_deref()) {
            let folder = fs::canonicalize(folder).ok()?;
            for from in 0..parts.len() {
                let below: PathBuf = parts.get(from..)?.iter().collect();
                if !below.components().all(|part| matches!(part, Component::Normal(_))) {
                    continue;
                }
                // After links: a file of the folder, and nothing behind it.
                let Ok(found) = fs::canonicalize(folder.join(below)) else { continue };
                if found.starts_with(&folder) && found.is_file() {
                    return Some((found.clone(), wire::files::read_regular(&found, LARGEST).ok()?));
                }
            }
        }
        None
    }
}

/// A path of an address as its letters.
fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let code = others.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let code = code.filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = others.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}
