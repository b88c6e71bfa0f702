//! What one client address may take of something that all share.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use shop::address::network;
use tokio::sync::Semaphore;

/// Addresses that are remembered before those that hold nothing any more are looked for.
const SWEEP_FROM: usize = 64;

/// A share for each client address, as long as somebody there holds something of it.
pub(crate) struct AddressShares {
    each: usize,
    shares: Mutex<Shares>,
}

#[derive(Default)]
struct Shares {
    of: HashMap<IpAddr, Weak<Semaphore>>,
    /// How many there may be until the next sweep.
    sweep_at: usize,
}

impl AddressShares {
    pub(crate) fn new(each: usize) -> Self {
        Self { each, shares: Mutex::default() }
    }

    /// How much each address may take.
    pub(crate) fn each(&self) -> usize {
        self.each
    }

    /// The share of this address. Who has one network has one share.
    pub(crate) fn of(&self, address: IpAddr) -> Arc<Semaphore> {
        let address = network(address);
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.of.get(&address).and_then(Weak::upgrade) {
            return share;
        }
        if shares.of.len() >= shares.sweep_at {
            shares.of.retain(|_, share| share.strong_count() > 0);
            shares.sweep_at = (shares.of.len() * 2).max(SWEEP_FROM);
        }
        let share = Arc::new(Semaphore::new(self.each));
        shares.of.insert(address, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_network_has_a_share_and_those_that_hold_nothing_are_forgotten() {
        let shares = AddressShares::new(2);
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let held = Arc::clone(&shares.of(address("2001:db8:0:1::1"))).try_acquire_many_owned(2).unwrap();
        assert_eq!(shares.of(address("2001:db8:0:1:ffff::2")).available_permits(), 0, "the same network");
        assert_eq!(shares.of(address("2001:db8:0:2::1")).available_permits(), 2);
        assert_eq!(shares.of(address("10.0.0.1")).available_permits(), 2);
        for last in 0..=255u8 {
            let _ = shares.of(IpAddr::from([10, 1, 0, last]));
        }
        assert!(shares.shares.lock().unwrap().of.len() <= 2 * SWEEP_FROM);
        assert_eq!(
            shares.of(address("2001:db8:0:1::1")).available_permits(),
            0,
            "what is held is not forgotten"
        );
        drop(held);
        assert_eq!(shares.of(address("2001:db8:0:1::1")).available_permits(), 2);
    }
}
