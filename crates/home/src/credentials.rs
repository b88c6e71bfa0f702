//! A login and its password.

use std::fmt;

use zeroize::Zeroizing;

/// A login-password pair; the password is wiped when dropped and never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The login.
    pub login: String,
    /// The password; empty in demo mode.
    pub password: Zeroizing<String>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("login", &self.login).finish_non_exhaustive()
    }
}
