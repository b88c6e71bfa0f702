//! The worker of units for tests of the engine alone; the store's own binary has it as a subcommand.

use std::process::ExitCode;

fn main() -> ExitCode {
    sandbox::worker_main()
}
