//! The server by hand: `cargo run -p mcp --example stdio [-- STORE_FOLDER]`.

use std::path::PathBuf;
use std::process::ExitCode;

use mcp::{Options, StorePin};

fn main() -> ExitCode {
    let pin = std::env::args_os().nth(1).map(|folder| StorePin::Folder(PathBuf::from(folder)));
    match home::Home::find() {
        Ok(home) => mcp::run(Options::from_env(home, pin)),
        Err(_) => ExitCode::FAILURE,
    }
}
