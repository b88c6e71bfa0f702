//! Moving a store to another database, backing it up, restoring it: what the server's owner does with all of it.
//!
//! While a store is moved or restored it is closed twice: for people by the
//! marker `shop.lock`, and for everybody who writes by the database itself
//! ([`db::WriteFreeze`]). What a killed process leaves is a closed store that is
//! whole, old or new; the same command again goes on from there, and
//! `store unlock` gives the attempt up.

mod archive;
mod backup;
pub(crate) mod database_address;
mod error;
mod file_tree;
mod folders;
mod locks;
mod migrate;
mod progress;
mod restore;
mod staging;
mod unlock;
mod versions;

pub use backup::{BackedUp, backup};
pub use error::MaintenanceError;
pub(crate) use locks::engine_lock;
pub use migrate::{Migrated, Migration, migrate};
pub use progress::{Activity, Step, Watch};
pub use restore::{RestoreOptions, Restored, restore};
pub use unlock::unlock;

pub use crate::settings::config_file::shown;
