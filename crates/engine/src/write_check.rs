//! Whether the database keeps changes, looked at when somebody asks whether the store is well.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use db::{Db, DbError};

/// How long an answer holds: each look is a commit, and whoever likes may ask.
const FRESH: Duration = Duration::from_millis(250);

/// When a change was kept last.
#[derive(Default)]
pub(crate) struct WriteCheck {
    last: Mutex<Option<Instant>>,
}

impl WriteCheck {
    /// Looks whether a change would be kept. Those who ask at once wait for one look.
    pub(crate) fn look(&self, db: &Db) -> Result<(), DbError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < FRESH) {
            return Ok(());
        }
        *last = None;
        db.check_writable()?;
        *last = Some(Instant::now());
        Ok(())
    }
}
