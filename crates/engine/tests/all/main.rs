//! The real engine over HTTP: every refusal of its gate, signing in, tickets, exactly once, the program's endpoint.

mod ask;
mod gate;
mod house;
mod http;
mod modes;
mod once;
mod program;
mod sign_in;
mod soon;
