//! What every request of one engine shares, and what a request brings along.

use std::fs::File;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use db::{Db, DbError, Tx};
use jiff::Timestamp;
use wire::{Fault, Request, Stop};

use crate::config::Settings;
use crate::http::answers::Answers;
use crate::http::body::{Bodies, Room};
use crate::http::requests::Requests;
use crate::live::Live;
use crate::metrics::Metrics;
use crate::outcome::{Unanswered, commit_lost};
use crate::passwords::Passwords;
use crate::units::Units;
use crate::world::World;
use crate::write_check::WriteCheck;

/// Which requests the marker of demo mode counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DemoFor {
    /// The engine listens on an address that others can reach.
    Nobody,
    /// It listens on this computer's own address.
    ThisComputer,
    /// It was told so.
    Everybody,
}

/// One store's engine. It keeps no truth of its own: other nodes may work on the same database.
pub(crate) struct House {
    pub(crate) root: PathBuf,
    pub(crate) db: Db,
    pub(crate) live: Live,
    pub(crate) world: Arc<dyn World>,
    pub(crate) passwords: Passwords,
    pub(crate) bodies: Bodies,
    pub(crate) answers: Answers,
    pub(crate) requests: Requests,
    pub(crate) write_check: WriteCheck,
    pub(crate) metrics: Metrics,
    /// The store's own scripts, of which its pages are made.
    pub(crate) units: Units,
    /// Which requests the marker of demo mode counts for.
    pub(crate) demo_for: DemoFor,
    /// Says that an engine runs on this root; none where the root cannot be written.
    pub(crate) _mark: Option<File>,
    /// The database was closed when it was last looked at: it is being moved, or was.
    pub(crate) is_closed: AtomicBool,
}

impl House {
    /// Demo mode is on for a request under these settings.
    pub(crate) fn is_demo(&self, settings: &Settings, was_forwarded: bool) -> bool {
        let counts = match self.demo_for {
            DemoFor::Nobody => false,
            // What comes through a proxy comes from anywhere, whatever address the engine listens on.
            DemoFor::ThisComputer => !was_forwarded && settings.trusted_proxies.is_empty(),
            DemoFor::Everybody => true,
        };
        counts && self.root.join(wire::paths::ADMIN_HERE).exists()
    }

    /// Changes in one transaction. Where nobody knows whether it was committed, nobody is told that nothing was
    /// changed.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&mut Tx) -> Result<T, Stop>) -> Result<T, Stop> {
        self.db.write(|tx| work(tx).map_err(Unanswered::Stopped)).map_err(|unanswered| match unanswered {
            Unanswered::Stopped(stop) => stop,
            Unanswered::Lost => commit_lost("Look whether it was before you repeat it."),
        })
    }

    /// The store is closed for works.
    pub(crate) fn is_locked(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed) || self.root.join(wire::paths::SHOP_LOCK).exists()
    }

    /// Whether the database is closed: no node may write to it, and what it tells may be old.
    pub(crate) fn look_at_closure(&self) -> Result<bool, DbError> {
        let is_closed = self.db.write_freeze()?.is_some();
        if self.is_closed.swap(is_closed, Ordering::Relaxed) != is_closed {
            tracing::warn!(is_closed, "The database was closed or opened by `shopwright store`");
        }
        Ok(is_closed)
    }
}

/// One request as it reached the engine.
pub(crate) struct Asked {
    /// What the caller sent. Its parameters may be a password: it never goes to a log.
    pub(crate) request: Request,
    /// The caller's address, behind trusted proxies.
    pub(crate) client: IpAddr,
    /// The host the caller asked, as it wrote it.
    pub(crate) host: String,
    /// Whether it came through a proxy.
    pub(crate) was_forwarded: bool,
    /// The moment of the request.
    pub(crate) now: Timestamp,
    /// Whether this is the one request in ten that is turned away near the backup window.
    pub(crate) is_unlucky: bool,
    /// The settings, the same from the first check to the last.
    pub(crate) settings: Arc<Settings>,
    /// The room that a large request takes until it is answered.
    pub(crate) _room: Option<Room>,
}

/// One in ten, drawn before anything is done.
pub(crate) fn draw_unlucky() -> Result<bool, Fault> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|_| Fault::new("no random numbers"))?;
    Ok(u64::from_le_bytes(random) % 10 == 0)
}

/// Runs work that waits for the database or the disk. A panic in it is a fault of this request only.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Stop> + Send + 'static,
) -> Result<T, Stop> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(panic_fault(error).into()),
    }
}

fn panic_fault(error: tokio::task::JoinError) -> Fault {
    match error.try_into_panic() {
        Ok(panic) => Fault::new(format!("panic: {}", panic_words(panic.as_ref()))),
        Err(error) => error.into(),
    }
}

/// What a panic said.
pub(crate) fn panic_words(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_fault_of_one_request() {
        let stop = blocking::<()>(|| panic!("number {}", 7)).await.unwrap_err();
        assert!(matches!(stop, Stop::Broke(fault) if fault.chain() == "panic: number 7"));
        assert!(matches!(blocking(|| Ok(7)).await, Ok(7)));
    }
}
