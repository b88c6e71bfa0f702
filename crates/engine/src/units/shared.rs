//! What several calls of one page read alike, read once.

use std::collections::HashMap;
use std::sync::Arc;

use db::borders::Borders;
use db::categories::Category;
use db::prices::PriceList;

use super::visit::{Audience, Visit};

/// What a run has read. It is of the moment it was read at, as all of what a page shows: a visitor's page takes no
/// longer than a blink. What is kept of it is as old as the run's beginning in any case.
#[derive(Default)]
pub(super) struct Shared {
    /// The categories and their addresses.
    pub(super) categories: Option<Arc<Categories>>,
    /// The lists of prices that are open to everybody, and when that changes.
    pub(super) price_lists: Option<(Arc<[PriceList]>, Borders)>,
}

/// All categories, whether shown or not.
pub(super) struct Categories {
    pub(super) all: Vec<Category>,
    pub(super) urls: HashMap<i64, String>,
}

impl Shared {
    /// Whether the runs of a visit share what they read: not where something is written, or where there is time for
    /// others to write.
    pub(super) fn is_for(visit: &Visit) -> bool {
        visit.audience == Audience::Visitor && visit.method == "GET"
    }
}
