//! `tool_`: the store's own tools, which its owner makes.

pub mod export;
pub mod list;
pub mod pool;
pub mod run;

mod access;
mod call;
mod references;
mod steps;
mod tables;
