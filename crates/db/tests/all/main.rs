//! The database on both sides: SQLite always, PostgreSQL where `TEST_DATABASE_URL` names a server.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod agent_sql;
mod agent_tricks;
mod catalogue;
mod changes;
mod driver;
mod failover;
mod fixture;
mod journal;
mod kill;
mod migrations;
mod nodes;
mod people;
mod refunds;
mod sales;
mod schema;
mod shop;
mod structure;
mod tls;
mod transfer;
mod upkeep;
mod work;
