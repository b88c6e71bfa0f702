//! The server as a host sees it: whole, over its streams, before an engine that can fail in every way.
//!
//! The real engine answers in the contract tests of the binary; the one here
//! only stands for bad networks and for what no honest engine says.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a helper of a test fails the test")]

mod engine;
mod fuzz;
mod host;
mod network;
mod process;
mod protocol;
mod session;
