//! Real processes and transcripts for the contract tests.

mod binary;
mod client;
mod console;
mod faulty_proxy;
mod fixture;
mod http;
mod postgres;
mod process;
mod round_robin;
mod snapshot;
mod store;
pub mod transcript;
mod try_process;
mod wait;

pub use binary::Binary;
pub use client::{Client, ToolAnswer};
pub use console::Console;
pub use faulty_proxy::{FaultyProxy, Reply};
pub use fixture::Fixture;
pub use http::{Response, get, post, send};
pub use process::{Output, Running, run};
pub use round_robin::RoundRobin;
pub use snapshot::{check_file, updating};
pub use store::{Desk, Engine, TestStore};
pub use try_process::{People, TryOptions, Trying};
pub use wait::{PATIENCE, wait_for};
