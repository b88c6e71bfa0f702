//! Files, data and settings of the store. See spec: engine-tools.md.

mod bundles;
mod content;
pub mod db_execute;
pub mod db_locks;
pub mod db_select;
mod db_steps;
pub mod db_tables;
pub mod db_unlocks;
mod db_writes;
pub mod dev_cache_clear;
pub mod dev_config;
mod element_files;
mod file_tree;
pub mod files_add;
pub mod files_load;
pub mod files_remove;
mod groups;
pub mod history_content;
pub mod history_list;
pub mod history_restore;
pub mod html_add;
pub mod html_load;
pub mod html_remove;
pub mod html_rename;
pub mod html_save;
pub mod image_add;
pub mod image_dir_add;
pub mod image_dir_remove;
pub mod image_dir_rename;
pub mod image_load;
pub mod image_remove;
pub mod image_rename;
pub mod map_tree;
pub mod map_units;
pub mod search;
pub mod static_add;
pub mod static_dir_add;
pub mod static_dir_remove;
pub mod static_dir_rename;
pub mod static_load;
pub mod static_remove;
pub mod static_rename;
pub mod static_save;
pub mod template_add;
pub mod template_remove;
pub mod template_rename;
mod unit;
pub mod unit_add;
pub mod unit_load;
pub(crate) mod unit_path;
pub mod unit_remove;
pub mod unit_rename;
pub mod unit_save;
pub mod whole_load;

#[cfg(test)]
mod db_execute_tests;
#[cfg(test)]
mod db_tests;
#[cfg(test)]
mod tests;
