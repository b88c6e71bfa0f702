//! The console: pages on loopback for the person at this computer.

mod connections;
mod guard;
mod pages;
mod rejection;
mod router;
mod secrets;
mod state;
mod templates;

pub(crate) use connections::Limits;
pub(crate) use router::serve;
pub(crate) use secrets::Secrets;
pub(crate) use state::Console;
