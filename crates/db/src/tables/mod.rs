//! One module of queries for each table, or for tables that only make sense together.

pub mod ai_tools;
pub mod carts;
pub mod categories;
pub mod content;
pub mod customers;
pub mod events;
pub mod groups;
pub mod idempotency;
pub mod journal;
pub mod leases;
pub mod listing;
pub mod notes;
pub mod options;
pub mod orders;
pub mod payments;
pub mod places;
pub mod prices;
pub mod products;
pub mod promotions;
pub mod registry;
pub mod reindex;
pub mod repo;
pub mod reviews;
pub mod rights;
pub mod rows;
pub mod search;
pub mod sign_in_attempts;
pub mod slugs;
pub mod stock;
pub mod tasks;
pub mod texts;
pub mod tickets;
pub mod translations;
pub mod users;

pub(crate) mod record;
