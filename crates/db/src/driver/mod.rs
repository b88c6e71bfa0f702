//! The two databases: what differs between SQLite and PostgreSQL is here and nowhere else.

pub(crate) mod freeze;
pub(crate) mod postgres;
pub(crate) mod purpose;
pub(crate) mod sqlite;
