//! What this process serves: its state, its tools, and calls of them.

pub(crate) mod calls;
pub(crate) mod handler;
pub(crate) mod listed_tool;
pub(crate) mod registry;
pub(crate) mod state;
