//! Folders of the root that belong to the store, and what a restore makes within them.

/// Folders of the root that belong to the store.
pub(super) const FOLDERS: [&str; 4] = ["files", "templates", "units", "profiles"];
/// Name of the folder of what is on its way, within each of the store's folders.
pub(super) const STAGE: &str = ".shopwright-restore";
/// The same, when all is in place and the old files are removed.
pub(super) const OLD: &str = ".shopwright-restore-old";
