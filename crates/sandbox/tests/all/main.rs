//! Tests of the sandbox with real worker processes.

mod calls;
mod common;
