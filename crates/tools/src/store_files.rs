//! The store's editable files, as the engine's halves of tools reach them.

use db::Tx;
use jiff::Timestamp;
use wire::Stop;

use crate::StorePath;

/// A file as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its version. What no tool saved has a negative number, made of its content.
    pub version: i64,
}

/// A file or folder below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreEntry {
    /// Path from the root.
    pub path: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Bytes of a file.
    pub size: u64,
    /// When it was written.
    pub time: Timestamp,
}

/// A save or a removal.
#[derive(Clone, Copy, Debug)]
pub struct FileChange<'a> {
    /// The file.
    pub path: &'a StorePath,
    /// Its new content; `None` removes it.
    pub content: Option<&'a [u8]>,
    /// The person.
    pub user_id: i64,
    /// When.
    pub time: Timestamp,
    /// The agent application.
    pub application: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The path before, where a rename begins this one.
    pub moved_from: Option<&'a str>,
}

/// The store's editable files with their versions, for one call.
///
/// Invariant: what is changed here is seen by everybody when the call's transaction is committed, and by nobody
/// where it is not. Inside the call it is seen at once.
pub trait StoreFiles {
    /// A file as it is now; `None` where there is none.
    fn load(&mut self, tx: &mut Tx, path: &StorePath) -> Result<Option<StoredFile>, Stop>;
    /// Saves or removes a file in the call's transaction. Nobody else changes this file until its end.
    fn change(&mut self, tx: &mut Tx, change: FileChange<'_>) -> Result<db::file_versions::Version, Stop>;
    /// Content of a version.
    fn content(&mut self, hash: &str) -> Result<Vec<u8>, Stop>;
    /// Sends a file along with the call's answer, piece by piece; answers its size, `None` where there is none.
    fn send(&mut self, tx: &mut Tx, path: &StorePath) -> Result<Option<u64>, Stop>;
    /// Whether there is a folder.
    fn has_folder(&mut self, tx: &mut Tx, path: &StorePath) -> Result<bool, Stop>;
    /// Everything that agents may see below a folder (all of it for an empty path), sorted; what this call changed
    /// is not in it yet.
    fn entries(&mut self, below: &str) -> Result<Vec<StoreEntry>, Stop>;
}
