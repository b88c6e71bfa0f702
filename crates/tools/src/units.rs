//! What the engine knows of units' code and templates and runs of them, as the engine's halves of tools ask it.

use std::time::Duration;

use db::Tx;
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

/// A command of the store's own tools, its fields checked.
#[derive(Clone, Debug)]
pub struct CommandCall {
    /// The unit's name.
    pub unit: String,
    /// The function.
    pub function: String,
    /// The fields as the unit gets them.
    pub params: Map<String, Value>,
}

/// What a command answered.
#[derive(Clone, Debug, Default)]
pub struct CommandDone {
    /// Its answer, whatever it is.
    pub answer: Value,
    /// How long it took.
    pub took: Duration,
    /// How many statements and typed calls it made.
    pub queries: usize,
    /// How long these took.
    pub query_time: Duration,
}

/// Why a command did not answer.
#[derive(Debug)]
pub enum CommandFailed {
    /// There is no such file below `units/`.
    NoModule(String),
    /// The unit does not export the function.
    NoFunction(String),
    /// The unit ran into an error or over a limit.
    Failed(String),
    /// A failure of ours.
    Broke(Stop),
}

/// What is known of units, and the running of commands.
pub trait Units {
    /// Runs a command in the transaction of the call. What it wrote and set going is kept only if it answers
    /// `result: true`.
    fn command(&self, tx: &mut Tx, call: CommandCall) -> Result<CommandDone, CommandFailed>;
    /// Reads code; the outer error is a failure of ours.
    fn code(&self, path: &str, source: &str) -> Result<Result<CodeReport, Mistake>, Stop>;
    /// Reads a template.
    fn template(&self, path: &str, source: &str) -> Result<(), Mistake>;
    /// Reads a manifest; answers it with every key there is.
    fn manifest(&self, path: &str, source: &str) -> Result<Map<String, Value>, Mistake>;
    /// Whether the server can run units of this language, by the ending of their files.
    fn has_runtime(&self, ending: &str) -> bool;
}
