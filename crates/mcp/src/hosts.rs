//! The agent applications: what their protocol versions know, and what single ones do.

pub(crate) mod protocol;
pub mod quirks;
