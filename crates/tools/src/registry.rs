//! Every tool with an engine half, in the order of `tools/list`.
//!
//! Generated from the files of the families by `cargo test -p tools registry`.

use crate::{ToolSpec, engine, memory, repo};

/// All tools of this crate.
pub static ALL: &[ToolSpec] = &[
    memory::list::TOOL,
    memory::load::TOOL,
    memory::remove::TOOL,
    memory::save::TOOL,
    repo::list::TOOL,
    engine::db_locks::TOOL,
    engine::db_unlocks::TOOL,
];

/// The tool of this name.
pub fn find(name: &str) -> Option<&'static ToolSpec> {
    ALL.iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests;
