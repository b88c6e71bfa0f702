//! What a caller hands in and gets back: compiled modules, limits, the host, errors with their place.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::value::Value;

/// A module compiled by [`crate::Pool::compile`], which alone makes it: bytecode of any other origin
/// could do in a worker what native code can.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub(crate) name: String,
    pub(crate) bytecode: Arc<[u8]>,
    pub(crate) imports: Vec<String>,
    pub(crate) exports: Vec<String>,
    pub(crate) hash: [u8; 32],
}

impl Compiled {
    /// The name under which other modules import it and errors name it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of the modules it imports, resolved, each once, in the order of the source.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// Names it exports, in the order of the source; `*` for each module it exports again as a whole.
    #[must_use]
    pub fn exports(&self) -> &[String] {
        &self.exports
    }

    /// Hash of name and source.
    #[must_use]
    pub fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    /// Size of the bytecode.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytecode.len()
    }
}

/// Limits of one call.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Memory of the script, in bytes.
    pub memory: u64,
    /// Time by the clock, with the host calls it makes.
    pub time: Duration,
    /// How many host calls it may make.
    pub calls: u32,
    /// Size of what it returns, and of the arguments of each host call, in bytes; a value counts some
    /// thirty bytes beside its text.
    pub output: u64,
    /// How deep calls may lie in each other; 1 lets it call no other unit.
    pub depth: u32,
}

impl Default for Limits {
    /// A unit of the storefront.
    fn default() -> Self {
        Self { memory: 64 << 20, time: Duration::from_secs(2), calls: 1_000, output: 8 << 20, depth: 16 }
    }
}

/// One call of a function of a unit.
#[derive(Clone, Debug)]
pub struct Call {
    /// The entry first, then everything it imports, transitively.
    pub modules: Vec<Arc<Compiled>>,
    /// Name of the exported function.
    pub function: String,
    /// Its arguments.
    pub args: Vec<Value>,
    /// A map of plain data whose fields appear in `shop` (`shop.request`, `shop.user`), frozen.
    pub globals: Value,
    /// Limits of the call.
    pub limits: Limits,
}

/// Why a host call is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// A word for scripts to branch on (`error.code`).
    pub code: String,
    /// The text (`error.message`).
    pub text: String,
    /// Whether the script ends here, unable to catch it.
    pub fatal: bool,
}

impl HostError {
    /// A refusal that the script may catch.
    pub fn new(code: impl Into<String>, text: impl Into<String>) -> Self {
        Self { code: code.into(), text: text.into(), fatal: false }
    }

    /// A refusal that ends the script.
    pub fn fatal(code: impl Into<String>, text: impl Into<String>) -> Self {
        Self { code: code.into(), text: text.into(), fatal: true }
    }
}

/// Where in a unit something happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Name of the module.
    pub unit: String,
    /// Line from 1; 0 where it is not known.
    pub line: u32,
    /// Column from 1; 0 where it is not known.
    pub column: u32,
    /// The function, empty at the top of a module.
    pub function: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.unit, self.line, self.column)
    }
}

/// Which limit a call went over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::memory`].
    Memory,
    /// [`Limits::time`].
    Time,
    /// [`Limits::calls`].
    Calls,
    /// [`Limits::output`].
    Output,
    /// [`Limits::depth`].
    Depth,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Time => "time",
            Self::Calls => "host calls",
            Self::Output => "size of the output",
            Self::Depth => "depth of units in each other",
        })
    }
}

/// Why a call has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The entry exports no such function.
    #[error("{unit} exports no function {function}")]
    NoFunction {
        /// The entry.
        unit: String,
        /// What was asked for.
        function: String,
    },
    /// A module that is imported was not handed in.
    #[error("{unit} imports {name}, which is not there")]
    NoModule {
        /// The importing module.
        unit: String,
        /// The module that is not there.
        name: String,
    },
    /// The script threw and nobody caught it.
    #[error("{place}: {text}")]
    Exception {
        /// Where.
        place: Box<Place>,
        /// Name and message of the error.
        text: String,
        /// The `code` of a [`HostError`], empty for errors of the script's own.
        code: String,
        /// The calls that led there, the innermost first.
        chain: Vec<Place>,
    },
    /// A limit was reached.
    #[error("{place}: over the limit: {which}")]
    Limit {
        /// Where; line 0 if the worker had to be killed.
        place: Box<Place>,
        /// Which.
        which: Limit,
        /// The calls that led there, the innermost first.
        chain: Vec<Place>,
    },
    /// The function returned a promise that nothing can settle any more.
    #[error("{unit}: the promise that {function} returned never settles")]
    NeverSettles {
        /// The entry.
        unit: String,
        /// The function.
        function: String,
    },
    /// The value cannot cross the border: a function, a symbol, a ring of objects.
    #[error("{unit}: what {function} returned is no plain data: {text}")]
    NoData {
        /// The entry.
        unit: String,
        /// The function.
        function: String,
        /// Why.
        text: String,
    },
    /// The worker died, or sent what no worker of ours sends; it has been replaced.
    #[error("the worker was lost: {text}")]
    WorkerLost {
        /// What happened to it.
        text: String,
    },
}
