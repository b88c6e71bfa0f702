//! What units and pages answered, kept for as long as it is true.
//!
//! Nothing is ever cleared by hand. What is kept carries a [`Proof`]: what it was
//! made of, and how far the node had heard of commits when that was read. Before
//! it is shown again the node hears of all that was committed since, and
//! looks whether any of it is among what it was made of. Of two callers who
//! want the same, one makes it and the other waits.

mod counts;
mod heard;
mod key;
mod looks;
mod page;
mod proof;
mod store;
mod unit;

use std::sync::Arc;
use std::time::Duration;

use db::Db;

pub(crate) use counts::Kind;
pub(crate) use key::Keys;
pub(crate) use page::{KeptPage, is_among, takes_packed};
pub(crate) use proof::Proof;
pub(crate) use store::{Found, Place};

use counts::Counts;
use heard::Heard;
use looks::Looks;
use store::Store;

/// How long a caller waits for another one who makes the same; then it makes it too.
const WAIT: Duration = Duration::from_secs(1);

/// What is kept, and what makes it true.
pub(crate) struct Cache {
    heard: Heard,
    looks: Looks,
    /// What is asked for without fields in the address.
    plain: Store,
    /// What is asked for with fields: anybody can make up as many as they like, so they have their own, smaller room.
    with_fields: Store,
    counts: Counts,
}

/// An answer that is kept.
pub(crate) struct Kept {
    pub(crate) what: What,
    pub(crate) proof: Proof,
}

/// What an answer is.
pub(crate) enum What {
    /// The HTML of a unit inside a page.
    Html(String),
    /// A whole page.
    Page(Box<KeptPage>),
}

impl Cache {
    /// An empty cache that takes so much memory at most.
    pub(crate) fn new(db: Db, megabytes: u64) -> Self {
        let bytes = megabytes.saturating_mul(1 << 20);
        let small = bytes / 8;
        Self {
            heard: Heard::new(db),
            looks: Looks::default(),
            plain: Store::new(bytes - small),
            with_fields: Store::new(small),
            counts: Counts::default(),
        }
    }

    /// Hears of everything that is committed by now, on whatever node; how far that is. `None` where the database
    /// cannot say.
    pub(crate) fn ask(&self) -> Option<u64> {
        self.heard.ask()
    }

    /// Hears of everything that is committed and that this node can know of without asking; how far that is.
    pub(crate) fn catch_up(&self) -> Option<u64> {
        self.heard.catch_up()
    }

    /// How far was heard, where there is nothing more to hear; without asking the database's server.
    pub(crate) fn if_caught_up(&self) -> Option<u64> {
        self.heard.if_caught_up()
    }

    /// Looks for what is kept under keys. `check` says why it is not true any more; `busy` are keys whose answer the
    /// caller is about to make, for which it must not wait.
    pub(crate) fn find(
        &self,
        keys: Keys,
        kind: Kind,
        busy: &[[u8; 32]],
        check: impl Fn(&Kept) -> Result<(), String>,
    ) -> Found<'_> {
        let found = store::find(self, keys, busy, check);
        match &found {
            Found::Hit(_) => self.counts.hit(kind),
            Found::Miss(place) => self.counts.miss(kind, place.stale.is_some()),
        }
        found
    }

    /// What is kept under keys and needs no look at the disk: the page that many ask for.
    pub(crate) fn find_busy(
        &self,
        keys: &Keys,
        check: impl Fn(&Kept) -> Result<(), String>,
    ) -> Option<Arc<Kept>> {
        let kept = store::peek(self, keys)?;
        if self.looks.is_due(&kept.proof) || check(&kept).is_err() {
            return None;
        }
        self.counts.hit(Kind::Page);
        Some(kept)
    }

    /// Whether anything that an answer was made of has changed; if so, what.
    pub(crate) fn changed(&self, proof: &Proof, heard: u64) -> Result<(), String> {
        self.heard.check(proof, heard)
    }

    /// The files of an answer are looked at now.
    pub(crate) fn look(&self, proof: &Proof) {
        self.looks.note(proof);
    }

    /// What the metrics tell.
    pub(crate) fn metrics(&self) -> String {
        self.counts.page([&self.plain, &self.with_fields].map(Store::bytes).iter().sum())
    }

    fn store(&self, has_fields: bool) -> &Store {
        if has_fields { &self.with_fields } else { &self.plain }
    }
}
