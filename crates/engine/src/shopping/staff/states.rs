//! Moving orders by the table of states, and notes in their history.

use db::orders::{self, HistoryEntry};
use db::payments::{self as rows, Payment};
use shop::order::Mover;

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
        let cx = self.cx();
        let is_cancelled = self.db.write(|tx| {
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
            Ok::<_, StaffError>(is_cancelled)
        })?;
        if is_cancelled { self.let_go(to.order) } else { Ok(()) }
    }

    fn let_go(&self, order: i64) -> StaffDone<()> {
        let open = |payment: &Payment| matches!(payment.state.as_str(), "kOpen" | "kHeld");
        for payment in self.db.read(|tx| rows::of_order(tx, order))?.iter().filter(|one| open(one)) {
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
            return Err(shop::order::MoveError::Hindered("nothing is authorised").into());
        }
        for payment in held {
            payments::capture(self.db, self.cx(), payment)?;
        }
        Ok(())
    }

    /// Writes a note into the history.
    pub fn note(&self, note: Note<'_>) -> StaffDone<i64> {
        if note.text.trim().is_empty() {
            return Err(StaffError::Nothing);
        }
        self.db.write(|tx| {
            order(tx, note.order)?;
            Ok(orders::note(tx, note.order, note.text, note.for_customer, self.user, self.now)?)
        })
    }

    /// What happened to an order, the oldest first.
    pub fn history(&self, id: i64) -> StaffDone<Vec<HistoryEntry>> {
        self.db.read(|tx| {
            order(tx, id)?;
            Ok(orders::history(tx, id, false)?)
        })
    }
}
