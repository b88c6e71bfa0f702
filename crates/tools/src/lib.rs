//! One file per MCP tool: what it declares, what the engine does, what the MCP server does locally.

// Doc comments of parameters are what models read: `units/<name>.js` there is a path and no HTML.
#![allow(rustdoc::invalid_html_tags, reason = "paths with places to fill in, in texts for models")]

mod arguments;
mod engine_context;
mod field_text;
mod file_changes;
pub mod inline;
mod jsonl;
mod local_context;
mod pool;
pub mod reference;
mod registry;
mod schema;
pub mod site;
mod spec;
mod store_files;
mod store_path;
mod table;
mod units;
pub mod unlisted;
mod zip;

#[cfg(test)]
mod test_store;

pub mod engine;
pub mod memory;
pub mod repo;
pub mod shop;
pub mod tool;

pub use arguments::check_arguments;
pub use engine::unit_path::is_unit_name;
pub use engine_context::{Caller, ElementUpload, EngineCx, Server};
pub use local_context::{IncomingFile, LocalContext};
pub use registry::{ALL, find};
pub use schema::{input_schema, output_schema};
pub use site::{FormFields, SiteAnswer, SiteRequest, SiteVisitor};
pub use spec::{
    Ask, Download, Effect, NoteRead, Picture, Prepare, Present, Presented, Right, Run, Show, SiteHalves,
    ToolSpec, erased_ask, erased_download, erased_prepare, erased_present, erased_run, erased_show,
};
pub use store_files::{FileChange, StoreEntry, StoreFiles, StoredFile};
pub use store_path::{StorePath, is_open};
pub use table::Table;
pub use units::{CodeReport, CommandCall, CommandDone, CommandFailed, Mistake, Units};
pub use unlisted::UNLISTED;
