//! What an agent application must start.

use std::path::Path;

use home::{Approval, Home};
use wire::env;

/// The server's name in every application.
pub(super) const SERVER: &str = "shopwright";

/// What an agent application must start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The binary.
    pub(crate) command: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// What it needs in its environment.
    pub(crate) env: Vec<(&'static str, String)>,
    /// Whether applications ask before a call, where the person chose.
    pub(crate) approval: Option<Approval>,
}

impl Launch {
    /// The server pinned to this store folder.
    pub(crate) fn pinned(program: &Path, home: &Home, store: &Path) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        // An application need not inherit the variable that leads to a home of its own.
        let env = if home.is_found_by_itself() { Vec::new() } else { vec![(env::HOME, text(home.path()))] };
        let args = vec!["mcp".to_owned(), "--store".to_owned(), text(store)];
        Self { command: text(program), args, env, approval: home.approval() }
    }
}
