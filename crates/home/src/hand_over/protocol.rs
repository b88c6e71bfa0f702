//! What is asked and answered over the hand-over socket: one JSON line each.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use zeroize::Zeroizing;

use crate::Credentials;
use crate::passwords::same_address;

/// Longest line that is read on either side.
pub(super) const MOST_BYTES: u64 = 64 * 1024;

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(super) enum Question {
    /// Which store is held and whether a pair is there.
    State {
        /// The address that the pair is wanted for; empty for whichever it has.
        #[serde(default)]
        url: String,
    },
    /// The pair of this store.
    Pair {
        /// The store's folder.
        store: PathBuf,
        /// The address that the asker will send it to.
        #[serde(default)]
        url: String,
    },
}

/// What is answered.
#[derive(Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(super) enum Answer {
    /// Which store is held.
    State {
        /// Its folder.
        store: Option<PathBuf>,
        /// Whether a pair is there.
        signed_in: bool,
    },
    /// The pair.
    Pair {
        /// The login.
        login: String,
        /// The password.
        #[serde(with = "wiped")]
        password: Zeroizing<String>,
    },
    /// The store is open and nobody is signed in.
    SignedOut,
    /// Another store is open, or none.
    Other {
        /// Its folder.
        store: Option<PathBuf>,
    },
    /// The pair was typed for another address than the one named.
    OtherAddress,
    /// The question was not understood.
    Unknown,
}

/// A password on its way: wiped on both sides once it was said.
mod wiped {
    use serde::{Deserialize as _, Deserializer, Serializer};
    use zeroize::Zeroizing;

    pub(super) fn serialize<S: Serializer>(text: &Zeroizing<String>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Zeroizing<String>, D::Error> {
        String::deserialize(from).map(Zeroizing::new)
    }
}

/// What the program holds at this moment.
#[derive(Clone, Debug, Default)]
pub struct HeldStore {
    /// Folder of the open store.
    pub store: Option<PathBuf>,
    /// The pair, while signed in.
    pub credentials: Option<Credentials>,
    /// The address that the pair was typed for.
    pub url: String,
}

impl HeldStore {
    pub(super) fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::State { url } => {
                let fits = url.is_empty() || same_address(url, &self.url);
                Answer::State { store: self.store.clone(), signed_in: fits && self.credentials.is_some() }
            }
            Question::Pair { store, .. } if !self.holds(store) => Answer::Other { store: self.store.clone() },
            Question::Pair { url, .. } => match &self.credentials {
                Some(_) if !same_address(url, &self.url) => Answer::OtherAddress,
                Some(pair) => Answer::Pair { login: pair.login.clone(), password: pair.password.clone() },
                None => Answer::SignedOut,
            },
        }
    }

    fn holds(&self, store: &Path) -> bool {
        self.store.as_ref().is_some_and(|held| crate::same_folder(held, store))
    }
}
