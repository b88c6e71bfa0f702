//! Requests in flight: how many of one address, and what becomes of those whose caller goes away.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;

use super::address_shares::AddressShares;
use crate::house::House;

/// Requests of one client address that are read or worked on at once; others of it wait in order.
const OF_ADDRESS: usize = 128;
/// How long one waits.
const QUEUE: Duration = Duration::from_secs(20);

/// The requests of each client address, behind trusted proxies too.
pub(crate) struct Requests {
    of_address: AddressShares,
}

impl Requests {
    pub(crate) fn new() -> Self {
        Self { of_address: AddressShares::new(OF_ADDRESS) }
    }
}

/// A request that is read or worked on. Dropped before it is answered, it says so in the log and the counts.
pub(crate) struct InFlight {
    house: Arc<House>,
    began: Instant,
    /// The command; `None` before it is known, and when all is said.
    command: Option<&'static str>,
    _share: OwnedSemaphorePermit,
}

impl InFlight {
    /// Waits until this address may have one more request in flight; `None` if that takes too long.
    pub(crate) async fn enter(house: &Arc<House>, client: IpAddr) -> Option<Self> {
        let share = house.requests.of_address.of(client).acquire_owned();
        let share = tokio::time::timeout(QUEUE, share).await.ok()?.ok()?;
        Some(Self { house: Arc::clone(house), began: Instant::now(), command: None, _share: share })
    }

    /// Which command it is.
    pub(crate) fn is(&mut self, command: &'static str) {
        self.command = Some(command);
    }

    /// Its answer is on the way.
    pub(crate) fn is_answered(&mut self) {
        self.command = None;
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let Some(command) = self.command else { return };
        let took = self.began.elapsed();
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(
            command,
            duration_ms,
            "The caller went away before the answer; what was begun goes on"
        );
        self.house.metrics.count(command, "cancelled", took);
    }
}
