//! How a request ended: into an envelope, into the log, into a name for the counts.

use serde_json::Value;
use wire::{Envelope, Refusal, Stop, catalogue};

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
