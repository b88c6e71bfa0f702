//! Every tool with an engine half, in the order of `tools/list`.

use crate::ToolSpec;

/// All tools of this crate.
pub static ALL: &[ToolSpec] = &[];

/// The tool of this name.
pub fn find(name: &str) -> Option<&'static ToolSpec> {
    ALL.iter().find(|tool| tool.name == name)
}
