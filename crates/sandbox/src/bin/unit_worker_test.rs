//! The worker process as a program of its own, for the tests of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    sandbox::worker_main()
}
