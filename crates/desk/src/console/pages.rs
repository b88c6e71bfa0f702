//! The pages, one file each.

pub(crate) mod agents;
pub(crate) mod home;
pub(crate) mod problem;
pub(crate) mod sign_in;
pub(crate) mod start;
pub(crate) mod stores;
