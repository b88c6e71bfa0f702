//! How many requests of one client address are in flight at once.

use std::net::IpAddr;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;

use super::address_shares::AddressShares;

/// Requests of one client address that are read or worked on at once; others of it wait in order.
const OF_ADDRESS: usize = 128;
/// Those of them that are worked on: each may hold an answer of many megabytes some times over.
const AT_WORK: usize = 16;
/// How long one waits.
const QUEUE: Duration = Duration::from_secs(20);

/// The requests of each client address, behind trusted proxies too.
pub(crate) struct Requests {
    in_flight: AddressShares,
    at_work: AddressShares,
}

impl Requests {
    pub(crate) fn new() -> Self {
        Self { in_flight: AddressShares::new(OF_ADDRESS), at_work: AddressShares::new(AT_WORK) }
    }

    /// Waits until this address may have one more request in flight; `None` if that takes too long.
    pub(crate) async fn in_flight(&self, client: IpAddr) -> Option<OwnedSemaphorePermit> {
        take(&self.in_flight, client).await
    }

    /// Waits until one more of its requests may be worked on; `None` if that takes too long.
    pub(crate) async fn at_work(&self, client: IpAddr) -> Option<OwnedSemaphorePermit> {
        take(&self.at_work, client).await
    }
}

async fn take(shares: &AddressShares, client: IpAddr) -> Option<OwnedSemaphorePermit> {
    tokio::time::timeout(QUEUE, shares.of(client).acquire_owned()).await.ok()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_address_waits_for_its_own_requests_and_for_no_others() {
        let requests = Requests::new();
        let address = |last: u8| IpAddr::from([10, 0, 0, last]);
        let mut held = Vec::new();
        for _ in 0..AT_WORK {
            held.push(requests.at_work(address(1)).await.unwrap());
        }
        let next = requests.at_work(address(1));
        let mut next = std::pin::pin!(next);
        let soon = Duration::from_millis(20);
        assert!(tokio::time::timeout(soon, &mut next).await.is_err(), "it waits");
        assert!(requests.at_work(address(2)).await.is_some());
        held.pop();
        assert!(next.await.is_some());
    }
}
