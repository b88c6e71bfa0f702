//! What commits changed, told to every node: by whom and how it was written makes no difference.
//!
//! Triggers of the database write a row into `changes` for every changed row of
//! every table that a page may show (see [`TableSpec::not_told`]), so cascades,
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

use crate::schema::{self, TableSpec};
use crate::{Db, DbError, Tx};

/// Changes that are told at once; who missed more has missed everything.
pub(crate) const MOST: usize = 10_000;
/// Changes that are kept for those who come late.
const KEPT: i64 = 50_000;
/// How many changes go by until old ones are removed.
const PRUNE_EVERY: usize = 10_000;
/// How long a stream waits at most until it looks for itself: other programs do not say what they did.
const LOOK: Duration = Duration::from_millis(200);

/// In place of a table's name: anything may have changed.
pub(crate) const EVERYTHING: &str = "*";
/// In place of a table's name: what came before was removed.
pub(crate) const PRUNED: &str = "-";
/// What the triggers' names begin with.
pub(crate) const PREFIX: &str = "changes_";

/// A changed row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change {
    /// The table.
    pub table: String,
    /// The row's number; `None`: any row of the table, which has no numbers or was emptied.
    pub row_id: Option<i64>,
}

/// Which commits somebody has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position(pub(crate) Seen);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// SQLite: all changes up to this number; writers come one after the other.
    UpTo(i64),
    /// PostgreSQL: a snapshot. All transactions before `next` have ended but those that are `open`.
    Snapshot { oldest: u64, next: u64, open: Vec<u64> },
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

impl Position {
    /// Whether everything that `other` has seen is seen here too.
    pub fn covers(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Seen::UpTo(here), Seen::UpTo(there)) => here >= there,
            (
                Seen::Snapshot { next, open, .. },
                Seen::Snapshot { next: other_next, open: other_open, .. },
            ) => {
                let sees = |id: &u64| id < other_next && !other_open.contains(id);
                let beyond = other_open.iter().filter(|id| *id >= next).count() as u64;
                !open.iter().any(sees) && other_next.saturating_sub(*next) <= beyond
            }
            _ => false,
        }
    }

    /// A snapshot as the server writes it: `oldest:next:open,open,…`.
    pub(crate) fn parse(text: &str) -> Result<Self, DbError> {
        let wrong = || DbError::sql(format!("a snapshot of another form: {text}"));
        let mut parts = text.split(':');
        let mut number = || parts.next().and_then(|part| part.parse().ok()).ok_or_else(wrong);
        let (oldest, next) = (number()?, number()?);
        let open = parts.next().unwrap_or_default().split(',').filter(|part| !part.is_empty());
        let open = open.map(|part| part.parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
        Ok(Self(Seen::Snapshot { oldest, next, open }))
    }

    /// The snapshot in the server's form.
    pub(crate) fn text(&self) -> String {
        match &self.0 {
            Seen::UpTo(number) => number.to_string(),
            Seen::Snapshot { oldest, next, open } => {
                let open: Vec<_> = open.iter().map(u64::to_string).collect();
                format!("{oldest}:{next}:{}", open.join(","))
            }
        }
    }
}

/// Whether changes of this table are told; what depends on another one cannot be kept.
pub fn is_told(table: &str) -> bool {
    schema::table(table).is_some_and(|table| table.not_told.is_none())
}

/// Tables whose changes are told.
pub(crate) fn told_tables() -> impl Iterator<Item = &'static TableSpec> {
    schema::tables().filter(|table| table.not_told.is_none())
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

/// Makes no notes of what this transaction changes from here on: it is told as a whole, that anything may have changed.
/// For filling a store.
pub fn pause(tx: &mut Tx) -> Result<(), DbError> {
    tx.pause_changes()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Position {
        Position::parse(text).unwrap()
    }

    #[test]
    fn a_snapshot_covers_those_that_saw_no_more() {
        assert!(at("10:10:").covers(&at("10:10:")));
        assert!(at("11:11:").covers(&at("10:10:")));
        assert!(!at("10:10:").covers(&at("11:11:")));
        // 10 was open here, and had ended there.
        assert!(!at("10:12:10").covers(&at("12:12:")));
        assert!(at("12:12:").covers(&at("10:12:10")));
        assert!(at("10:12:10").covers(&at("10:12:10,11")));
        // What began after and is open there was not seen by either.
        assert!(at("10:10:").covers(&at("10:12:10,11")));
        assert!(!at("10:10:").covers(&at("10:12:10")));
        assert!(Position(Seen::UpTo(3)).covers(&Position(Seen::UpTo(3))));
        assert!(!Position(Seen::UpTo(3)).covers(&Position(Seen::UpTo(4))));
    }

    #[test]
    fn a_snapshot_reads_back_and_nonsense_is_refused() {
        for text in ["10:10:", "10:12:10,11"] {
            assert_eq!(at(text).text(), text);
        }
        for text in ["", "10", "a:b:", "1:2:x"] {
            assert!(Position::parse(text).is_err(), "{text}");
        }
    }
}
