//! `try.json`: what runs, for programs and for `tour`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::folder::{taken, write_private};

/// Name of the file in the folder of a `try`.
const FILE: &str = "try.json";

/// Everything that answers now.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ready {
    /// Address of the storefront.
    pub(crate) storefront: String,
    /// Address of the console, with the secret of this start.
    pub(crate) console: String,
    /// The store folder.
    pub(crate) store: PathBuf,
    /// The store's root on the server side.
    pub(crate) root: PathBuf,
    /// The program's home.
    pub(crate) home: PathBuf,
    /// The people.
    pub(crate) people: Vec<Someone>,
    /// What an agent application must start.
    pub(crate) mcp: Launch,
}

/// One of the people.
#[derive(Serialize, Deserialize)]
pub(crate) struct Someone {
    /// Login.
    pub(crate) login: String,
    /// Password.
    pub(crate) password: String,
    /// Name.
    pub(crate) name: String,
    /// Name of the main group.
    pub(crate) group: String,
}

/// A command with its arguments and environment.
#[derive(Serialize, Deserialize)]
pub(crate) struct Launch {
    /// Absolute path of the binary.
    pub(crate) command: String,
    /// Arguments.
    pub(crate) args: Vec<String>,
    /// Variables to add.
    pub(crate) env: BTreeMap<String, String>,
}

impl Ready {
    /// Reads what a running `try` tells.
    pub(crate) fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(FILE);
        if !taken(dir) {
            bail!("no `shopwright try` runs in {}: start it first, in another terminal", dir.display());
        }
        let text = std::fs::read(&path)
            .with_context(|| format!("{} is not there yet: `shopwright try` is starting", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} is not understood", path.display()))
    }

    /// Tells that everything answers.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        write_private(&dir.join(FILE), &(serde_json::to_string_pretty(self)? + "\n"))
    }

    /// Takes the word back: nothing runs any more, or does not run yet.
    pub(super) fn remove(dir: &Path) {
        let _ = std::fs::remove_file(dir.join(FILE));
    }
}
