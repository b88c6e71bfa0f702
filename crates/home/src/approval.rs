//! `agents.toml`: whether agent applications ask a person before each call of ours.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::HomeError;
use crate::files::write_atomic;

/// Whether an agent application asks before each call of a tool of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// It asks.
    Ask,
    /// It does not: the store's rights, limits and journal are what holds.
    Approve,
}

/// The file's form.
#[derive(Serialize, Deserialize)]
struct Choices {
    approval: Approval,
}

impl Approval {
    /// What the file says. A missing or damaged one chooses nothing.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let text = wire::files::read_regular_text(path, 64 * 1024).ok()?;
        toml::from_str::<Choices>(&text).ok().map(|choices| choices.approval)
    }

    pub(crate) fn write(self, path: &Path) -> Result<(), HomeError> {
        let text =
            toml::to_string(&Choices { approval: self }).map_err(|why| HomeError::broken(path, why))?;
        write_atomic(path, text.as_bytes()).map_err(|source| HomeError::io(path, source))
    }
}
