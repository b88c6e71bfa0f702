//! `mcp`: the MCP server on stdin and stdout.

use anyhow::Result;
use home::Home;

use crate::exit::Exit;
use crate::{cli, log};

/// Runs the server until stdin closes.
pub(super) fn run(arguments: &cli::Mcp) -> Result<Exit> {
    let home = Home::find().ok();
    let file = home.as_ref().map(|home| home.path().join("log").join("mcp.log"));
    log::start_with_file("warn", file);
    // Without a home the server still answers: nobody reads what a host's server says when it ends.
    mcp::run(mcp::Options::from_env(home.unwrap_or_else(Home::nowhere), arguments.pin()));
    Ok(Exit::Done)
}
