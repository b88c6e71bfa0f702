//! The four tools that open and keep a session; they never reach the store's tools.

pub mod clear;
pub mod connect;
pub mod init;
pub mod rules_accept;
