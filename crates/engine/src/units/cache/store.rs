//! The memory of the cache: a bounded number of bytes, and one who makes what many want.

use std::sync::Arc;

use quick_cache::sync::{DefaultLifecycle, GuardResult, PlaceholderGuard};
use quick_cache::{DefaultHashBuilder, Weighter};

use super::{Cache, Kept, Keys, WAIT, What};

type Key = [u8; 32];
type Kind = quick_cache::sync::Cache<Key, Slot, Weights>;
type Guard<'a> = PlaceholderGuard<'a, Key, Slot, Weights, DefaultHashBuilder, DefaultLifecycle<Key, Slot>>;

/// Bytes of an answer, about: how many answers there will be is guessed by it.
const USUAL: u64 = 16 << 10;
/// What a slot takes beside its answer.
const SLOT: u64 = 128;
/// How often it is looked again after what was found was not true.
const TRIES: usize = 3;

/// What lies under a key.
#[derive(Clone)]
enum Slot {
    /// An answer.
    Kept(Arc<Kept>),
    /// The answer differs by request: it lies under that key.
    ByRequest,
    /// The last answer could not be kept: nobody waits for the next one.
    Unkept,
}

#[derive(Clone)]
struct Weights;

impl Weighter<Key, Slot> for Weights {
    fn weight(&self, _: &Key, slot: &Slot) -> u64 {
        SLOT + match slot {
            Slot::Kept(kept) => kept.weight(),
            Slot::ByRequest | Slot::Unkept => 0,
        }
    }
}

impl Kept {
    fn weight(&self) -> u64 {
        let bytes = match &self.what {
            What::Html(html) => html.len() as u64,
            What::Page(page) => page.weight(),
        };
        bytes + self.proof.weight()
    }
}

/// Answers within a number of bytes.
pub(super) struct Store {
    slots: Kind,
}

impl Store {
    pub(super) fn new(bytes: u64) -> Self {
        let items = usize::try_from(bytes / USUAL).unwrap_or(usize::MAX).clamp(16, 1 << 20);
        Self { slots: Kind::with_weighter(items, bytes, Weights) }
    }

    /// Bytes it holds.
    pub(super) fn bytes(&self) -> u64 {
        self.slots.weight()
    }
}

/// What was found.
pub(crate) enum Found<'a> {
    /// An answer that is true.
    Hit(Arc<Kept>),
    /// None: the caller makes one and says what came of it.
    Miss(Place<'a>),
}

/// Where an answer will lie.
pub(crate) struct Place<'a> {
    cache: &'a Cache,
    keys: Keys,
    is_by_request: bool,
    /// Others wait; dropping it lets the next one make the answer.
    guard: Option<Guard<'a>>,
    /// Why the one that lay here was not true any more.
    pub(crate) stale: Option<String>,
}

pub(super) fn find<'a>(
    cache: &'a Cache,
    keys: Keys,
    busy: &[Key],
    check: impl Fn(&Kept) -> Result<(), String>,
) -> Found<'a> {
    let mut place = Place { cache, keys, is_by_request: false, guard: None, stale: None };
    for _ in 0..TRIES {
        let (key, has_fields) = place.keys.key(place.is_by_request);
        let store = cache.store(has_fields);
        // What this caller is about to make itself it would wait for in vain.
        if busy.contains(&key) {
            break;
        }
        match store.slots.get_value_or_guard(&key, Some(WAIT)) {
            GuardResult::Value(Slot::Kept(kept)) => match check(&kept) {
                Ok(()) => return Found::Hit(kept),
                Err(why) => {
                    place.stale = Some(why);
                    let is_it = |slot: &Slot| matches!(slot, Slot::Kept(other) if Arc::ptr_eq(other, &kept));
                    store.slots.remove_if(&key, is_it);
                }
            },
            GuardResult::Value(Slot::ByRequest) if !place.is_by_request => place.is_by_request = true,
            GuardResult::Value(Slot::ByRequest | Slot::Unkept) | GuardResult::Timeout => break,
            GuardResult::Guard(guard) => {
                place.guard = Some(guard);
                break;
            }
        }
    }
    Found::Miss(place)
}

/// What lies under keys, be it true or not.
pub(super) fn peek(cache: &Cache, keys: &Keys) -> Option<Arc<Kept>> {
    for is_by_request in [false, true] {
        let (key, has_fields) = keys.key(is_by_request);
        match cache.store(has_fields).slots.get(&key)? {
            Slot::Kept(kept) => return Some(kept),
            Slot::ByRequest => {}
            Slot::Unkept => return None,
        }
    }
    None
}

impl Place<'_> {
    /// The key that others wait for.
    pub(crate) fn key(&self) -> [u8; 32] {
        self.keys.key(self.is_by_request).0
    }

    /// Keeps an answer, or that it cannot be kept.
    pub(crate) fn fill(mut self, kept: Option<Kept>, is_by_request: bool) {
        match kept {
            None => self.put(Slot::Unkept),
            Some(kept) if is_by_request && !self.is_by_request => {
                let (key, has_fields) = self.keys.key(true);
                self.cache.store(has_fields).slots.insert(key, Slot::Kept(Arc::new(kept)));
                self.put(Slot::ByRequest);
            }
            Some(kept) => {
                let slot = Slot::Kept(Arc::new(kept));
                if self.is_by_request && !is_by_request {
                    // It does not differ any more.
                    self.cache.store(false).slots.insert(self.keys.key(false).0, slot.clone());
                }
                self.put(slot);
            }
        }
    }

    fn put(&mut self, slot: Slot) {
        match self.guard.take() {
            // It fails only where the place was taken meanwhile, by an answer as good as this.
            Some(guard) => drop(guard.insert(slot)),
            None => {
                let (key, has_fields) = self.keys.key(self.is_by_request);
                self.cache.store(has_fields).slots.insert(key, slot);
            }
        }
    }
}
