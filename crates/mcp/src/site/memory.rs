//! What visits to the store's site leave behind while the server runs.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::cookies::Cookies;
use super::names::Names;

/// What visits leave behind while the server runs.
#[derive(Default)]
pub(crate) struct Site(Mutex<Kept>);

#[derive(Default)]
pub(super) struct Kept {
    /// By store and login, and whether they are the person's own.
    pub(super) jars: HashMap<(String, String, bool), Cookies>,
    pub(super) names: Names,
}

impl Site {
    pub(super) fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
