//! What failures of the server mean.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use crate::DbError;

/// The state by which the refusal of a frozen database is known.
pub(super) const FROZEN: &str = "SW001";

/// What a failure of the server means to the callers.
pub(super) fn error(error: tokio_postgres::Error) -> DbError {
    let Some(cause) = error.as_db_error() else {
        return if error.is_closed()
            || std::error::Error::source(&error).is_some_and(|s| s.is::<std::io::Error>())
        {
            DbError::unreachable(error)
        } else {
            DbError::sql(error)
        };
    };
    let code = cause.code();
    if code.code() == FROZEN {
        DbError::WritesFrozen
    } else if *code == SqlState::UNIQUE_VIOLATION {
        DbError::Conflict(cause.message().to_owned())
    } else if *code == SqlState::FOREIGN_KEY_VIOLATION {
        DbError::Dangling(cause.message().to_owned())
    } else if [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
    ]
    .contains(code)
    {
        DbError::Busy
    } else if ["08", "57P0", "53", "28", "3D"].iter().any(|class| code.code().starts_with(class)) {
        DbError::unreachable(error)
    } else {
        DbError::sql(error)
    }
}

pub(super) fn pool_error(failure: PoolError) -> DbError {
    match failure {
        // No answer of the server: the line could not be opened, or not kept secret.
        PoolError::Backend(cause) if cause.as_db_error().is_none() => DbError::unreachable(cause),
        PoolError::Backend(cause) => error(cause),
        other => DbError::unreachable(other),
    }
}
