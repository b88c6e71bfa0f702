//! Signals between the nodes of a store: hints that something has changed, told when the change is committed.
//!
//! A hint may be lost (a full queue, a broken line); then [`Signal::Missed`]
//! comes in its place, and the listener looks into the database for itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The longest channel and payload together, in bytes; six times as much still fits where each is escaped.
pub const LONGEST: usize = 1000;
/// Signals that wait for a slow listener.
const QUEUE: usize = 1024;

/// What a listener hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Somebody, on whatever node, said this.
    Said {
        /// What it is about.
        channel: String,
        /// What there is to say, in the form of the channel.
        payload: String,
    },
    /// Signals were lost: anything may have changed.
    Missed,
}

/// What comes in for one listener.
pub struct Signals {
    receiver: Receiver<Signal>,
}

impl Signals {
    /// Waits for the next signal; `None` when the database is closed.
    pub async fn next(&mut self) -> Option<Signal> {
        self.receiver.recv().await
    }

    /// Like [`Signals::next`], for threads that may wait.
    pub fn wait(&mut self) -> Option<Signal> {
        self.receiver.blocking_recv()
    }
}

/// Everybody who listens.
#[derive(Default)]
pub(crate) struct Listeners {
    all: Mutex<Vec<Listener>>,
    /// How often something was committed here, or said elsewhere.
    rung: Mutex<u64>,
    ringing: Condvar,
    /// Whether what is said elsewhere is heard now.
    hears: AtomicBool,
}

struct Listener {
    sender: Sender<Signal>,
    /// Its queue was full: it is to be told before anything else.
    missed: bool,
}

impl Listeners {
    pub(crate) fn add(&self) -> Signals {
        let (sender, receiver) = channel(QUEUE);
        self.all.lock().unwrap_or_else(PoisonError::into_inner).push(Listener { sender, missed: false });
        Signals { receiver }
    }

    /// Wakes those who wait for any change.
    pub(crate) fn ring(&self) {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        *rung = rung.wrapping_add(1);
        self.ringing.notify_all();
    }

    /// How often it rang.
    pub(crate) fn rung(&self) -> u64 {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says whether what is said elsewhere is heard.
    pub(crate) fn set_hears(&self, hears: bool) {
        self.hears.store(hears, Ordering::SeqCst);
    }

    /// Whether what is said elsewhere is heard.
    pub(crate) fn hears(&self) -> bool {
        self.hears.load(Ordering::SeqCst)
    }

    /// Waits until it has rung since, at most so long; how often it rang.
    pub(crate) fn wait_for_ring(&self, heard: u64, timeout: Duration) -> u64 {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.ringing.wait_timeout_while(rung, timeout, |rung| *rung == heard);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    pub(crate) fn tell(&self, signal: &Signal) {
        self.ring();
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain_mut(|listener| {
            if listener.missed && listener.sender.try_send(Signal::Missed).is_ok() {
                listener.missed = false;
            }
            match listener.sender.try_send(signal.clone()) {
                Ok(()) => true,
                Err(TrySendError::Full(_)) => {
                    listener.missed = true;
                    true
                }
                Err(TrySendError::Closed(_)) => false,
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(payload: usize) -> Signal {
        Signal::Said { channel: "c".into(), payload: payload.to_string() }
    }

    #[test]
    fn a_listener_that_was_too_slow_is_told_so_once() {
        let listeners = Listeners::default();
        let mut signals = listeners.add();
        for n in 0..QUEUE + 5 {
            listeners.tell(&said(n));
        }
        let first: Vec<_> = (0..QUEUE).map(|_| signals.wait()).collect();
        assert_eq!(first.last(), Some(&Some(said(QUEUE - 1))));
        listeners.tell(&said(9999));
        listeners.tell(&said(10_000));
        assert_eq!(signals.wait(), Some(Signal::Missed));
        assert_eq!(signals.wait(), Some(said(9999)));
        assert_eq!(signals.wait(), Some(said(10_000)));
    }

    #[test]
    fn who_stops_listening_is_forgotten() {
        let listeners = Listeners::default();
        drop(listeners.add());
        listeners.tell(&said(1));
        assert!(listeners.all.lock().unwrap().is_empty());
    }
}
