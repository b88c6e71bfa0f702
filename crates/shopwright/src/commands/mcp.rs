//! `mcp`: the MCP server on stdin and stdout.

use anyhow::Result;
use home::Home;

use crate::exit::Exit;
use crate::{cli, log};

/// Runs the server until stdin closes.
pub(super) fn run(arguments: &cli::Mcp) -> Result<Exit> {
    let file = Home::find().ok().map(|home| home.path().join("log").join("mcp.log"));
    log::start_with_file("warn", file);
    mcp::run(mcp::Options::from_env(Home::find()?, arguments.pin()));
    Ok(Exit::Done)
}
