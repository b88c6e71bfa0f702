//! Why a token or a key is not accepted.

/// Why a token or a key is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LicenceError {
    /// The token is signed rightly, but for another domain.
    #[error("the licence is for another domain")]
    Domain,
    /// No token, another form, a foreign signature, another login or day.
    #[error("the licence does not fit")]
    Token,
    /// A key cannot be read.
    #[error("not a licence key of the form {0}")]
    Key(&'static str),
    /// The system gives no random numbers, or signing failed.
    #[error("cannot make a licence key or token")]
    Making,
}
