//! When the files of what is kept are looked at: each time, but under many visitors not more often than makes sense.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::Proof;

/// A stretch of time in which looks are counted, in milliseconds.
const STRETCH: u64 = 40;
/// So many looks are made in each stretch, whatever they are at. A look at the thirty files of a page, off the threads
/// that serve connections, costs as much time as some pages out of memory.
const LOOKS: u64 = 16;

/// Counts looks. A file that is edited by hand, or the one that closes the store, while more than some hundreds of
/// pages a second are shown is seen within [`STRETCH`]; else it is seen with the next page.
pub(super) struct Looks {
    begun: Instant,
    /// The stretch and the looks in it: its number times `LOOKS + 1`, and the looks up to that.
    made: AtomicU64,
}

impl Default for Looks {
    fn default() -> Self {
        Self { begun: Instant::now(), made: AtomicU64::new(0) }
    }
}

impl Looks {
    fn now(&self) -> u64 {
        // One more than has passed: 0 is never.
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1
    }

    /// Whether the files of an answer are to be looked at before it is shown.
    pub(super) fn is_due(&self, proof: &Proof) -> bool {
        let now = self.now();
        proof.looked() + STRETCH <= now || self.has_looks_left(now)
    }

    fn has_looks_left(&self, now: u64) -> bool {
        let first = now / STRETCH * (LOOKS + 1);
        let before = self.made.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |made| {
            Some(if made < first { first + 1 } else { (made + 1).min(first + LOOKS) })
        });
        let before = before.unwrap_or_default();
        before < first || before < first + LOOKS
    }

    /// The files of an answer are looked at now.
    pub(super) fn note(&self, proof: &Proof) {
        proof.note_look(self.now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_looks_are_made_and_no_more() {
        let looks = Looks::default();
        let made = |now: u64| (0..100).filter(|_| looks.has_looks_left(now)).count();
        assert_eq!((made(1000), made(1039), made(1040)), (16, 0, 16));
    }
}
