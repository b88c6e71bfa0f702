//! What failures of SQLite mean.

use crate::DbError;
use crate::driver::freeze::WORDS;

/// What a failure of SQLite means to the callers.
pub(crate) fn error(error: rusqlite::Error) -> DbError {
    use rusqlite::ErrorCode;
    let Some(cause) = error.sqlite_error() else { return DbError::sql(error) };
    match cause.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => DbError::Busy,
        ErrorCode::CannotOpen | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure => {
            DbError::unreachable(error)
        }
        ErrorCode::ConstraintViolation => match cause.extended_code {
            rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
                DbError::Conflict(error.to_string())
            }
            rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY => DbError::Dangling(error.to_string()),
            rusqlite::ffi::SQLITE_CONSTRAINT_TRIGGER if error.to_string().contains(WORDS) => {
                DbError::WritesFrozen
            }
            _ => DbError::sql(error),
        },
        _ => DbError::sql(error),
    }
}
