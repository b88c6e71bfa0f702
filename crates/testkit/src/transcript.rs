//! Transcripts: Markdown files that are documentation, specification and test at once.
//!
//! A file holds `## Headings`, each a test of its own on a fresh copy of the sample
//! store. Under a heading stand prose and blocks: `given` sets the scene, `call` is one
//! tool call, `answer` or `refusal NAME` is what must come back. With `UPDATE=1` the
//! answers are written anew. CONTRIBUTING.md lists what `given` understands.

mod given;
mod page;
mod redact;
mod replay;

pub use page::{Page, Piece, Section};
pub use redact::pretty;
pub use replay::replay;

/// Name of the catalogue's row that a refusal's text comes from: the one with the longest fitting beginning, and of
/// several that begin with a value after the same code the one whose advice stands at the end.
pub fn refusal_name(text: &str) -> Option<&'static str> {
    wire::catalogue::row_of(text).map(|row| row.name)
}
