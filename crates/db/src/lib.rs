//! Tables, migrations, queries and the journal, for SQLite and PostgreSQL.
//!
//! SQL lives only here. Every table has a module of functions over a [`Tx`];
//! statements are in the subset that both databases understand, with `:name`
//! for values. What differs is in `sqlite/` and `postgres/`. Time is always
//! handed in. Which tables there are: `docs/database.md`.

mod closing;
mod error;
mod ids;
mod migrate;
mod moment;
mod postgres;
mod sqlite;
mod store;
mod value;

pub mod agent_sql;
pub mod ai_tools;
pub mod attempts;
pub mod calls;
pub mod events;
pub mod groups;
pub mod journal;
pub mod leases;
pub mod names;
pub mod notes;
pub mod options;
pub mod registry;
pub mod repo;
pub mod rights;
pub mod seed;
pub mod signal;
pub mod tasks;
pub mod tickets;
pub mod users;
pub mod whole;

pub use closing::{Closed, Closure};
pub use error::DbError;
pub use moment::{micros, seconds};
pub use store::{Db, Dialect, Tx};
pub use value::{FromValue, Row, Value};
