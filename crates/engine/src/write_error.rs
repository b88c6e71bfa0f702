//! How a change can end without an answer: stopped, or with a commit of which nobody knows.

use db::DbError;
use wire::{Stop, catalogue};

/// Why a change was not answered.
pub(crate) enum WriteError {
    /// It was refused or failed, and nothing was changed.
    Stopped(Stop),
    /// Nobody knows whether it was committed.
    Lost,
}

impl From<Stop> for WriteError {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl From<DbError> for WriteError {
    fn from(error: DbError) -> Self {
        match error {
            DbError::CommitLost(_) => Self::Lost,
            other => Self::Stopped(other.into()),
        }
    }
}

/// The refusal for a change of which nobody knows whether it was committed.
pub(crate) fn commit_lost(next: &str) -> Stop {
    let fate = "The database went away while it was being carried out, so it may have been done.";
    tracing::error!("A commit was lost");
    catalogue::not_available(503, "", &format!("{fate} {next}")).into()
}
