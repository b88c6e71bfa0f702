//! The binary: subcommands, wiring, exit codes.
fn main() {}
