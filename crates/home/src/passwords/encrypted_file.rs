//! The encrypted file: each password sealed with ChaCha20-Poly1305 under this computer's key.
//!
//! The key comes from a random key file beside it and the machine's own number,
//! so a copied home gives nothing away on another computer.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use serde::{Deserialize, Serialize};
use wire::paths;
use zeroize::Zeroizing;

use super::account::Account;
use super::error::PasswordError;
use crate::files::{lock_file, write_atomic};
use crate::{Home, HomeError};

const NONCE_BYTES: usize = 12;
const KEY_BYTES: usize = 32;
/// Largest file that is read.
const MOST_BYTES: u64 = 4 * 1024 * 1024;
const CONTEXT: &str = "shopwright saved passwords 1";

/// The file's form: for every store folder, for every login, what is known of its password.
#[derive(Default, Serialize, Deserialize)]
struct Sealed {
    #[serde(default)]
    stores: BTreeMap<String, BTreeMap<String, Noted>>,
}

/// What the file holds for one login.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Noted {
    Bound(Entry),
    /// Of a build that did not note the address; it is asked for anew.
    Unbound(String),
}

/// A saved password and the address it was typed for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The address.
    pub(super) address: String,
    /// The sealed password; absent where it is in the system's keyring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sealed: Option<String>,
}

/// What is noted for this account, at whichever address.
pub(super) fn entry(home: &Home, account: &Account) -> Result<Option<Entry>, PasswordError> {
    let mut sealed = read(home)?;
    let noted = sealed.stores.get_mut(&account.store()).and_then(|logins| logins.remove(account.login()));
    Ok(match noted {
        Some(Noted::Bound(entry)) => Some(entry),
        Some(Noted::Unbound(_)) | None => None,
    })
}

/// Opens the sealed password of an entry.
pub(super) fn open(
    home: &Home,
    account: &Account,
    entry: &Entry,
) -> Result<Option<Zeroizing<String>>, PasswordError> {
    let Some(text) = &entry.sealed else { return Ok(None) };
    let Some(cipher) = cipher(home, false)? else {
        return Err(PasswordError::Undecryptable);
    };
    unseal(&cipher, account, text).map(Some).ok_or(PasswordError::Undecryptable)
}

/// Seals the password of this account.
pub(super) fn save(home: &Home, account: &Account, password: &str) -> Result<(), PasswordError> {
    put(home, account, || {
        let Some(cipher) = cipher(home, true)? else {
            return Err(PasswordError::Undecryptable);
        };
        seal(&cipher, account, password).map(Some)
    })
}

/// Notes that the password of this account is in the system's keyring.
pub(super) fn note_keyring(home: &Home, account: &Account) -> Result<(), PasswordError> {
    put(home, account, || Ok(None))
}

fn put(
    home: &Home,
    account: &Account,
    seal: impl FnOnce() -> Result<Option<String>, PasswordError>,
) -> Result<(), PasswordError> {
    home.make()?;
    let _lock = lock(home)?;
    let mut file = match read(home) {
        // A damaged file holds nothing that could still be read; one that cannot be read now does.
        Err(HomeError::Broken { .. }) => Sealed::default(),
        read => read?,
    };
    let entry = Entry { address: account.address().to_owned(), sealed: seal()? };
    let logins = file.stores.entry(account.store()).or_default();
    logins.insert(account.login().to_owned(), Noted::Bound(entry));
    Ok(write(home, &file)?)
}

/// Forgets what is noted for this account, at whichever address.
pub(super) fn forget(home: &Home, account: &Account) -> Result<(), PasswordError> {
    if !file_of(home).exists() {
        return Ok(());
    }
    let _lock = lock(home)?;
    let mut sealed = match read(home) {
        Err(HomeError::Broken { .. }) => return Ok(()),
        read => read?,
    };
    let Some(logins) = sealed.stores.get_mut(&account.store()) else {
        return Ok(());
    };
    if logins.remove(account.login()).is_none() {
        return Ok(());
    }
    sealed.stores.retain(|_, logins| !logins.is_empty());
    Ok(write(home, &sealed)?)
}

fn file_of(home: &Home) -> PathBuf {
    home.path().join(paths::CREDENTIALS)
}

fn read(home: &Home) -> Result<Sealed, HomeError> {
    let path = file_of(home);
    match wire::files::read_regular(&path, MOST_BYTES) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|why| HomeError::broken(&path, why)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Sealed::default()),
        Err(error) => Err(HomeError::io(&path, error)),
    }
}

fn write(home: &Home, sealed: &Sealed) -> Result<(), HomeError> {
    let path = file_of(home);
    let bytes = serde_json::to_vec_pretty(sealed).map_err(|why| HomeError::broken(&path, why))?;
    write_atomic(&path, &bytes).map_err(|source| HomeError::io(&path, source))
}

/// Keeps two processes from losing each other's change.
fn lock(home: &Home) -> Result<fs::File, HomeError> {
    let path = home.path().join("credentials.lock");
    let open = || {
        let file = lock_file(&path)?;
        file.lock()?;
        Ok(file)
    };
    open().map_err(|source| HomeError::io(&path, source))
}

/// The cipher under this computer's key; makes the key file where asked to.
fn cipher(home: &Home, make: bool) -> Result<Option<ChaCha20Poly1305>, PasswordError> {
    let path = home.path().join("credentials.key");
    let mut secret = Zeroizing::new(match wire::files::read_regular(&path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(HomeError::io(&path, error).into()),
    });
    if secret.len() != KEY_BYTES {
        if !make {
            return Ok(None);
        }
        secret.resize(KEY_BYTES, 0);
        fill(&mut secret)?;
        write_atomic(&path, &secret).map_err(|source| HomeError::io(&path, source))?;
    }
    secret.extend_from_slice(machine_number().as_bytes());
    let key = Zeroizing::new(blake3::derive_key(CONTEXT, &secret));
    Ok(Some(ChaCha20Poly1305::new(&Key::from(*key))))
}

fn fill(bytes: &mut [u8]) -> Result<(), PasswordError> {
    getrandom::fill(bytes).map_err(|error| PasswordError::Keyring(format!("no random numbers: {error}")))
}

/// The number the system gave this machine; empty where it gave none.
fn machine_number() -> String {
    ["/etc/machine-id", "/var/lib/dbus/machine-id"]
        .iter()
        .find_map(|path| fs::read_to_string(path).ok())
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

/// Binds a sealed password to its account, so that it cannot be moved under another.
fn bound_to(account: &Account) -> Vec<u8> {
    format!("{}\n{}\n{}", account.store(), account.login(), account.address()).into_bytes()
}

fn seal(cipher: &ChaCha20Poly1305, account: &Account, password: &str) -> Result<String, PasswordError> {
    let mut nonce = [0; NONCE_BYTES];
    fill(&mut nonce)?;
    let aad = bound_to(account);
    let sealed = cipher
        .encrypt(&Nonce::from(nonce), Payload { msg: password.as_bytes(), aad: &aad })
        .map_err(|_| PasswordError::Undecryptable)?;
    Ok(STANDARD.encode([nonce.as_slice(), &sealed].concat()))
}

fn unseal(cipher: &ChaCha20Poly1305, account: &Account, text: &str) -> Option<Zeroizing<String>> {
    let bytes = STANDARD.decode(text).ok()?;
    let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
    let aad = bound_to(account);
    let opened = cipher.decrypt(&Nonce::from(*nonce), Payload { msg: sealed, aad: &aad }).ok()?;
    String::from_utf8(opened).ok().map(Zeroizing::new)
}
