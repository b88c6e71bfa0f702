//! The system's keyring: the Secret Service on Linux (GNOME Keyring, KWallet, KeePassXC), the Keychain, the Credential Manager.
//!
//! The library waits for as long as the keyring does. So each question runs
//! on a thread of its own, and whoever asks waits no longer than is sensible.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use keyring::{Entry, Error};
use zeroize::Zeroizing;

use super::account::Account;
use super::error::PasswordError;

/// How long the keyring may take to answer at all.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take afterwards: it may ask the person to unlock it.
const PERSON: Duration = Duration::from_secs(30);

/// Questions that nobody waits for any more.
static LEFT_BEHIND: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// The keyring's side of [`PasswordError`], with "there is none" apart.
#[derive(Debug)]
pub(super) enum KeyringError {
    /// No keyring can be used on this system.
    None(String),
    /// It answers and did not do it.
    Failed(String),
}

impl From<KeyringError> for PasswordError {
    fn from(error: KeyringError) -> Self {
        match error {
            KeyringError::None(why) | KeyringError::Failed(why) => Self::Keyring(why),
        }
    }
}

pub(super) fn saved(account: &Account) -> Result<Option<Zeroizing<String>>, KeyringError> {
    ask(
        account,
        |entry| match entry.get_password() {
            Ok(password) => Ok(Some(Zeroizing::new(password))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(failed(&error)),
        },
        |_| {},
    )
}

pub(super) fn save(account: &Account, password: &str) -> Result<(), KeyringError> {
    let password = Zeroizing::new(password.to_owned());
    ask(
        account,
        move |entry| entry.set_password(&password).map_err(|error| failed(&error)),
        // The person was told that it is not there.
        |entry| drop(entry.delete_credential()),
    )
}

pub(super) fn forget(account: &Account) -> Result<(), KeyringError> {
    let forget = |entry: &Entry| match entry.delete_credential() {
        Err(Error::NoEntry) => Ok(()),
        Err(Error::Ambiguous(entries)) => entries.iter().try_for_each(|entry| entry.delete_credential()),
        done => done,
    };
    ask(account, move |entry| forget(entry).map_err(|error| failed(&error)), |_| {})
}

/// What a question says on its way.
enum Said<T> {
    /// The keyring answers.
    Here,
    /// This came of it.
    Done(Result<T, KeyringError>),
}

/// Asks about the entry of this account; `undo` follows what was done when nobody waited any more.
fn ask<T: Send + 'static>(
    account: &Account,
    work: impl FnOnce(&Entry) -> Result<T, KeyringError> + Send + 'static,
    undo: impl FnOnce(&Entry) + Send + 'static,
) -> Result<T, KeyringError> {
    if !may_be_here() {
        return Err(KeyringError::None("there is no message bus here".to_owned()));
    }
    if owes_an_answer() {
        return Err(KeyringError::None("it still owes an earlier answer".to_owned()));
    }
    let service = format!("Shopwright: {} at {}", account.store(), account.address());
    let login = account.login().to_owned();
    // A channel without room tells the thread whether it was heard.
    let (say, hear) = sync_channel(0);
    let question = thread::Builder::new().name("keyring".to_owned()).spawn(move || {
        let entry = match Entry::new(&service, &login) {
            Ok(entry) => entry,
            Err(error) => return drop(say.send(Said::Done(Err(absent(&error))))),
        };
        if say.send(Said::Here).is_ok() && say.send(Said::Done(work(&entry))).is_err() {
            undo(&entry);
        }
    });
    let question = question.map_err(|error| KeyringError::Failed(error.to_string()))?;
    hear_out(&hear, question)
}

/// Waits for what a question says, as long as is sensible.
fn hear_out<T>(hear: &Receiver<Said<T>>, question: JoinHandle<()>) -> Result<T, KeyringError> {
    let mut patience = PATIENCE;
    loop {
        match hear.recv_timeout(patience) {
            Ok(Said::Here) => patience = PERSON,
            Ok(Said::Done(done)) => return done,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(KeyringError::Failed("asking it failed".to_owned()));
            }
            Err(RecvTimeoutError::Timeout) => {
                tracing::warn!("The system's keyring does not answer");
                LEFT_BEHIND.lock().unwrap_or_else(PoisonError::into_inner).push(question);
                let said = "it did not answer in time".to_owned();
                let was_there = patience == PERSON;
                return Err(if was_there { KeyringError::Failed(said) } else { KeyringError::None(said) });
            }
        }
    }
}

/// Whether a keyring could be reached at all. The library would look for a bus elsewhere too, which costs time.
fn may_be_here() -> bool {
    let over_a_bus = cfg!(all(unix, not(target_os = "macos")));
    !over_a_bus || std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty())
}

fn owes_an_answer() -> bool {
    let mut questions = LEFT_BEHIND.lock().unwrap_or_else(PoisonError::into_inner);
    questions.retain(|question| !question.is_finished());
    !questions.is_empty()
}

/// Why there is no entry to ask about.
fn absent(error: &Error) -> KeyringError {
    let Error::NoDefaultStore = error else { return failed(error) };
    let why = Entry::store_status().as_ref().err().map_or_else(String::new, Error::to_string);
    KeyringError::None(format!("none answers here ({why})"))
}

fn failed(error: &Error) -> KeyringError {
    KeyringError::Failed(match error {
        // The library's text would carry the bytes.
        Error::BadEncoding(_) | Error::BadDataFormat(..) => "what it keeps is not a password".to_owned(),
        // The library's text would list them.
        Error::Ambiguous(_) => "it keeps more than one password for this login".to_owned(),
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests;
