//! Moving orders by the table of states, and notes in their history.

use db::Tx;
use db::orders::{self, HistoryEntry};
use db::payments::{self as rows, Payment};
use shop::order::{MoveError, Mover};

use super::{Staff, StaffDone, StaffError, order};
use crate::payments;
use crate::shopping::mails;

/// An order that is to move.
#[derive(Clone, Copy, Debug)]
pub struct MoveOrder<'a> {
    /// The order.
    pub order: i64,
    /// Where to: a base state, or one that the owner added over it.
    pub state: &'a str,
    /// Why; the customer reads it.
    pub reason: &'a str,
}

/// A note in the history of an order.
#[derive(Clone, Copy, Debug)]
pub struct Note<'a> {
    /// The order.
    pub order: i64,
    /// What there is to say.
    pub text: &'a str,
    /// Whether the customer sees it on the order's page.
    pub for_customer: bool,
}

impl Staff<'_> {
    /// Moves an order into another state, by the table of states. That one was cancelled is told to its shopper, and
    /// what was only begun or authorised for it is let go.
    pub fn move_order(&self, to: MoveOrder<'_>) -> StaffDone<()> {
        let is_cancelled = self.db.write(|tx| self.move_within(tx, to))?;
        if is_cancelled { self.let_go(to.order) } else { Ok(()) }
    }

    /// The same in a transaction of the caller; whether that cancelled it. What was begun or authorised for it is still to
    /// be let go.
    fn move_within(&self, tx: &mut Tx, to: MoveOrder<'_>) -> StaffDone<bool> {
        let cx = self.cx();
        let was = order(tx, to.order)?;
        orders::move_to(tx, to.order, to.state, Mover::Staff, to.reason, self.user, cx.now).map_err(
            |cause| match cause {
                orders::StateError::Unknown => StaffError::UnknownState(to.state.to_owned()),
                other => other.into(),
            },
        )?;
        let is_cancelled = order(tx, to.order)?.base == "kCancel" && was.base != "kCancel";
        if is_cancelled {
            mails::cancelled(tx, cx, to.order)?;
        }
        Ok(is_cancelled)
    }

    /// Moves an order in a transaction that may still be taken back: one with a payment that only its provider can let
    /// go is not cancelled so.
    pub(crate) fn move_unheld(&self, tx: &mut Tx, to: MoveOrder<'_>) -> StaffDone<()> {
        let is_cancelled = self.move_within(tx, to)?;
        if is_cancelled && rows::of_order(tx, to.order)?.iter().any(is_open) {
            return Err(MoveError::Hindered("a payment is begun or authorised").into());
        }
        Ok(())
    }

    fn let_go(&self, order: i64) -> StaffDone<()> {
        for payment in self.db.read(|tx| rows::of_order(tx, order))?.iter().filter(|one| is_open(one)) {
            payments::void(self.db, self.cx(), payment)?;
        }
        Ok(())
    }

    /// Takes what was authorised for an order.
    pub fn take_held(&self, id: i64) -> StaffDone<()> {
        let all = self.db.read(|tx| {
            order(tx, id)?;
            Ok::<_, StaffError>(rows::of_order(tx, id)?)
        })?;
        let held: Vec<_> = all.iter().filter(|payment| payment.state == "kHeld").collect();
        if held.is_empty() {
            return Err(MoveError::Hindered("nothing is authorised").into());
        }
        for payment in held {
            payments::capture(self.db, self.cx(), payment)?;
        }
        Ok(())
    }

    /// Writes a note into the history.
    pub fn note(&self, note: Note<'_>) -> StaffDone<i64> {
        self.db.write(|tx| self.note_within(tx, note))
    }

    /// The same in a transaction of the caller.
    pub(crate) fn note_within(&self, tx: &mut Tx, note: Note<'_>) -> StaffDone<i64> {
        if note.text.trim().is_empty() {
            return Err(StaffError::Nothing);
        }
        order(tx, note.order)?;
        Ok(orders::note(tx, note.order, note.text, note.for_customer, self.user, self.now)?)
    }

    /// What happened to an order, the oldest first.
    pub fn history(&self, id: i64) -> StaffDone<Vec<HistoryEntry>> {
        self.db.read(|tx| {
            order(tx, id)?;
            Ok(orders::history(tx, id, false)?)
        })
    }
}

/// Whether its provider waits for something.
fn is_open(payment: &Payment) -> bool {
    matches!(payment.state.as_str(), "kOpen" | "kHeld")
}
