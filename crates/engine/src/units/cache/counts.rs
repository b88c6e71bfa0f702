//! How often the cache had an answer.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A unit inside a page.
    Unit,
    /// A whole page.
    Page,
}

/// Counts since the start.
#[derive(Default)]
pub(super) struct Counts {
    units: Row,
    pages: Row,
}

#[derive(Default)]
struct Row {
    hits: AtomicU64,
    misses: AtomicU64,
    stale: AtomicU64,
}

impl Counts {
    fn row(&self, kind: Kind) -> &Row {
        match kind {
            Kind::Unit => &self.units,
            Kind::Page => &self.pages,
        }
    }

    /// An answer was there.
    pub(super) fn hit(&self, kind: Kind) {
        self.row(kind).hits.fetch_add(1, Ordering::Relaxed);
    }

    /// No answer was there, or one that was not true any more.
    pub(super) fn miss(&self, kind: Kind, was_stale: bool) {
        let row = self.row(kind);
        row.misses.fetch_add(1, Ordering::Relaxed);
        row.stale.fetch_add(u64::from(was_stale), Ordering::Relaxed);
    }

    /// The counts in Prometheus' text form.
    pub(super) fn page(&self, bytes: u64) -> String {
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut page, bytes);
        page
    }

    fn write(&self, page: &mut String, bytes: u64) -> std::fmt::Result {
        writeln!(
            page,
            "# HELP shopwright_cache_total Answers of the cache: `stale` ones are among the misses."
        )?;
        writeln!(page, "# TYPE shopwright_cache_total counter")?;
        for (what, row) in [("unit", &self.units), ("page", &self.pages)] {
            for (outcome, count) in [("hit", &row.hits), ("miss", &row.misses), ("stale", &row.stale)] {
                let count = count.load(Ordering::Relaxed);
                writeln!(page, "shopwright_cache_total{{what=\"{what}\",outcome=\"{outcome}\"}} {count}")?;
            }
        }
        writeln!(page, "# HELP shopwright_cache_bytes What the cache holds.")?;
        writeln!(page, "# TYPE shopwright_cache_bytes gauge")?;
        writeln!(page, "shopwright_cache_bytes {bytes}")
    }
}
