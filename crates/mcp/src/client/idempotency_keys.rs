//! Idempotency keys of writes whose answer was lost.
//!
//! A write is repeated under its key by the server itself. Where all its tries
//! fail nobody knows what became of it, so the key is kept: when the agent
//! repeats the same call, it goes out under the same key, and the engine
//! answers with the first answer instead of doing it twice.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use uuid::Uuid;

/// How long the engine remembers a key. See spec: wire.md.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// Unsettled writes that are remembered.
const MOST: usize = 1000;

/// IdempotencyKeys of writes whose fate is not known.
#[derive(Default)]
pub(crate) struct IdempotencyKeys(Mutex<HashMap<[u8; 32], (Uuid, Instant)>>);

/// The key of one write. Dropped without an answer it is kept for a repeat.
pub(crate) struct IdempotencyKey<'a> {
    keys: &'a IdempotencyKeys,
    call: [u8; 32],
    key: Uuid,
    since: Instant,
    was_sent: bool,
    settled: bool,
}

impl IdempotencyKeys {
    /// The key of this call: the kept one of an unsettled equal call, else a new one.
    pub(crate) fn of(&self, whose: &[&str], params: &Map<String, Value>) -> IdempotencyKey<'_> {
        let mut hash = blake3::Hasher::new();
        for part in whose {
            hash.update(&part.len().to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.update(&wire::canonical::bytes(params.clone().into()));
        let call = *hash.finalize().as_bytes();
        // Taken out, so that two equal calls at once are two calls.
        let kept = self.lock().remove(&call).filter(|(_, since)| since.elapsed() < KEPT);
        let was_sent = kept.is_some();
        let (key, since) = kept.unwrap_or_else(|| (Uuid::new_v4(), Instant::now()));
        IdempotencyKey { keys: self, call, key, since, was_sent, settled: false }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], (Uuid, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IdempotencyKey<'_> {
    /// The key as it travels.
    pub(crate) fn text(&self) -> String {
        self.key.to_string()
    }

    /// Whether the engine may have got this call under this key before.
    pub(crate) fn was_sent(&self) -> bool {
        self.was_sent
    }

    /// The call's fate is known: it was answered, or never sent.
    pub(crate) fn settle(mut self) {
        self.settled = true;
    }
}

impl Drop for IdempotencyKey<'_> {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        let mut kept = self.keys.lock();
        if kept.len() >= MOST {
            // The newest is the likeliest to be repeated.
            let oldest = kept.iter().min_by_key(|(_, (_, since))| *since).map(|(call, _)| *call);
            oldest.and_then(|call| kept.remove(&call));
        }
        kept.insert(self.call, (self.key, self.since));
    }
}

#[cfg(test)]
mod tests;
