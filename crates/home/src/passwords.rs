//! Saved passwords: the system's keyring, or an encrypted file where there is none.
//!
//! A password belongs to the address it was typed for: where `Shop.ini` names
//! another one, nobody gets it.

use zeroize::Zeroizing;

use crate::Home;
use encrypted_file::Entry;
use system_keyring::KeyringError;

mod account;
mod encrypted_file;
mod error;
mod keyring;
mod system_keyring;

pub use account::{Account, same_address};
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

/// A password and where it was.
type Found = Option<(Zeroizing<String>, SavedIn)>;

/// The saved password of this account.
pub fn saved(home: &Home, account: &Account) -> Result<Option<Zeroizing<String>>, PasswordError> {
    Ok(found(home, account)?.map(|(password, _)| password))
}

/// The saved password of this account, and where it was.
pub fn found(home: &Home, account: &Account) -> Result<Found, PasswordError> {
    if home.keyring() == Keyring::Os {
        return Ok(system_keyring::saved(account)?.map(|password| (password, SavedIn::Os)));
    }
    let entry = encrypted_file::entry(home, account);
    match &entry {
        Ok(Some(entry)) if entry.address != account.address() => {
            return Err(PasswordError::OtherAddress(entry.address.clone()));
        }
        // What is in the file came last: whoever saves to the keyring clears it there.
        Ok(Some(entry)) if entry.sealed.is_some() => {
            return Ok(encrypted_file::open(home, account, entry)?.map(|password| (password, SavedIn::File)));
        }
        _ => {}
    }
    match home.keyring() {
        Keyring::File => entry.map(|_| None),
        Keyring::Os | Keyring::Auto => of_keyring(system_keyring::saved(account), entry),
    }
}

/// What the keyring's answer means, beside what the file told.
fn of_keyring(
    answer: Result<Option<Zeroizing<String>>, KeyringError>,
    entry: Result<Option<Entry>, PasswordError>,
) -> Result<Found, PasswordError> {
    match (answer, entry) {
        (Ok(Some(password)), _) => Ok(Some((password, SavedIn::Os))),
        // Where no keyring can be used and none was given anything, nothing is saved.
        (Ok(None) | Err(KeyringError::None(_)), Ok(None)) => Ok(None),
        (Ok(None), Ok(Some(_))) => Ok(None),
        (Ok(None) | Err(KeyringError::None(_)), Err(error)) => Err(error),
        (Err(KeyringError::None(why)), Ok(Some(_))) => Err(PasswordError::OutOfReach(why)),
        (Err(error @ KeyringError::Failed(_)), _) => Err(error.into()),
    }
}

/// Saves the password and tells where.
pub fn save(home: &Home, account: &Account, password: &str) -> Result<SavedIn, PasswordError> {
    if home.keyring() != Keyring::File {
        match system_keyring::save(account, password) {
            Ok(()) if home.keyring() == Keyring::Os => return Ok(SavedIn::Os),
            Ok(()) => {
                encrypted_file::note_keyring(home, account)?;
                return Ok(SavedIn::Os);
            }
            Err(error) if home.keyring() == Keyring::Os => return Err(error.into()),
            Err(error) => tracing::info!(?error, "The system's keyring does not take a password"),
        }
    }
    encrypted_file::save(home, account, password)?;
    Ok(SavedIn::File)
}

/// Forgets the password, wherever it was saved and for whichever address; `saved_in` is where it is known to be.
pub fn forget(home: &Home, account: &Account, saved_in: Option<SavedIn>) -> Result<(), PasswordError> {
    let noted = encrypted_file::entry(home, account).ok().flatten();
    let in_file = encrypted_file::forget(home, account);
    let saved_in = match &noted {
        Some(entry) if entry.sealed.is_none() => Some(SavedIn::Os),
        _ => saved_in,
    };
    let mut accounts = vec![account.clone()];
    accounts.extend(noted.map(|entry| account.at(&entry.address)).filter(|noted| noted != account));
    let mut in_keyring = accounts.iter().map(|account| match home.keyring() {
        Keyring::File => Ok(()),
        Keyring::Os => system_keyring::forget(account),
        Keyring::Auto => unless_absent(system_keyring::forget(account), saved_in),
    });
    let in_keyring = in_keyring.try_for_each(|done| done);
    in_file.and(in_keyring.map_err(PasswordError::from))
}

/// Where no keyring answers there is nothing to forget, unless the password is known to be in it.
fn unless_absent(done: Result<(), KeyringError>, saved_in: Option<SavedIn>) -> Result<(), KeyringError> {
    match done {
        Err(KeyringError::None(_)) if saved_in != Some(SavedIn::Os) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests;
