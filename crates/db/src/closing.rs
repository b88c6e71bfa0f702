//! A database closed for writing, by itself and for everybody: engines of all nodes, owner's commands, database clients.
//!
//! A move needs more than the marker of a store's root: a call that passed the
//! gate a moment before, an engine on another machine, an owner's command would
//! write to the old database what nobody reads any more. So the database refuses
//! every change, by triggers, from the moment before the rows are read.
//! The triggers' names tell why, so that it outlives a crash, and no row differs.

use std::fmt::Write as _;

use crate::{Db, DbError, Tx};

/// What the triggers' names begin with.
pub(crate) const PREFIX: &str = "closed_";
/// What the triggers say; drivers tell it from other refusals by this.
pub(crate) const WORDS: &str = "shopwright: closed";

/// Why a database is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Its rows are being moved elsewhere; until that is done it is the store's database.
    Moving,
    /// Rows were put here; it is not the store's database yet.
    Copy,
    /// Its rows were moved elsewhere.
    Moved,
}

/// Why a database is closed, and by which move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closure {
    /// Why.
    pub why: Closed,
    /// A random word of the move, the same on both sides.
    pub token: String,
}

impl Closed {
    fn word(self) -> &'static str {
        match self {
            Self::Moving => "moving",
            Self::Copy => "copy",
            Self::Moved => "moved",
        }
    }
}

impl Closure {
    /// A closure of a new move.
    pub fn new(why: Closed) -> Result<Self, DbError> {
        let mut bytes = [0u8; 8];
        getrandom::fill(&mut bytes).map_err(DbError::sql)?;
        let token = bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Self { why, token })
    }

    /// The same move for another reason.
    pub fn because(&self, why: Closed) -> Self {
        Self { why, token: self.token.clone() }
    }

    /// What the triggers' names begin with.
    pub(crate) fn mark(&self) -> String {
        format!("{PREFIX}{}_{}", self.why.word(), self.token)
    }

    fn of(trigger: &str) -> Option<Self> {
        let (word, rest) = trigger.strip_prefix(PREFIX)?.split_once('_')?;
        let why = [Closed::Moving, Closed::Copy, Closed::Moved].into_iter().find(|why| why.word() == word)?;
        Some(Self { why, token: rest.split('_').next().unwrap_or_default().to_owned() })
    }
}

impl Db {
    /// Why the database is closed, if it is.
    pub fn closure(&self) -> Result<Option<Closure>, DbError> {
        if !self.is_there()? {
            return Ok(None);
        }
        self.read(|tx| tx.closure())
    }

    /// Closes the database. What was being written when this is called is committed before, or refused.
    pub fn close(&self, closure: &Closure) -> Result<(), DbError> {
        // Writers of PostgreSQL that hold tables in another order may end one another.
        for _ in 0..5 {
            match self.fill(|tx| tx.close(closure)) {
                Err(DbError::Busy) => {}
                done => return done,
            }
        }
        Err(DbError::Busy)
    }

    /// Opens it again. Whether it was closed.
    pub fn reopen(&self) -> Result<bool, DbError> {
        self.fill(|tx| {
            let was_closed = tx.closure()?.is_some();
            tx.reopen()?;
            Ok(was_closed)
        })
    }
}

impl Tx {
    /// Why the database is closed, if it is.
    pub fn closure(&mut self) -> Result<Option<Closure>, DbError> {
        Ok(self.closing_triggers()?.iter().find_map(|trigger| Closure::of(trigger)))
    }

    /// Closes the database, from the end of this transaction on; this one waits for those that write.
    pub fn close(&mut self, closure: &Closure) -> Result<(), DbError> {
        let ours = crate::whole::tables()?;
        let mut tables = self.table_names()?;
        tables.retain(|there| ours.iter().any(|table| table.name == *there));
        self.reopen()?;
        self.add_closing_triggers(&closure.mark(), &tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triggers_name_tells_why() {
        for why in [Closed::Moving, Closed::Copy, Closed::Moved] {
            let closure = Closure::new(why).unwrap();
            assert_eq!(Closure::of(&closure.mark()), Some(closure.clone()));
            assert_eq!(Closure::of(&format!("{}_insert_user_groups", closure.mark())), Some(closure));
        }
        assert_eq!(Closure::of("closed_for_ever"), None);
        assert_eq!(Closure::of("closedmoving"), None);
    }
}
