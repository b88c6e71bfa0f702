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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{InFlight, MOST};
    use crate::client::messages;

    #[tokio::test]
    async fn whoever_finds_no_place_in_time_is_told_that_nothing_was_sent() {
        let (places, long, short) = (InFlight::default(), Duration::from_secs(60), Duration::from_millis(1));
        let mut held = Vec::new();
        for _ in 0..MOST {
            held.push(places.turn(long).await.unwrap());
        }
        assert!(places.turn(short).await.is_none());
        let refusal = messages::no_place("https://shop.example.com", Duration::from_secs(50));
        assert_eq!(refusal.name(), "no_connection");
        for words in ["took all of 50 seconds", "sends 16 at once", "was not sent and nothing was done"] {
            assert!(refusal.text().contains(words), "{}", refusal.text());
        }
        held.pop();
        assert!(places.turn(short).await.is_some());
    }
}
