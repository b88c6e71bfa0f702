//! The program: list of stores, sign-in, credentials hand-over, web console on loopback.
//!
//! It holds one store at a time. What it knows lives in `program`; the
//! console, the hand-over socket and the background jobs are three ways to it.

mod agents;
mod background;
mod console;
mod engine;
mod locales;
mod messages;
mod program;
mod start;

pub use engine::{EngineClient, NoAnswer, Trouble, sign_in_to_engine};
pub use start::{Desk, DeskError, Options, RunningDesk};

#[cfg(test)]
mod tests;
