//! The way to the engine and back.

pub(crate) mod address;
mod download;
pub(crate) mod http;
pub(crate) mod idempotency_keys;
pub(crate) mod in_flight;
pub(crate) mod messages;
pub(crate) mod request;
pub(crate) mod visit;
