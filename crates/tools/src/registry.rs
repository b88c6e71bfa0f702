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
    tool::export::TOOL,
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
    engine::dev_cache_clear::TOOL,
    engine::dev_config::TOOL,
    engine::files_add::TOOL,
    engine::files_load::TOOL,
    engine::files_remove::TOOL,
    engine::history_content::TOOL,
    engine::history_list::TOOL,
    engine::history_restore::TOOL,
    engine::html_add::TOOL,
    engine::html_load::TOOL,
    engine::html_remove::TOOL,
    engine::html_rename::TOOL,
    engine::html_save::TOOL,
    engine::image_add::TOOL,
    engine::image_dir_add::TOOL,
    engine::image_dir_remove::TOOL,
    engine::image_dir_rename::TOOL,
    engine::image_load::TOOL,
    engine::image_remove::TOOL,
    engine::image_rename::TOOL,
    engine::map_tree::TOOL,
    engine::map_units::TOOL,
    engine::search::TOOL,
    engine::static_add::TOOL,
    engine::static_dir_add::TOOL,
    engine::static_dir_remove::TOOL,
    engine::static_dir_rename::TOOL,
    engine::static_load::TOOL,
    engine::static_remove::TOOL,
    engine::static_rename::TOOL,
    engine::static_save::TOOL,
    engine::template_add::TOOL,
    engine::template_remove::TOOL,
    engine::template_rename::TOOL,
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
