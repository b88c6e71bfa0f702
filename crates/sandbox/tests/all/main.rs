//! Tests of the sandbox with real worker processes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test stops at what it did not expect"
)]

mod analysis;
mod calls;
mod common;
mod compile;
mod counting;
mod errors;
#[cfg(all(feature = "evil", target_os = "linux"))]
mod evil;
mod frames;
mod hostile;
mod nested;
mod pool;
mod tricks;
