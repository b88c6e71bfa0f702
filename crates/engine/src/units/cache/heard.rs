//! What the node has heard of commits: when each row, set of rows and table was changed last.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use db::changes::{self, Change, Position, Told};
use db::{CommitMark, Db, DbError, Dialect};

use super::super::dependencies::Dependency;
use super::Proof;

/// The database is asked this often at least: a line that broke without a sound is noticed so.
const ASK_EVERY: Duration = Duration::from_millis(500);
/// Rows that are told apart; with more, everything before is taken for changed.
const MOST_ROWS: usize = 200_000;
/// Any row of any table.
pub(crate) const ANYTHING: &str = "*";

/// What was heard. Every time something new is heard the count grows by one.
pub(super) struct Heard {
    db: Db,
    known: Mutex<Known>,
    /// Which commits were heard of. Held while the database is asked.
    position: Mutex<Option<Position>>,
    log: RwLock<Log>,
}

/// How far was heard, and how that is known.
#[derive(Clone, Copy, Default)]
struct Known {
    count: u64,
    /// The database's mark before it was asked last.
    mark: Option<CommitMark>,
    asked: Option<Instant>,
}

/// When what was changed last, as the count then was.
#[derive(Default)]
struct Log {
    /// What was read before is lost track of.
    floor: u64,
    /// Any change at all.
    last: u64,
    names: HashMap<String, Name>,
    rows: usize,
}

/// A table, or the sets of its rows by one column.
#[derive(Default)]
struct Name {
    /// Any of it.
    last: u64,
    /// Nobody knows which.
    whole: u64,
    rows: HashMap<i64, u64>,
}

impl Heard {
    pub(super) fn new(db: Db) -> Self {
        Self { db, known: Mutex::default(), position: Mutex::default(), log: RwLock::default() }
    }

    /// How far was heard, if nothing was committed since that this node can know of.
    pub(super) fn if_caught_up(&self) -> Option<u64> {
        let known = *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = known.asked.is_some_and(|asked| asked.elapsed() < ASK_EVERY);
        let mark = known.mark.filter(|_| is_recent)?;
        (self.db.commit_mark() == Some(mark)).then_some(known.count)
    }

    /// Hears of everything that is committed by now and that this node can know of; how far that is.
    pub(super) fn catch_up(&self) -> Option<u64> {
        self.if_caught_up().or_else(|| self.ask_after(None))
    }

    /// Hears of everything that is committed by now, on whatever node; how far that is.
    pub(super) fn ask(&self) -> Option<u64> {
        if self.db.dialect() == Dialect::Sqlite {
            // Its mark misses nothing.
            return self.catch_up();
        }
        self.ask_after(Some(Instant::now()))
    }

    /// Asks the database, unless another one just did: after `moment`, or what was told since.
    fn ask_after(&self, moment: Option<Instant>) -> Option<u64> {
        let mut position = self.position.lock().unwrap_or_else(PoisonError::into_inner);
        let known = *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let meanwhile = match moment {
            None => self.if_caught_up(),
            Some(moment) => known.asked.filter(|asked| *asked > moment).map(|_| known.count),
        };
        if meanwhile.is_some() {
            return meanwhile;
        }
        match self.hear(&mut position) {
            Ok(known) => {
                *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
                Some(known.count)
            }
            Err(error) => {
                tracing::warn!(cause = ?error, "What was committed cannot be heard of: the cache is not used");
                let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                *known = Known { mark: None, asked: None, ..*known };
                None
            }
        }
    }

    fn hear(&self, position: &mut Option<Position>) -> Result<Known, DbError> {
        if position.is_none() {
            self.db.hear_commits()?;
        }
        // Both before the question: what is committed after it is asked for next time.
        let (mark, asked) = (self.db.commit_mark(), Some(Instant::now()));
        let told = match position {
            Some(position) => self.db.read(|tx| changes::since(tx, position))?,
            None => Told::Lost { upto: self.db.read(changes::position)? },
        };
        let mut log = self.log.write().unwrap_or_else(PoisonError::into_inner);
        let upto = match told {
            Told::Changes { changes, upto } => {
                log.note(&changes);
                upto
            }
            Told::Lost { upto } => {
                log.lose();
                upto
            }
        };
        *position = Some(upto);
        Ok(Known { count: log.last, mark, asked })
    }

