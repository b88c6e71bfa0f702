//! The hand-over of login and password from the program to the MCP server, over a local socket.

mod client;
mod protocol;
#[cfg(unix)]
mod server;

pub use client::{Pair, Program, ask_pair, program_state, program_store};
pub use protocol::HeldStore;
#[cfg(unix)]
pub use server::{Listener, bind, serve};
