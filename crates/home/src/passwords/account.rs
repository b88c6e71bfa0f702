//! Whose password it is: a login of a store at an address.

use std::path::{Path, PathBuf};

use crate::files::resolved;

/// A login of a store at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    store: PathBuf,
    login: String,
    address: String,
}

impl Account {
    /// The login of this store folder, at the address that its `Shop.ini` names.
    pub fn new(store: &Path, login: &str, url: &str) -> Self {
        Self { store: resolved(store), login: login.to_owned(), address: address(url) }
    }

    /// The same at another address.
    pub(super) fn at(&self, address: &str) -> Self {
        Self { address: address.to_owned(), ..self.clone() }
    }

    /// The login.
    pub(super) fn login(&self) -> &str {
        &self.login
    }

    /// The address, in one spelling.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// The store folder, as the file names it.
    pub(super) fn store(&self) -> String {
        self.store.to_string_lossy().into_owned()
    }
}

/// Whether both are one address for a password.
pub fn same_address(one: &str, other: &str) -> bool {
    address(one) == address(other)
}

/// An address in one spelling: scheme and host in small letters, nothing behind the last name of its path.
fn address(url: &str) -> String {
    let url = url.trim().trim_end_matches('/');
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find('/').map_or(url.len(), |at| host + at);
    format!("{}{}", url[..end].to_ascii_lowercase(), &url[end..])
}
