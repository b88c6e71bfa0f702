//! The binary: subcommands, wiring, exit codes.

mod cli;
mod commands;
mod exit;
mod log;
mod say;
mod secret;
mod signal;
mod tour;
mod try_store;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::exit::Exit;

fn main() -> ExitCode {
    let exit = match Cli::try_parse() {
        Ok(cli) => commands::run(cli).unwrap_or_else(|error| {
            say::problem(&format!("{error:#}"));
            Exit::Refused
        }),
        Err(words) => cli::show(&words),
    };
    exit.into()
}
