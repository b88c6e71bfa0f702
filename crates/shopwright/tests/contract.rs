//! The contract: transcripts in tests/tools replayed by real processes.

fn main() {}
