//! How a request ended: into an envelope, into the log, into a name for the counts.

use db::DbError;
use serde_json::Value;
use wire::{Envelope, Refusal, Stop, catalogue};

/// Why a change was not answered.
pub(crate) enum Unanswered {
    /// It was refused or failed, and nothing was changed.
    Stopped(Stop),
    /// Nobody knows whether it was committed.
    Lost,
}

impl From<Stop> for Unanswered {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl From<DbError> for Unanswered {
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

/// An ended request.
pub(crate) struct Ended {
    pub(crate) envelope: Envelope,
    /// `done` or the name of the refusal.
    pub(crate) outcome: &'static str,
}

/// Puts a result into an envelope; logs refusals and faults, here and nowhere else.
pub(crate) fn conclude(command: &'static str, result: Result<Value, Stop>, ms: u64) -> Ended {
    match result {
        Ok(data) => {
            tracing::debug!(command, duration_ms = ms, "Answered");
            Ended { envelope: Envelope::done(data, ms), outcome: "done" }
        }
        Err(Stop::Refused(refusal)) => {
            tracing::info!(command, refusal = refusal.name(), duration_ms = ms, "Refused");
            refused(&refusal, ms)
        }
        Err(Stop::Broke(fault)) => {
            let incident = incident();
            tracing::error!(command, %incident, cause = fault.chain(), duration_ms = ms, "Failed");
            refused(&catalogue::engine_failed(&incident), ms)
        }
    }
}

fn refused(refusal: &Refusal, ms: u64) -> Ended {
    let outcome = refusal.row().map_or("unknown", |row| row.name);
    Ended { envelope: Envelope::refused(refusal, ms), outcome }
}

/// A number under which a fault is found in the log.
fn incident() -> String {
    let number = uuid::Uuid::new_v4().simple().to_string();
    number.get(..8).unwrap_or("0").to_owned()
}
