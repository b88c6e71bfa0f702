//! What is asked and answered over the hand-over socket: one JSON line each.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use zeroize::Zeroizing;

use crate::Credentials;

/// Longest line that is read on either side.
pub(super) const MOST_BYTES: u64 = 64 * 1024;

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(super) enum Question {
    /// Which store is held and whether a pair is there.
    State,
    /// The pair of this store.
    Pair {
        /// The store's folder.
        store: PathBuf,
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
}

impl HeldStore {
    pub(super) fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::State => {
                Answer::State { store: self.store.clone(), signed_in: self.credentials.is_some() }
            }
            Question::Pair { store } if !self.holds(store) => Answer::Other { store: self.store.clone() },
            Question::Pair { .. } => match &self.credentials {
                Some(pair) => Answer::Pair { login: pair.login.clone(), password: pair.password.clone() },
                None => Answer::SignedOut,
            },
        }
    }

    fn holds(&self, store: &Path) -> bool {
        self.store.as_ref().is_some_and(|held| crate::same_folder(held, store))
    }
}
