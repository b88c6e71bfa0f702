//! The licence authority: its keys, its customers, its address for programs. See `docs/licence.md`.
//!
//! Its folder holds `authority.key`, the secret key, and `customers.toml`, which
//! people may edit: it is read anew at every request. The authority keeps no
//! list of what it signed; a token is good for one day only.

mod customers;
mod keys;
mod serve;
mod token;

use std::io;
use std::path::PathBuf;

pub use customers::{Customer, add, customers, remove};
pub use keys::{make_keys, public_key};
pub use serve::{RunningLicensor, serve};

/// Why the authority cannot do what it was request.
#[derive(Debug, thiserror::Error)]
pub enum LicensorError {
    /// There is a key already; a new one would close every store.
    #[error("there is a key in `{0}` already; a new one would close every licensed store")]
    KeyExists(PathBuf),
    /// A file cannot be read or written.
    #[error("`{0}`: {1}")]
    File(PathBuf, #[source] io::Error),
    /// The list of customers is not of the right form.
    #[error("`{0}` is not of the right form: {1}")]
    Form(PathBuf, String),
    /// A key or token cannot be made or read.
    #[error(transparent)]
    Licence(#[from] licence::LicenceError),
    /// There is a customer of this name already.
    #[error("there is a customer `{0}` already")]
    CustomerExists(String),
    /// There is no customer of this name.
    #[error("there is no customer `{0}`")]
    NoSuchCustomer(String),
    /// The system gives no random numbers.
    #[error("no random numbers")]
    Random,
    /// The address cannot be listened on.
    #[error("cannot listen: {0}")]
    Listen(#[source] io::Error),
}

#[cfg(test)]
mod tests;
