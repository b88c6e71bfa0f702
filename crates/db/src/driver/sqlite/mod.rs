//! SQLite: one connection that writes, a stack of connections that read.
//!
//! Other processes may write to the same file at the same time (the owner's
//! commands, `sqlite3`), so nothing of the file is remembered here.

mod agent;
mod agent_connection;
mod changes;
mod connect;
mod error;
mod freeze;
mod functions;
pub(crate) mod introspect;
mod journal;
mod pool;
mod session;
mod structure;
mod transfer;
mod unit;
mod watcher;

pub(crate) use agent::SqliteReader;
pub(crate) use pool::Sqlite;
pub(crate) use session::SqliteSession;
