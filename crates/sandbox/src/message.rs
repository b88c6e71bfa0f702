//! What goes over the socket between engine and worker: frames, and the messages in them.

mod bytes;
mod frame;
mod parts;
pub(crate) mod testing;

pub(crate) use bytes::Message;
pub(crate) use frame::{Fault, Line};

use std::sync::Arc;

use crate::analysis::{Analysis, SyntaxError};
use crate::call::{CallError, HostError};
use crate::protection::Protection;
use crate::value::Value;

/// The form of the messages; engine and worker are the same binary, and an upgrade under a running
/// engine is noticed by it.
pub(crate) const VERSION: u32 = 1;

/// What the engine says to a worker.
#[derive(Debug)]
pub(crate) enum ToWorker {
    /// First of all: what the global object `shop` is made of.
    Setup(Setup),
    /// Compile a module.
    Compile { name: String, source: String },
    /// Analyse a module.
    Analyse { name: String, source: String },
    /// Call a function.
    Call(Box<Request>),
    /// The value of the host call that was asked last.
    Answer(Value),
    /// The refusal of the host call that was asked last.
    Refuse(HostError),
    /// For tests: make a system call that the filter forbids.
    #[cfg(feature = "evil")]
    Evil(String),
}

/// What the global object `shop` is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setup {
    /// Host calls that become functions of `shop` as they are; dots make objects.
    pub(crate) functions: Vec<String>,
    /// Source of a module whose default export adds to `shop` what more it needs.
    pub(crate) facade: String,
}

/// A call as the worker sees it.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) modules: Vec<(String, Arc<[u8]>)>,
    pub(crate) function: String,
    pub(crate) args: Vec<Value>,
    pub(crate) globals: Value,
    pub(crate) memory: u64,
    pub(crate) microseconds: u64,
    pub(crate) calls: u32,
    pub(crate) output: u64,
}

/// What a worker says to the engine.
#[derive(Debug)]
pub(crate) enum FromWorker {
    /// First of all, when it has shut itself in.
    Hello { version: u32, protection: Protection },
    /// It can serve now, or why it cannot.
    Ready(Result<(), SyntaxError>),
    /// A module was compiled.
    Compiled { bytecode: Vec<u8>, imports: Vec<String>, exports: Vec<String> },
    /// A module has a mistake of syntax.
    Syntax(SyntaxError),
    /// A module was analysed.
    Analysis(Box<Analysis>),
    /// A script asks for something.
    HostCall { name: String, args: Vec<Value> },
    /// The call returned.
    Done(Value),
    /// The call failed.
    Failed(Box<CallError>),
}
