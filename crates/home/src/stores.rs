//! `stores.toml`: the stores on this computer and which was opened last.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::HomeError;
use crate::files::{same_folder, write_atomic};

/// Largest list that is read.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// The stores on this computer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreList {
    /// Folder of the store opened last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<PathBuf>,
    /// The stores, in the order they were added.
    #[serde(default)]
    pub stores: Vec<StoreEntry>,
}

/// A store on this computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreEntry {
    /// Name, as the list shows it.
    pub name: String,
    /// The store folder.
    pub folder: PathBuf,
}

impl StoreList {
    /// Reads a list; an absent file is an empty one.
    pub(crate) fn read(path: &Path) -> Result<Self, HomeError> {
        match wire::files::read_regular_text(path, MOST_BYTES) {
            Ok(text) => Self::parse(&text).map_err(|why| HomeError::broken(path, why)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(HomeError::io(path, error)),
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), HomeError> {
        let text = toml::to_string(self).map_err(|why| HomeError::broken(path, why))?;
        write_atomic(path, text.as_bytes()).map_err(|source| HomeError::io(path, source))
    }

    /// Reads the text of a list; a BOM is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))
            .map_err(|error| error.message().to_owned())
    }

    /// The store of this folder.
    pub fn find(&self, folder: &Path) -> Option<&StoreEntry> {
        self.stores.iter().find(|store| same_folder(&store.folder, folder))
    }

    /// Adds a store, or renames the one that has this folder.
    pub fn put(&mut self, entry: StoreEntry) {
        match self.stores.iter_mut().find(|store| same_folder(&store.folder, &entry.folder)) {
            Some(store) => *store = entry,
            None => self.stores.push(entry),
        }
    }

    /// Takes a store off the list. The folder itself stays.
    pub fn remove(&mut self, folder: &Path) {
        self.stores.retain(|store| !same_folder(&store.folder, folder));
        if self.last.as_ref().is_some_and(|last| same_folder(last, folder)) {
            self.last = None;
        }
    }
}

#[cfg(test)]
mod tests;
