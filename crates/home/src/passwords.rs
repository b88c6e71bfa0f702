//! Saved passwords: the system's keyring, or an encrypted file where there is none.

use std::path::Path;

use zeroize::Zeroizing;

use crate::Home;
use crate::files::resolved;

mod encrypted_file;
mod error;
mod keyring;
mod system_keyring;

pub use error::PasswordError;
pub use keyring::Keyring;

/// Where a password was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedIn {
    /// In the system's keyring.
    Os,
    /// In the encrypted file of the home.
    File,
}

/// The saved password of this login in this store.
pub fn saved(home: &Home, store: &Path, login: &str) -> Result<Option<Zeroizing<String>>, PasswordError> {
    Ok(found(home, store, login)?.map(|(password, _)| password))
}

/// The saved password of this login in this store, and where it was.
pub fn found(
    home: &Home,
    store: &Path,
    login: &str,
) -> Result<Option<(Zeroizing<String>, SavedIn)>, PasswordError> {
    let store = resolved(store);
    let in_file =
        || Ok(encrypted_file::saved(home, &store, login)?.map(|password| (password, SavedIn::File)));
    let in_keyring = || Ok(system_keyring::saved(&store, login)?.map(|password| (password, SavedIn::Os)));
    match home.keyring() {
        Keyring::File => in_file(),
        Keyring::Os => in_keyring(),
        // What is in the file came last: whoever saves to the keyring clears the file.
        Keyring::Auto => match in_file() {
            Ok(Some(found)) => Ok(Some(found)),
            none => match in_keyring() {
                Ok(Some(found)) => Ok(Some(found)),
                Ok(None) | Err(_) => none,
            },
        },
    }
}

/// Saves the password and tells where.
pub fn save(home: &Home, store: &Path, login: &str, password: &str) -> Result<SavedIn, PasswordError> {
    let store = resolved(store);
    if home.keyring() != Keyring::File {
        match system_keyring::save(&store, login, password) {
            Ok(()) => {
                encrypted_file::forget(home, &store, login)?;
                return Ok(SavedIn::Os);
            }
            Err(error) if home.keyring() == Keyring::Os => return Err(error.into()),
            Err(error) => tracing::info!(?error, "The system's keyring does not take a password"),
        }
    }
    encrypted_file::save(home, &store, login, password)?;
    Ok(SavedIn::File)
}

/// Forgets the password, wherever it was saved; `saved_in` is where it is known to be.
pub fn forget(
    home: &Home,
    store: &Path,
    login: &str,
    saved_in: Option<SavedIn>,
) -> Result<(), PasswordError> {
    let store = resolved(store);
    let in_file = encrypted_file::forget(home, &store, login);
    let in_keyring = match home.keyring() {
        Keyring::File => Ok(()),
        Keyring::Os => system_keyring::forget(&store, login),
        Keyring::Auto => unless_absent(system_keyring::forget(&store, login), saved_in),
    };
    in_file.and(in_keyring.map_err(PasswordError::from))
}

/// Where no keyring answers there is nothing to forget, unless the password is known to be in it.
fn unless_absent(
    done: Result<(), system_keyring::KeyringError>,
    saved_in: Option<SavedIn>,
) -> Result<(), system_keyring::KeyringError> {
    match done {
        Err(system_keyring::KeyringError::None(_)) if saved_in != Some(SavedIn::Os) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests;
