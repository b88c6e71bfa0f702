//! Saved passwords: the system's keyring, or an encrypted file where there is none.

use std::path::Path;

use wire::env;
use zeroize::Zeroizing;

use crate::Home;
use crate::files::resolved;

mod file;

/// Where passwords are saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keyring {
    /// The system's keyring; the encrypted file where none answers.
    #[default]
    Auto,
    /// The system's keyring only.
    Os,
    /// The encrypted file only.
    File,
}

impl Keyring {
    /// What `SHOPWRIGHT_KEYRING` says; anything unknown is [`Keyring::Auto`].
    pub fn from_env() -> Self {
        match std::env::var(env::KEYRING).as_deref() {
            Ok("os") => Self::Os,
            Ok("file") => Self::File,
            _ => Self::Auto,
        }
    }
}

/// Where a password was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In the system's keyring.
    Os,
    /// In the encrypted file of the home.
    File,
}

/// Why a password could not be saved or read.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// The encrypted file could not be used.
    #[error(transparent)]
    Home(#[from] crate::HomeError),
    /// The encrypted file was made with another key: on another computer, or its key file is gone.
    #[error("the saved password cannot be decrypted: it was saved on another computer, or its key is gone")]
    Undecryptable,
    /// The system's keyring did not do it.
    #[error("the system's keyring: {0}")]
    Keyring(String),
}

/// The saved password of this login in this store.
pub fn saved(home: &Home, store: &Path, login: &str) -> Result<Option<Zeroizing<String>>, PasswordError> {
    file::saved(home, &resolved(store), login)
}

/// Saves the password and tells where.
pub fn save(home: &Home, store: &Path, login: &str, password: &str) -> Result<Kept, PasswordError> {
    file::save(home, &resolved(store), login, password)?;
    Ok(Kept::File)
}

/// Forgets the password, wherever it was saved.
pub fn forget(home: &Home, store: &Path, login: &str) -> Result<(), PasswordError> {
    file::forget(home, &resolved(store), login)
}
