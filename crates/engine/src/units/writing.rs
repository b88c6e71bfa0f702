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

/// An open transaction of a run. Its own is dropped with all it did; a call's is the call's to end.
pub(crate) struct Writing<'a> {
    held: Held<'a>,
    until: Instant,
}

enum Held<'a> {
    Own(Own),
    Lent(Mutex<&'a mut Tx>),
}

/// A transaction that the run began.
struct Own {
    /// `None` once its time was up.
    tx: Arc<Mutex<Option<Tx>>>,
    /// Dropped with this, which ends the clock.
    _ends: Sender<()>,
}

impl<'a> Writing<'a> {
    /// Begins one that is taken back after so long.
    pub(crate) fn begin(db: &Db, time: Duration) -> Result<Self, DbError> {
        let tx = Arc::new(Mutex::new(Some(db.begin_unit()?)));
        let until = Instant::now() + time;
        let (ends, ended) = channel::<()>();
        let watched = Arc::clone(&tx);
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
        Ok(Self { held: Held::Own(Own { tx, _ends: ends }), until })
    }

    /// The transaction of a call, which ends it; the run may write in it for so long.
    pub(crate) fn lend(tx: &'a mut Tx, time: Duration) -> Self {
        Self { held: Held::Lent(Mutex::new(tx)), until: Instant::now() + time }
    }

    /// Whether it is a call's.
    pub(crate) fn is_lent(&self) -> bool {
        matches!(self.held, Held::Lent(_))
    }

    /// Does something in it; `None` if its time was up before.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Tx) -> T) -> Option<T> {
        match &self.held {
            Held::Own(own) => lock(&own.tx).as_mut().map(work),
            Held::Lent(_) if self.left().is_zero() => None,
            Held::Lent(tx) => Some(work(&mut tx.lock().unwrap_or_else(PoisonError::into_inner))),
        }
    }

    /// Reads in it what the run wrote; `None` if its time was up before. A read that fails leaves it as it was.
    pub(crate) fn read<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut Tx) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        self.with(|tx| tx.part(READ_PART, work))
    }

    /// How much of its time is left.
    pub(crate) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// The same, if the run began it.
    pub(crate) fn own(self) -> Option<Writing<'static>> {
        match self.held {
            Held::Own(own) => Some(Writing { held: Held::Own(own), until: self.until }),
            Held::Lent(_) => None,
        }
    }

    /// The transaction, to be kept; `None` if its time was up before, or it is a call's.
    pub(crate) fn take(self) -> Option<Tx> {
        match self.held {
            Held::Own(own) => lock(&own.tx).take(),
            Held::Lent(_) => None,
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        drop(lock(&self.tx).take());
    }
}

/// A panic elsewhere leaves the transaction as it is: it is kept by nobody and taken back.
fn lock(held: &Mutex<Option<Tx>>) -> MutexGuard<'_, Option<Tx>> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
