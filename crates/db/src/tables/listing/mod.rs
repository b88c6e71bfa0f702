//! Lists of products: rows made from the catalogue, prices and stock, sorted by one index each, and how they are read.
//!
//! Prices, stock and states write them in their own transaction; the rest is
//! marked in `dirty` and made anew soon after by [`flush`].

mod counts;
mod dirty;
mod page;
mod write;

pub use counts::{Count, counts, rebuild_counts};
pub use dirty::{category_changed, changed, flush, follow, sold};
pub(crate) use dirty::{follow_clock, has_border};
pub use page::{After, Entry, Facet, Page, Query, Sort, Start, most_popular, page, total};
pub use write::{refresh_availability, reindex, reindex_all};
