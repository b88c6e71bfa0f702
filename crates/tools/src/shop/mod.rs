//! The store from outside: its pages, the web modules and the agent's own units. See spec: engine-tools.md.

pub mod agent;
pub mod module;
pub mod page;
mod shown;
