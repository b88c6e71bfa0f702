//! `tool_`: the store's own tools, which its owner makes.

pub mod list;
pub mod run;

mod access;
mod call;
mod tables;
