//! What the program's home page shows of the store.

use serde::{Deserialize, Serialize};

use crate::{MemoryCount, Tasks};

/// The engine's answer to [`crate::Request::PROGRAM_HOME`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramHome {
    /// The person's open tasks; `None` without the right to the scheduler.
    pub tasks: Option<Tasks>,
    /// The notes the person's agents see; `None` without the rights to list and load them.
    pub memory: Option<MemoryCount>,
    /// Who has tables in work, in the order of their beginning.
    pub in_work: Vec<InWork>,
}

/// Tables that one person took into work together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InWork {
    /// The person's login.
    pub login: String,
    /// The person's name.
    pub name: String,
    /// What they do, in words.
    pub what: String,
    /// The tables.
    pub tables: Vec<String>,
    /// Since when, RFC 3339 in UTC.
    pub since: String,
}
