//! Every tool with an engine half, in the order of `tools/list`.
//!
//! Generated from the files of the families by `cargo test -p tools registry`.

use crate::{ToolSpec, engine, memory, repo, shop, tool};

/// All tools of this crate.
pub static ALL: &[ToolSpec] = &[
    memory::list::TOOL,
    memory::load::TOOL,
    memory::remove::TOOL,
    memory::save::TOOL,
    repo::list::TOOL,
    repo::read::TOOL,
    repo::write::TOOL,
    tool::list::TOOL,
    tool::pool::TOOL,
    tool::run::TOOL,
    shop::agent::TOOL,
    shop::module::TOOL,
    shop::page::TOOL,
    engine::db_execute::TOOL,
    engine::db_locks::TOOL,
    engine::db_select::TOOL,
    engine::db_tables::TOOL,
    engine::db_unlocks::TOOL,
    engine::history_content::TOOL,
    engine::history_list::TOOL,
    engine::history_restore::TOOL,
    engine::html_add::TOOL,
    engine::html_load::TOOL,
    engine::html_remove::TOOL,
    engine::html_rename::TOOL,
    engine::html_save::TOOL,
    engine::map_tree::TOOL,
    engine::map_units::TOOL,
    engine::search::TOOL,
    engine::unit_add::TOOL,
    engine::unit_load::TOOL,
    engine::unit_remove::TOOL,
    engine::unit_rename::TOOL,
    engine::unit_save::TOOL,
    engine::whole_load::TOOL,
];

/// The tool of this name.
pub fn find(name: &str) -> Option<&'static ToolSpec> {
    ALL.iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests;
