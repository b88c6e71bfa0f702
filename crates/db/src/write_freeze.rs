//! A database frozen for writing, by itself and for everybody: engines of all nodes, owner's commands, database clients.
//!
//! A move needs more than the marker of a store's root: a call that passed the
//! gate a moment before, an engine on another machine, an owner's command would
//! write to the old database what nobody reads any more. So the database refuses
//! every change, by triggers, from the moment before the rows are read.
//! The triggers' names tell why, so that it outlives a crash, and no row differs.

use std::fmt::Write as _;

use crate::driver::freeze::PREFIX;
use crate::{Db, DbError, Tx};

/// Why writes are frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreezeReason {
    /// Its rows are being moved elsewhere; until that is done it is the store's database.
    Moving,
    /// Rows were put here; it is not the store's database yet.
    Copy,
    /// Its rows were moved elsewhere.
    Moved,
}

/// Why writes are frozen, and by which move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteFreeze {
    /// Why.
    pub reason: FreezeReason,
    /// A random word of the move, the same on both sides.
    pub token: String,
}

impl FreezeReason {
    fn word(self) -> &'static str {
        match self {
            Self::Moving => "moving",
            Self::Copy => "copy",
            Self::Moved => "moved",
        }
    }
}

impl WriteFreeze {
    /// A freeze of a new move.
    pub fn new(reason: FreezeReason) -> Result<Self, DbError> {
        let mut bytes = [0u8; 8];
        getrandom::fill(&mut bytes).map_err(DbError::sql)?;
        let token = bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Self { reason, token })
    }

    /// The same move for another reason.
    pub fn because(&self, reason: FreezeReason) -> Self {
        Self { reason, token: self.token.clone() }
    }

    /// What the triggers' names begin with.
    pub(crate) fn mark(&self) -> String {
        format!("{PREFIX}{}_{}", self.reason.word(), self.token)
    }

    fn of(trigger: &str) -> Option<Self> {
        let (word, rest) = trigger.strip_prefix(PREFIX)?.split_once('_')?;
        let reason = [FreezeReason::Moving, FreezeReason::Copy, FreezeReason::Moved]
            .into_iter()
            .find(|reason| reason.word() == word)?;
        Some(Self { reason, token: rest.split('_').next().unwrap_or_default().to_owned() })
    }
}

impl Db {
    /// Why writes are frozen, if they are.
    pub fn write_freeze(&self) -> Result<Option<WriteFreeze>, DbError> {
        if !self.is_there()? {
            return Ok(None);
        }
        self.read(|tx| tx.write_freeze())
    }

    /// Freezes writes. What was being written when this is called is committed before, or refused.
    pub fn freeze_writes(&self, freeze: &WriteFreeze) -> Result<(), DbError> {
        // Writers of PostgreSQL that hold tables in another order may end one another.
        for _ in 0..5 {
            match self.bulk_write(|tx| tx.freeze_writes(freeze)) {
                Err(DbError::Busy) => {}
                done => return done,
            }
        }
        Err(DbError::Busy)
    }

    /// Lets it be written again. Whether it was frozen.
    pub fn unfreeze_writes(&self) -> Result<bool, DbError> {
        self.bulk_write(|tx| {
            let was_frozen = tx.write_freeze()?.is_some();
            tx.unfreeze_writes()?;
            Ok(was_frozen)
        })
    }
}

impl Tx {
    /// Why writes are frozen, if they are.
    pub fn write_freeze(&mut self) -> Result<Option<WriteFreeze>, DbError> {
        Ok(self.freeze_triggers()?.iter().find_map(|trigger| WriteFreeze::of(trigger)))
    }

    /// Freezes writes, from the end of this transaction on; this one waits for those that write.
    pub fn freeze_writes(&mut self, freeze: &WriteFreeze) -> Result<(), DbError> {
        let ours = crate::transfer::tables()?;
        let mut tables = self.table_names()?;
        // What the journal's triggers are told is no row of the store.
        tables.retain(|there| there != "journal_context" && ours.iter().any(|table| table.name == *there));
        self.unfreeze_writes()?;
        self.add_freeze_triggers(&freeze.mark(), &tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triggers_name_tells_why() {
        for reason in [FreezeReason::Moving, FreezeReason::Copy, FreezeReason::Moved] {
            let freeze = WriteFreeze::new(reason).unwrap();
            assert_eq!(WriteFreeze::of(&freeze.mark()), Some(freeze.clone()));
            assert_eq!(WriteFreeze::of(&format!("{}_insert_user_groups", freeze.mark())), Some(freeze));
        }
        assert_eq!(WriteFreeze::of("closed_for_ever"), None);
        assert_eq!(WriteFreeze::of("closedmoving"), None);
    }
}
