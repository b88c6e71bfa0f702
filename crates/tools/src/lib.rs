//! One file per MCP tool: what it declares, what the engine does, what the MCP server does locally.

mod arguments;
mod engine_context;
mod local_context;
pub mod reference;
mod registry;
mod schema;
mod spec;
mod table;

#[cfg(test)]
mod test_store;

pub mod engine;
pub mod memory;
pub mod repo;

pub use arguments::check_arguments;
pub use engine_context::{Caller, EngineCx};
pub use local_context::LocalContext;
pub use registry::{ALL, find};
pub use schema::{input_schema, output_schema};
pub use spec::{
    Effect, Prepare, Present, Presented, Right, Run, ToolSpec, erased_prepare, erased_present, erased_run,
};
pub use table::Table;
