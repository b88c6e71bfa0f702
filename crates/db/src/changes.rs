//! What commits changed, told to every node: by whom and how it was written makes no difference.
//!
//! Triggers of the database write a row into `changes` for every changed row of
//! every table that a page may show (see [`crate::schema::TableSpec`]), so cascades,
//! statements of agents and other programs are noticed too, and what is rolled
//! back is not. A [`Position`] says which commits somebody has seen. A reading
//! transaction knows its own exactly, so a cache can prove that it is fresh:
//!
//! ```text
//! match changes::since(tx, &cache.position)? {      // in the transaction that reads the page's rows
//!     Told::Changes { changes, upto } => …          // forget what they touch; then the cache is as new as `tx`
//!     Told::Lost { upto } => …                      // forget everything
//! }
//! ```
//!
//! A [`ChangeStream`] does the same in the background, so that there is seldom anything left to do.

use std::time::{Duration, Instant};

use crate::change_notes::{EVERYTHING, PRUNED};
pub use crate::change_notes::{Position, is_told};
use crate::{Db, DbError, Tx};

/// Changes that are told at once; who missed more has missed everything.
pub(crate) const MOST: usize = 10_000;
/// Changes that are kept for those who come late.
const KEPT: i64 = 50_000;
/// How many changes go by until old ones are removed.
const PRUNE_EVERY: usize = 10_000;
/// How long a stream waits at most until it looks for itself: other programs do not say what they did.
const LOOK: Duration = Duration::from_millis(200);

/// A changed row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change {
    /// The table.
    pub table: String,
    /// The row's number; `None`: any row of the table, which has no numbers or was emptied.
    pub row_id: Option<i64>,
}

/// What there is to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// What was changed, in order; maybe nothing.
    Changes {
        /// The changes.
        changes: Vec<Change>,
        /// What is seen with them.
        upto: Position,
    },
    /// Too much has happened, or nobody knows what: anything may have changed.
    Lost {
        /// From here on it is known again.
        upto: Position,
    },
}

/// What this transaction has seen. Exact in a transaction of [`Db::read`].
pub fn position(tx: &mut Tx) -> Result<Position, DbError> {
    tx.change_position()
}

/// What this transaction sees and who is at `position` does not.
pub fn since(tx: &mut Tx, position: &Position) -> Result<Told, DbError> {
    let rows = tx.changes_since(position, MOST + 1)?;
    let upto = tx.change_position()?;
    let is_unknown = |(table, _): &(String, Option<i64>)| table == EVERYTHING || table == PRUNED;
    if rows.len() > MOST || rows.iter().any(is_unknown) {
        return Ok(Told::Lost { upto });
    }
    let changes = rows.into_iter().map(|(table, row_id)| Change { table, row_id }).collect();
    Ok(Told::Changes { changes, upto })
}

/// Makes no notes of what this transaction changes from here on, nor journals it: it is told as a whole, that anything
/// may have changed. For filling a store.
pub fn pause(tx: &mut Tx) -> Result<(), DbError> {
    tx.pause_changes()
}

/// Tells every node that anything may have changed, once this transaction is committed: what they keep is looked at anew.
pub fn tell_anything(tx: &mut Tx) -> Result<(), DbError> {
    tx.tell_anything_changed()
}

/// Removes all but so many of the newest changes.
pub fn prune(tx: &mut Tx, kept: i64) -> Result<(), DbError> {
    tx.prune_changes(kept)
}

/// Changes as they are committed, on whatever node.
pub struct ChangeStream {
    db: Db,
    position: Position,
    heard: u64,
    unpruned: usize,
}

impl ChangeStream {
    /// What it has told.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Waits until something was changed, at most so long; then tells what, or that there was nothing. After an error
    /// nothing is known until it tells again.
    pub fn next(&mut self, timeout: Duration) -> Result<Told, DbError> {
        let end = Instant::now() + timeout;
        loop {
            let told = self.db.read(|tx| since(tx, &self.position))?;
            let left = end.saturating_duration_since(Instant::now());
            let (Told::Changes { upto, .. } | Told::Lost { upto }) = &told;
            self.position = upto.clone();
            let count = match &told {
                Told::Lost { .. } => PRUNE_EVERY,
                Told::Changes { changes, .. } => changes.len(),
            };
            if count > 0 || left.is_zero() {
                self.prune_sometimes(count)?;
                return Ok(told);
            }
            self.heard = self.db.wait_for_change(self.heard, left.min(LOOK));
        }
    }

    fn prune_sometimes(&mut self, count: usize) -> Result<(), DbError> {
        self.unpruned += count;
        if self.unpruned >= PRUNE_EVERY {
            self.unpruned = 0;
            match self.db.write(|tx| prune(tx, KEPT)) {
                // Another one will; and what is frozen is not written.
                Err(DbError::Busy | DbError::WritesFrozen) => {}
                done => done?,
            }
        }
        Ok(())
    }
}

impl Db {
    /// What is changed from now on.
    pub fn changes(&self) -> Result<ChangeStream, DbError> {
        let heard = self.begin_hearing()?;
        let position = self.read(position)?;
        Ok(ChangeStream { db: self.clone(), position, heard, unpruned: 0 })
    }

    /// What a reading transaction has seen: short for [`position`].
    pub fn change_position(&self, tx: &mut Tx) -> Result<Position, DbError> {
        position(tx)
    }
}
