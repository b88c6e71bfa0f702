//! Statements that agents write themselves: one statement that reads, with named parameters, rows as JSON.
//!
//! That it only reads is enforced by the database: SQLite by a connection that
//! can only read, an authorizer and limits; PostgreSQL by a login of its own
//! that has nothing but `select` on views. Looking at the text only comes on
//! top of that. Columns that are secrets are not in the views, so they cannot
//! be read and `select *` works all the same. See `docs/database.md`.

pub(crate) mod answer;
pub(crate) mod functions;
pub(crate) mod json;
mod pool_writes;
mod reads;
mod select;
mod target;
mod write;

pub use answer::{Limits, SelectError, Table};
pub use pool_writes::Modified;
pub use reads::{Reads, reads};
pub use select::{Reader, select};
pub use target::target;
