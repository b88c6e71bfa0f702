//! Tests of the sandbox with real worker processes.

mod analysis;
mod calls;
mod common;
mod compile;
mod counting;
mod errors;
#[cfg(all(feature = "evil", target_os = "linux"))]
mod evil;
mod frames;
mod hostile;
mod nested;
mod pool;
mod tricks;
