//! This computer, as the local half of a tool sees it.

use std::path::PathBuf;

/// Where a session works on this computer.
#[derive(Clone, Debug)]
pub struct Here {
    /// The store folder.
    pub store: PathBuf,
    /// The conversation folder.
    pub conversation: PathBuf,
}