    /// Whether what an answer was made of is as it was, up to `count`; else what has changed.
    pub(super) fn check(&self, proof: &Proof, count: u64) -> Result<(), String> {
        if proof.is_known_up_to(count) {
            return Ok(());
        }
        let log = self.log.read().unwrap_or_else(PoisonError::into_inner);
        log.check(proof.dependencies().iter(), proof.since())?;
        proof.note_known_up_to(count);
        Ok(())
    }
}

impl Log {
    fn note(&mut self, changes: &[Change]) {
        if changes.is_empty() {
            return;
        }
        self.last += 1;
        for change in changes {
            if !self.names.contains_key(&change.table) {
                self.names.insert(change.table.clone(), Name::default());
            }
            let Some(name) = self.names.get_mut(&change.table) else { continue };
            name.last = self.last;
            match change.row_id {
                Some(id) => self.rows += usize::from(name.rows.insert(id, self.last).is_none()),
                None => name.whole = self.last,
            }
        }
        if self.rows > MOST_ROWS {
            self.lose();
        }
    }

    fn lose(&mut self) {
        self.last += 1;
        self.floor = self.last;
        self.names.clear();
        self.rows = 0;
    }

    fn check<'a>(
        &self,
        dependencies: impl Iterator<Item = &'a Dependency>,
        since: u64,
    ) -> Result<(), String> {
        if since < self.floor {
            return Err(ANYTHING.to_owned());
        }
        for dependency in dependencies {
            if self.last_of(dependency) > since {
                return Err(dependency.to_string());
            }
        }
        Ok(())
    }

    fn last_of(&self, dependency: &Dependency) -> u64 {
        match dependency {
            Dependency::Row(name, id) => self.whole(name).max(self.row(name, *id)),
            Dependency::Table(name) if name == ANYTHING => self.last,
            Dependency::Table(name) => self.whole(name).max(self.names.get(name).map_or(0, |name| name.last)),
            // Files are looked at where they lie.
            Dependency::File(_) => 0,
        }
    }

    /// When nobody knew which rows were changed: of the name, or of the table whose rows a set is of.
    fn whole(&self, name: &str) -> u64 {
        let of = |name: &str| self.names.get(name).map_or(0, |name| name.whole);
        name.split_once('.').map_or(0, |(table, _)| of(table)).max(of(name))
    }

    fn row(&self, name: &str, id: i64) -> u64 {
        self.names.get(name).and_then(|name| name.rows.get(&id)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(table: &str, row_id: Option<i64>) -> Change {
        Change { table: table.to_owned(), row_id }
    }

    #[test]
    fn only_what_was_changed_is_stale() {
        let mut log = Log::default();
        log.note(&[change("variants", Some(7)), change("variants.product_id", Some(3))]);
        let stale =
            |log: &Log, dependency: Dependency, since| log.check([&dependency].into_iter(), since).is_err();
        let row = |name, id| Dependency::Row(name, id);
        let table = |name: &str| Dependency::Table(name.to_owned());
        for (dependency, is_stale) in [
            (row("variants", 7), true),
            (row("variants", 8), false),
            (row("variants.product_id", 3), true),
            (row("variants.product_id", 4), false),
            (row("products", 7), false),
            (table("variants"), true),
            (table("variants.product_id"), true),
            (table("products"), false),
            (table(ANYTHING), true),
        ] {
            assert_eq!(stale(&log, dependency.clone(), 0), is_stale, "{dependency}");
            assert!(!stale(&log, dependency.clone(), 1), "{dependency}");
        }
        // A table that was emptied: whatever was read of it, and whichever set that was.
        log.note(&[change("variants", None)]);
        for dependency in [row("variants", 8), row("variants.product_id", 4), table("variants.product_id")] {
            assert!(
                stale(&log, dependency.clone(), 1) && !stale(&log, dependency.clone(), 2),
                "{dependency}"
            );
        }
        log.lose();
        assert!(stale(&log, row("products", 1), 2) && !stale(&log, row("products", 1), 3));
    }

    #[test]
    fn what_is_told_apart_is_bounded() {
        let mut log = Log::default();
        let many: Vec<_> =
            (0..=i64::try_from(MOST_ROWS).unwrap()).map(|id| change("stock", Some(id))).collect();
        log.note(&many);
        assert!(log.names.is_empty() && log.floor == log.last);
    }
}
