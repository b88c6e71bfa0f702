//! How a call ends when it does not succeed: an expected no, or a fault.

use std::fmt;

use crate::Refusal;

/// Why a call did not succeed.
#[derive(Debug)]
pub enum Stop {
    /// An expected no, from the catalogue.
    Refused(Box<Refusal>),
    /// A bug, or the world failing.
    Broke(Fault),
}

/// A bug or the world failing: for the log in full, for the reader in one line.
pub struct Fault {
    chain: String,
}

impl Fault {
    /// A fault in words, where there is no error value.
    pub fn new(words: impl Into<String>) -> Self {
        Self { chain: words.into() }
    }

    /// The causes, outermost first, for the log.
    pub fn chain(&self) -> &str {
        &self.chain
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.chain)
    }
}

impl<E: std::error::Error> From<E> for Fault {
    fn from(error: E) -> Self {
        let mut chain = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let words = cause.to_string();
            if !chain.ends_with(&words) {
                chain.push_str(": ");
                chain.push_str(&words);
            }
            source = cause.source();
        }
        Self { chain }
    }
}

impl<E: std::error::Error> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Broke(error.into())
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Broke(fault)
    }
}
