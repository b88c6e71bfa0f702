//! The store's HTTP server: the gate, the envelope, sign-in, the agent's and the program's endpoint.
//!
//! A request comes in at `http`, becomes a `RequestContext`, passes the gate and runs
//! in one transaction on a thread that may wait; what comes of it leaves as an
//! envelope. Invariant: a refused request changes nothing but the count of
//! wrong passwords. Invariant: no truth is kept here between two requests, so
//! that other nodes may work on the same database.

mod agent;
mod app_state;
mod blocking;
mod clock;
pub mod exchange;
mod files;
mod gate;
mod http;
mod jobs;
pub mod licensor;
mod mail;
pub mod maintenance;
pub mod media;
mod mounts;
mod new_file;
mod payments;
mod program;
mod request_context;
pub mod settings;
pub mod shopping;
mod start;
pub mod store;
mod storefront;
mod units;
mod user_info;
mod write_check;
mod write_error;

pub use clock::{Clock, SystemClock};
pub use shopping::{Done, NotDone, Problem};
pub use start::{Engine, Options, Running, StartError};
