//! The store's HTTP server: the gate, the envelope, sign-in, the agent's and the program's endpoint.
//!
//! A request comes in at `http`, becomes an `Asked`, passes the gate and runs
//! in one transaction on a thread that may wait; what comes of it leaves as an
//! envelope. Invariant: a refused request changes nothing but the count of
//! wrong passwords. Invariant: no truth is kept here between two requests, so
//! that other nodes may work on the same database.

mod agent;
pub mod config;
mod gate;
mod house;
mod housekeeping;
mod http;
pub mod keeping;
pub mod licensor;
mod live;
mod metrics;
mod outcome;
mod pages;
mod passwords;
mod program;
mod reading;
mod sign_in;
mod start;
pub mod store;
mod storefront;
mod tickets;
mod units;
mod world;
mod write_check;

pub use start::{Engine, Options, Running, StartError};
pub use world::{RealWorld, World};
