//! Files, data and settings of the store. See spec: engine-tools.md.

mod content;
pub mod db_execute;
pub mod db_locks;
pub mod db_select;
mod db_steps;
pub mod db_tables;
pub mod db_unlocks;
mod db_writes;
pub mod history_content;
pub mod history_list;
pub mod history_restore;
pub mod html_add;
pub mod html_load;
pub mod html_remove;
pub mod html_rename;
pub mod html_save;
pub mod map_tree;
pub mod map_units;
pub mod search;
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
