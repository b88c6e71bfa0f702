//! The secrets of one start: what opens the console, what its cookie holds, what its forms carry.

use std::fmt;

/// Three random words, drawn at each start and kept in memory only.
pub(crate) struct Secrets {
    start: String,
    cookie: String,
    form: String,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    pub(crate) fn draw() -> Result<Self, getrandom::Error> {
        Ok(Self { start: word()?, cookie: word()?, form: word()? })
    }

    /// What the start address carries.
    pub(crate) fn start(&self) -> &str {
        &self.start
    }

    /// What the cookie holds. Another word than the start's: that one is seen on the screen.
    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    /// What every form carries, so that no other site's form is taken.
    pub(crate) fn form(&self) -> &str {
        &self.form
    }
}

fn word() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether both are equal, in a time that tells nothing of where they differ.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}
