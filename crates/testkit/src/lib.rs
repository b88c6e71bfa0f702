//! Real processes and transcripts for the contract tests.

mod bench;
mod client;
mod console;
mod front;
mod http;
mod process;
mod round_robin;
mod snapshot;
mod store;
pub mod transcript;

pub use bench::{Bench, PATIENCE, wait_for};
pub use client::{Client, ToolAnswer};
pub use console::Console;
pub use front::{Front, Reply};
pub use http::{Response, get, post, send};
pub use process::{Output, Running, run};
pub use round_robin::RoundRobin;
pub use snapshot::{check_file, updating};
pub use store::{Desk, Engine, People, TestStore, TryOptions, Trying};
