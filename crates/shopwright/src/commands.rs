//! What each subcommand does.

mod check;
mod desk;
mod exchange;
mod licensor;
mod maintenance;
mod mcp;
mod runtime;
mod seed;
mod serve;
mod store;
mod upkeep;

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::{Cli, Command};
use crate::exit::Exit;
use crate::{tour, try_store};

/// Runs the subcommand of this command line.
pub(crate) fn run(cli: Cli) -> Result<Exit> {
    match cli.command {
        // First, since agent applications start it often and wait for it.
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Try(arguments) => try_store::run(&arguments),
        Command::Tour(arguments) => tour::run(&arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Desk(arguments) => desk::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Store { command } => store::run(command),
        Command::Licensor { command } => licensor::run(command),
        Command::UnitWorker => {
            Ok(if sandbox::worker_main() == ExitCode::SUCCESS { Exit::Done } else { Exit::Refused })
        }
    }
}
