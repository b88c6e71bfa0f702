//! What the engine knows of units' code and templates, as the engine's halves of tools ask it.

use serde_json::{Map, Value};
use wire::Stop;

/// A mistake in a unit, a manifest or a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Line, from 1; 0 is unknown.
    pub line: u32,
    /// Column, from 1; 0 is unknown.
    pub column: u32,
    /// What is wrong.
    pub text: String,
}

/// What a unit's code says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeReport {
    /// Exported functions: name and signature.
    pub functions: Vec<(String, String)>,
    /// Modules it imports, as written.
    pub imports: Vec<String>,
    /// Names that are used and declared nowhere, with line and column.
    pub undeclared: Vec<(String, u32, u32)>,
    /// Names that are declared and never used, with line and column.
    pub unused: Vec<(String, u32, u32)>,
}

/// Checks what is to be saved. Nothing is run.
pub trait Units {
    /// Reads code; the outer error is a failure of ours.
    fn code(&self, path: &str, source: &str) -> Result<Result<CodeReport, Mistake>, Stop>;
    /// Reads a template.
    fn template(&self, path: &str, source: &str) -> Result<(), Mistake>;
    /// Reads a manifest; answers it with every key there is.
    fn manifest(&self, path: &str, source: &str) -> Result<Map<String, Value>, Mistake>;
    /// Whether the server can run units of this language, by the ending of their files.
    fn has_runtime(&self, ending: &str) -> bool;
}
