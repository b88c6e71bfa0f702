//! Tables, migrations, queries and the journal, for SQLite and PostgreSQL.
//!
//! SQL lives only here. Every table has a module of functions over a [`Tx`];
//! statements are in the subset that both databases understand, with `:name`
//! for values. What differs is in `driver/`. Time is always
//! handed in. Which tables there are: `docs/database.md`.

mod change_notes;
mod column_form;
mod database;
mod dialect;
mod driver;
mod error;
mod id_list;
mod journal_entry;
mod migrate;
mod tables;
mod timestamps;
mod transaction;
mod value;
mod write_freeze;

pub mod agent_sql;
pub mod changes;
pub mod schema;
pub mod seed;
pub mod signal;
pub mod structure;
pub mod transfer;

pub use database::{CommitMark, Db};
pub use dialect::Dialect;
pub use error::DbError;
pub use tables::*;
pub use timestamps::{micros, seconds};
pub use transaction::Tx;
pub use value::{FromValue, Row, Value};
pub use write_freeze::{FreezeReason, WriteFreeze};
