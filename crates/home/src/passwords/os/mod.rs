//! The system's keyring: on Linux the Secret Service (GNOME Keyring, KWallet, KeePassXC) over D-Bus.
//!
//! A small client of our own: eight messages of one service need no D-Bus
//! library. See docs/choices.md.

use std::path::Path;
use std::time::Duration;

use zeroize::Zeroizing;

use super::PasswordError;

#[cfg(unix)]
mod bus;
#[cfg(unix)]
mod message;
#[cfg(unix)]
mod service;

/// How long the keyring may take where nobody is asked.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a person may take to unlock the keyring.
#[cfg(unix)]
const PERSON: Duration = Duration::from_secs(30);

/// The keyring's side of [`PasswordError`], with "there is none" apart.
#[derive(Debug)]
pub(super) enum KeyringError {
    /// No keyring answers on this system.
    None,
    /// It answers and did not do it.
    Failed(String),
}

impl From<KeyringError> for PasswordError {
    fn from(error: KeyringError) -> Self {
        match error {
            KeyringError::None => Self::Keyring("none answers here".to_owned()),
            KeyringError::Failed(why) => Self::Keyring(why),
        }
    }
}

#[cfg(unix)]
pub(super) fn saved(store: &Path, login: &str) -> Result<Option<Zeroizing<String>>, KeyringError> {
    service::Service::open(bus::address())?.saved(store, login)
}

#[cfg(unix)]
pub(super) fn save(store: &Path, login: &str, password: &str) -> Result<(), KeyringError> {
    service::Service::open(bus::address())?.save(store, login, password)
}

#[cfg(unix)]
pub(super) fn forget(store: &Path, login: &str) -> Result<(), KeyringError> {
    service::Service::open(bus::address())?.forget(store, login)
}

#[cfg(not(unix))]
pub(super) fn saved(_store: &Path, _login: &str) -> Result<Option<Zeroizing<String>>, KeyringError> {
    Err(KeyringError::None)
}

#[cfg(not(unix))]
pub(super) fn save(_store: &Path, _login: &str, _password: &str) -> Result<(), KeyringError> {
    Err(KeyringError::None)
}

#[cfg(not(unix))]
pub(super) fn forget(_store: &Path, _login: &str) -> Result<(), KeyringError> {
    Err(KeyringError::None)
}

#[cfg(test)]
mod tests;
