//! What the engine does for the shop's own rows by itself: lists of products follow what was changed and what begins
//! or ends, orders that nobody paid are cancelled, what is reserved for a time that is over is released.
//!
//! Each part runs in transactions of its own: one that fails is told and counted, and the others go on.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use db::{DbError, books, jobs, journal, listing, orders, stock};
use jiff::SignedDuration;

use crate::app_state::AppState;
use crate::shopping::{self, NotDone};

/// How long one part may begin new transactions in one round.
const LONGEST: Duration = Duration::from_secs(1);
/// The hour of the store's day in which its books are checked, and how often at most.
const BOOKS_AT: i8 = 3;
const BOOKS_EVERY: SignedDuration = SignedDuration::from_hours(12);
/// How often old entries of the journal are looked for.
const PRUNE_EVERY: SignedDuration = SignedDuration::from_mins(10);
/// Orders that are looked through at once.
const ORDERS_AT_ONCE: u32 = 50;

/// What is remembered from round to round: which parts failed, and how, so that the log tells each failure once.
#[derive(Default)]
pub(crate) struct Upkeep {
    failing: HashMap<&'static str, String>,
}

impl Upkeep {
    /// Does what there is to do now.
    pub(crate) fn round(&mut self, state: &AppState) {
        // A closed store is somebody else's work.
        if state.is_locked() {
            return;
        }
        let now = state.clock.now();
        let db = &state.db;
        self.part(state, "follow_changes", || Ok(u64::from(jobs::follow(db, now)?)));
        let Some(due) = self.look(state) else { return };
        if due.marked {
            self.part(state, "update_lists", || {
                repeat(|| db.write(|tx| listing::flush(tx, now)).map(|count| count as u64))
            });
        }
        if due.unpaid {
            self.part(state, "cancel_unpaid_orders", || cancel_unpaid(state));
        }
        if due.expired {
            self.part(state, "release_reservations", || {
                repeat(|| db.write(|tx| stock::release_all_expired(tx, now)))
            });
        }
        if state.settings.current().time_zone.to_datetime(now).hour() == BOOKS_AT {
            self.part(state, "check_books", || check_books(state));
        }
        self.part(state, "prune_journal", || prune_journal(state));
    }

    fn look(&mut self, state: &AppState) -> Option<jobs::Due> {
        let mut due = None;
        self.part(state, "look_for_work", || {
            due = Some(state.db.read(|tx| jobs::due(tx, state.clock.now()))?);
            Ok(0)
        });
        due
    }

    /// Runs one part; what it did and whether it failed goes to the log and into the counts.
    fn part(&mut self, state: &AppState, name: &'static str, work: impl FnOnce() -> Result<u64, NotDone>) {
        match work() {
            Ok(rows) => {
                if self.failing.remove(name).is_some() {
                    tracing::info!(job = name, "A job of the engine works again");
                }
                if rows > 0 {
                    state.metrics.job(name, "done", rows);
                    tracing::debug!(job = name, rows, "A job of the engine");
                }
            }
            // Others write, or the store is being moved: the next round comes soon.
            Err(NotDone::Db(DbError::Busy | DbError::WritesFrozen)) => state.metrics.job(name, "busy", 0),
            Err(error) => {
                state.metrics.job(name, "failed", 0);
                let cause = error.cause();
                if self.failing.get(name) != Some(&cause) {
                    tracing::warn!(job = name, %cause, "A job of the engine failed; it is tried again");
                    self.failing.insert(name, cause);
                }
            }
        }
    }
}

/// Repeats work until there is none left or the time is over; how much was done.
fn repeat(mut work: impl FnMut() -> Result<u64, DbError>) -> Result<u64, NotDone> {
    let begin = Instant::now();
    let mut sum = 0;
    loop {
        let count = work()?;
        sum += count;
        if count == 0 || begin.elapsed() >= LONGEST {
            return Ok(sum);
        }
    }
}

/// Cancels orders that were not paid in time, each in a transaction of its own: one that cannot be cancelled keeps no
/// other waiting.
fn cancel_unpaid(state: &AppState) -> Result<u64, NotDone> {
    let (begin, now) = (Instant::now(), state.clock.now());
    let (mut last, mut count, mut failure) = (0, 0, None);
    while begin.elapsed() < LONGEST {
        let found = state.db.read(|tx| orders::overdue(tx, last, ORDERS_AT_ONCE, now))?;
        let Some(next) = found.last() else { break };
        last = *next;
        for order in found {
            match shopping::jobs::cancel_overdue(state, order) {
                Ok(cancelled) => count += u64::from(cancelled),
                Err(cause) => failure = Some(cause),
            }
        }
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(count),
    }
}

/// Removes what the journal has kept long enough, a little at a time; how many rows.
fn prune_journal(state: &AppState) -> Result<u64, NotDone> {
    let now = state.clock.now();
    let days = state.settings.current().config.journal_days;
    let Ok(before) = now.checked_sub(SignedDuration::from_hours(i64::from(days) * 24)) else { return Ok(0) };
    if !jobs::take(&state.db, "prune_journal", PRUNE_EVERY, now)? {
        return Ok(0);
    }
    repeat(|| state.db.write(|tx| journal::prune(tx, before)))
}

/// Says in log and counts where the shop's rows contradict each other; how many checks found something.
fn check_books(state: &AppState) -> Result<u64, NotDone> {
    if !jobs::take(&state.db, "check_books", BOOKS_EVERY, state.clock.now())? {
        return Ok(0);
    }
    let mut wrong = 0;
    for check in books::CHECKS {
        let found = state.db.read(|tx| books::run(tx, check))?;
        state.metrics.books(check.name, found.as_ref().map_or(0, |found| found.count));
        if let Some(found) = found {
            wrong += 1;
            let (table, count, ids) = (found.table, found.count, found.ids);
            tracing::warn!(table, count, ?ids, "The books do not agree; it should be so: {}", found.what);
        }
    }
    Ok(wrong)
}
