//! The worker process: shuts itself in, then serves its socket until that ends.

mod allocator;
mod analyse;
mod compile;
mod convert;
mod engine;
#[cfg(feature = "evil")]
mod evil;
mod failure;
mod host;
mod limits;
mod raw;
mod ready;
mod resolve;
mod run;
mod serve;
mod shop;

use std::process::ExitCode;
use std::thread;

use crate::shut_in::ShutIn;

/// Stack of the thread that runs scripts: sixteen calls in each other with half a megabyte each, the
/// analysis of sources nested as deep as the compiler lets pass, and room.
const STACK: usize = 32 << 20;

/// The worker process, from its start to its end. Its socket is what it was given as standard input.
#[must_use]
pub fn worker_main() -> ExitCode {
    let Ok(socket) = ShutIn::only_socket() else { return ExitCode::FAILURE };
    // What the libraries read from files or ask the system only once, they do now.
    shop::Shop::warm_up();
    let shut_in = ShutIn::process();
    let work = thread::Builder::new()
        .name("units".to_owned())
        .stack_size(STACK)
        .spawn(move || serve::serve(socket, shut_in).is_ok());
    match work.map(thread::JoinHandle::join) {
        Ok(Ok(true)) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
