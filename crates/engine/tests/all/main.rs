//! The real engine over HTTP: every refusal of its gate, signing in, tickets, exactly once, the program's endpoint.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test stops at what it did not expect"
)]

mod buying;
mod buying_at_once;
mod buying_killed;
mod buying_wishes;
mod cache;
mod client;
mod erasing;
mod exchange;
mod file_kills;
mod files;
mod gate;
mod goods;
mod hostile_words;
mod http;
mod kill;
mod mail;
mod maintenance;
mod modes;
mod nodes;
mod once;
mod pictures;
mod program;
mod seo;
mod shop_forms;
mod shop_pages;
mod sign_in;
mod smtp;
mod soon;
mod staff;
mod store_files;
mod test_store;
mod theme_docs;
mod units;
mod units_docs;
mod units_door;
mod units_fetch;
mod units_limits;
mod units_writes;
mod upkeep;
mod visitor;
mod walls;
