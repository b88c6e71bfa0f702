//! The binary: subcommands, wiring, exit codes.

mod cli;
mod commands;
mod exit;
mod log;
mod output;
mod password_prompt;
mod progress;
mod random_password;
mod sample_shop;
mod signal;
mod store_files;
mod store_tools;
mod tour;
mod try_store;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::exit::Exit;

/// The system's allocator keeps what the password hash and many threads have used: an engine that had
/// seen a few sign-ins held 170 MB with it, and holds 25 MB with this one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let exit = match Cli::try_parse() {
        Ok(cli) => commands::run(cli).unwrap_or_else(|error| {
            output::problem(&output::error_chain(&error));
            Exit::Refused
        }),
        Err(words) => cli::show(&words),
    };
    exit.into()
}
