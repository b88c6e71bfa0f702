//! The console: pages on loopback for the person at this computer.

mod guard;
mod pages;
mod rejection;
mod router;
mod secrets;
mod state;
mod templates;

pub(crate) use router::serve;
pub(crate) use secrets::Secrets;
pub(crate) use state::Console;
