//! Which keyring the person wants.

use wire::env;

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
