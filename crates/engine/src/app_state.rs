//! What every request of one engine shares.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use db::{Db, DbError, Tx};
use wire::Stop;

use crate::clock::Clock;
use crate::files::Files;
use crate::gate::passwords::Passwords;
use crate::http::answers::Answers;
use crate::http::body::Bodies;
use crate::http::metrics::Metrics;
use crate::http::requests::Requests;
use crate::media::Shelf;
use crate::settings::Settings;
use crate::settings::reload::LiveSettings;
use crate::storefront::Packed;
use crate::units::Units;
use crate::write_check::WriteCheck;
use crate::write_error::{WriteError, commit_lost};

/// Which requests the marker of demo mode counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DemoScope {
    /// The engine listens on an address that others can reach.
    Nobody,
    /// It listens on this computer's own address.
    ThisComputer,
    /// It was told so.
    Everybody,
}

/// One store's engine. It keeps no truth of its own: other nodes may work on the same database.
pub(crate) struct AppState {
    pub(crate) root: PathBuf,
    pub(crate) db: Db,
    pub(crate) settings: LiveSettings,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) passwords: Passwords,
    pub(crate) bodies: Bodies,
    pub(crate) answers: Answers,
    pub(crate) requests: Requests,
    pub(crate) write_check: WriteCheck,
    pub(crate) metrics: Metrics,
    /// The store's own scripts, of which its pages are made.
    pub(crate) units: Units,
    /// Its editable files, with versions.
    pub(crate) files: Files,
    /// Files of the templates' groups, packed.
    pub(crate) packed: Packed,
    /// Pictures in sizes that were made once.
    pub(crate) shelf: Shelf,
    /// Which requests the marker of demo mode counts for.
    pub(crate) demo_scope: DemoScope,
    /// Says that an engine runs on this root; none where the root cannot be written.
    pub(crate) _engine_lock: Option<File>,
    /// The database was closed when it was last looked at: it is being moved, or was.
    pub(crate) is_frozen: AtomicBool,
}

impl AppState {
    /// Demo mode is on for a request under these settings.
    pub(crate) fn is_demo(&self, settings: &Settings, was_forwarded: bool) -> bool {
        let counts = match self.demo_scope {
            DemoScope::Nobody => false,
            // What comes through a proxy comes from anywhere, whatever address the engine listens on.
            DemoScope::ThisComputer => !was_forwarded && settings.trusted_proxies.is_empty(),
            DemoScope::Everybody => true,
        };
        counts && self.root.join(wire::paths::ADMIN_HERE).exists()
    }

    /// Changes in one transaction. Where nobody knows whether it was committed, nobody is told that nothing was
    /// changed.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&mut Tx) -> Result<T, Stop>) -> Result<T, Stop> {
        self.db.write(|tx| work(tx).map_err(WriteError::Stopped)).map_err(|error| match error {
            WriteError::Stopped(stop) => stop,
            WriteError::Lost => commit_lost("Look whether it was before you repeat it."),
        })
    }

    /// The store is closed for works.
    pub(crate) fn is_locked(&self) -> bool {
        self.is_frozen.load(Ordering::Relaxed) || self.root.join(wire::paths::SHOP_LOCK).exists()
    }

    /// Whether the database is closed: no node may write to it, and what it tells may be old.
    pub(crate) fn check_write_freeze(&self) -> Result<bool, DbError> {
        let is_frozen = self.db.write_freeze()?.is_some();
        if self.is_frozen.swap(is_frozen, Ordering::Relaxed) != is_frozen {
            tracing::warn!(is_frozen, "The database was closed or opened by `shopwright store`");
        }
        Ok(is_frozen)
    }
}
