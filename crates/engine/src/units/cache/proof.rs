//! Why an answer that is kept is still true.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;

use super::super::dependencies::Dependencies;
use super::super::stamp::is_as_it_was;
use super::super::templates::Group;
use super::super::tree::Tree;
use crate::settings::Settings;

/// What an answer was made of, and when.
pub(crate) struct Proof {
    /// How far the node had heard before the first of it was read.
    since: u64,
    /// Up to where it is known to be true.
    known: AtomicU64,
    dependencies: Dependencies,
    settings: Arc<Settings>,
    /// The templates, where any was used.
    group: Option<Arc<Group>>,
    /// When its files were looked at last.
    looked: AtomicU64,
}

impl Proof {
    pub(crate) fn new(
        since: u64,
        dependencies: Dependencies,
        settings: &Arc<Settings>,
        group: &Arc<Group>,
    ) -> Self {
        let group = dependencies.uses_templates().then(|| Arc::clone(group));
        Self {
            since,
            known: AtomicU64::new(since),
            dependencies,
            settings: Arc::clone(settings),
            group,
            looked: AtomicU64::new(0),
        }
    }

    pub(crate) fn dependencies(&self) -> &Dependencies {
        &self.dependencies
    }

    pub(super) fn since(&self) -> u64 {
        self.since
    }

    pub(super) fn is_known_up_to(&self, count: u64) -> bool {
        self.known.load(Ordering::Acquire) >= count
    }

    pub(super) fn note_known_up_to(&self, count: u64) {
        self.known.fetch_max(count, Ordering::AcqRel);
    }

    pub(super) fn looked(&self) -> u64 {
        self.looked.load(Ordering::Relaxed)
    }

    pub(super) fn note_look(&self, now: u64) {
        self.looked.store(now, Ordering::Relaxed);
    }

    /// Looks at the clock and the settings.
    pub(crate) fn check_moment(&self, now: Timestamp, settings: &Arc<Settings>) -> Result<(), String> {
        if !Arc::ptr_eq(&self.settings, settings) {
            return Err("config.json".to_owned());
        }
        if self.dependencies.holds_at(now) { Ok(()) } else { Err("time".to_owned()) }
    }

    /// Looks at the files; `group` are the templates as they are now.
    pub(crate) fn check_files(&self, tree: &Tree, group: &Arc<Group>) -> Result<(), String> {
        if let Some(own) = &self.group
            && !Arc::ptr_eq(own, group)
        {
            return Err(group.folders().into_iter().next().unwrap_or_default());
        }
        for (path, stamp) in self.dependencies.files() {
            if !is_as_it_was(&tree.path(path), stamp.as_ref()) {
                return Err(path.clone());
            }
        }
        Ok(())
    }

    /// Bytes it takes, roughly.
    pub(super) fn weight(&self) -> u64 {
        200 + self.dependencies.weight()
    }
}
