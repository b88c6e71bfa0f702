//! PostgreSQL: a pool of connections, driven from the callers' blocking threads.

mod address;
mod agent;
pub(crate) mod agent_role;
mod changes;
mod error;
mod freeze;
mod guard;
mod journal;
mod lex;
mod listen;
mod parameters;
mod pool;
mod session;
mod structure;
mod tls;
mod transfer;
mod unit;
mod value;

pub(crate) use agent::PostgresReader;
pub(crate) use pool::Postgres;
pub(crate) use session::PostgresSession;
pub(crate) use transfer::CopyIn;
