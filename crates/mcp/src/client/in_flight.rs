//! How many calls are on their way to the engine at once; the others wait in their order.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// Calls of one server on their way at once.
///
/// A host may send thousands in a row, and each would take a connection that
/// the engine then lacks for everybody else.
pub(crate) const MOST: usize = 16;

/// The places there are.
pub(crate) struct InFlight(Semaphore);

/// A place, free again when this is dropped.
pub(crate) struct Turn<'a> {
    _place: SemaphorePermit<'a>,
    /// When the call's time is over. Waiting for the place is part of it: the host counts it too.
    pub(crate) until: Instant,
}

impl Default for InFlight {
    fn default() -> Self {
        Self(Semaphore::new(MOST))
    }
}

impl InFlight {
    /// Waits for a place, first come first served; `None` where the time was over before.
    pub(crate) async fn turn(&self, limit: Duration) -> Option<Turn<'_>> {
        let until = Instant::now() + limit;
        // The places are never closed.
        let place = tokio::time::timeout_at(until, self.0.acquire()).await.ok()?.ok()?;
        Some(Turn { _place: place, until })
    }
}
