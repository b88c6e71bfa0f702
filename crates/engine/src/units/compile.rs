//! Compiling a unit's source: in a worker, never in the engine.

use sandbox::{CompileError, Compiled, Pool};

use super::error::UnitError;

/// Compiles a module; `path` is its name.
pub(crate) fn compile(pool: &Pool, path: &str, source: &str) -> Result<Compiled, UnitError> {
    pool.compile(path, source).map_err(|error| match error {
        CompileError::Syntax(error) => {
            UnitError::Syntax { file: error.unit, line: error.line, column: error.column, text: error.text }
        }
        other => UnitError::Broken(other.to_string()),
    })
}
