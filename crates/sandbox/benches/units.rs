//! How long a unit call, a host call and compiling take: `cargo bench -p sandbox`.

fn main() {}
