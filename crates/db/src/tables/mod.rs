//! One module of queries for each table, or for tables that only make sense together.

pub mod ai_tools;
pub mod events;
pub mod groups;
pub mod idempotency;
pub mod journal;
pub mod leases;
pub mod notes;
pub mod options;
pub mod registry;
pub mod repo;
pub mod rights;
pub mod sign_in_attempts;
pub mod tasks;
pub mod tickets;
pub mod translations;
pub mod users;
