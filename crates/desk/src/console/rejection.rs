//! Why the guard rejects a request.

use axum::http::StatusCode;

/// Why a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// The request names another host.
    Host,
    /// Another site's page sent it.
    Origin,
    /// It lacks the cookie of this start.
    Cookie,
    /// It lacks the word of our forms.
    Form,
    /// It is larger than any form of ours.
    Size,
}

impl Rejection {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin | Self::Form => StatusCode::FORBIDDEN,
            Self::Cookie => StatusCode::UNAUTHORIZED,
            Self::Size => StatusCode::PAYLOAD_TOO_LARGE,
        }
    }
}
