//! One file per MCP tool: what it declares, what the engine does, what the MCP server does locally.

mod arguments;
mod cx;
mod here;
pub mod reference;
mod registry;
mod schema;
mod spec;
mod table;

#[cfg(test)]
mod house;

pub mod engine;
pub mod memory;
pub mod repo;

pub use arguments::check_arguments;
pub use cx::{Caller, EngineCx};
pub use here::Here;
pub use registry::{ALL, find};
pub use schema::{input_schema, output_schema};
pub use spec::{Ask, Effect, Right, Run, Show, Shown, ToolSpec, erased_ask, erased_run, erased_show};
pub use table::Table;
