//! The transaction in which a run's units write: begun with the first change, kept with the answer, bounded in time.
//!
//! Nobody else writes to a SQLite file meanwhile. So a clock of its own takes the
//! transaction back when its time is up, whatever the script does then.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use db::{Db, DbError, Tx};

/// How long a visitor's run may hold it.
pub(crate) const VISITORS_TIME: Duration = Duration::from_secs(1);
/// How long a person's run may hold it.
pub(crate) const PERSONS_TIME: Duration = Duration::from_secs(10);
/// The part of the transaction that a typed call's reading is.
const READ_PART: &str = "reading";

/// An open transaction of a run. Dropped, it takes all back.
pub(crate) struct Writing {
    /// `None` once its time was up.
    held: Arc<Mutex<Option<Tx>>>,
    until: Instant,
    /// Dropped with this, which ends the clock.
    _ends: Sender<()>,
}

impl Writing {
    /// Begins one that is taken back after so long.
    pub(crate) fn begin(db: &Db, time: Duration) -> Result<Self, DbError> {
        let held = Arc::new(Mutex::new(Some(db.begin_unit()?)));
        let until = Instant::now() + time;
        let (ends, ended) = channel::<()>();
        let watched = Arc::clone(&held);
        let watch = move || {
            if ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                drop(lock(&watched).take());
            }
        };
        let name = "unit's writing".to_owned();
        std::thread::Builder::new()
            .name(name)
            .spawn(watch)
            .map_err(|error| DbError::Unreachable(Box::new(error)))?;
        Ok(Self { held, until, _ends: ends })
    }

    /// Does something in it; `None` if its time was up before.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Tx) -> T) -> Option<T> {
        lock(&self.held).as_mut().map(work)
    }

    /// Reads in it what the run wrote; `None` if its time was up before. A read that fails leaves it as it was.
    pub(crate) fn read<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut Tx) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        self.with(|tx| {
            tx.mark(READ_PART)?;
            let done = work(tx);
            tx.end_mark(READ_PART, done.is_ok())?;
            done
        })
    }

    /// How much of its time is left.
    pub(crate) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// The transaction, to be kept; `None` if its time was up before.
    pub(crate) fn take(self) -> Option<Tx> {
        lock(&self.held).take()
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        drop(lock(&self.held).take());
    }
}

/// A panic elsewhere leaves the transaction as it is: it is kept by nobody and taken back.
fn lock(held: &Mutex<Option<Tx>>) -> MutexGuard<'_, Option<Tx>> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
