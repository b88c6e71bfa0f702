//! What can go wrong with saved passwords.

/// Why a password could not be saved or read.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// The encrypted file could not be used.
    #[error(transparent)]
    Home(#[from] crate::HomeError),
    /// The encrypted file was made with another key: on another computer, or its key file is gone.
    #[error("the saved password cannot be decrypted: it was saved on another computer, or its key is gone")]
    Undecryptable,
    /// It was typed for another address than the store's is now.
    #[error("it was typed for the address {0}, and Shop.ini names another one now")]
    OtherAddress(String),
    /// It is in the system's keyring, which cannot be asked from here.
    #[error("it is in the system's keyring, which is out of reach: {0}")]
    OutOfReach(String),
    /// The system's keyring did not do it.
    #[error("the system's keyring: {0}")]
    Keyring(String),
}
