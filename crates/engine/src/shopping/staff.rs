//! What staff does with orders: accept, cancel, send, take back, give money back, write down money that came.
//!
//! Rights are the caller's to check. What asks a provider works outside of any transaction.

use db::orders::{self, StateError};
use db::payments::{self as rows, NewRefund, Payment, Refund};
use db::{Db, Tx};
use jiff::Timestamp;
use shop::order::Mover;
use shop::refund::{LineSold, of_pieces};

use super::{Cx, Done, NotDone, Problem, mails};
use crate::payments;
use crate::settings::Settings;
use crate::units::templates::Look;
use crate::units::visit::Visit;

/// A person at work on orders.
pub struct Staff<'a> {
    db: &'a Db,
    settings: &'a Settings,
    look: Look,
    user: Option<i64>,
    now: Timestamp,
}

/// A return whose goods are here.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// The order.
    pub order: i64,
    /// The return.
    pub id: i64,
    /// Where the goods go.
    pub location: i64,
}

/// Money that goes back.
#[derive(Clone, Copy, Debug)]
pub struct Back<'a> {
    /// The order.
    pub order: i64,
    /// How much, in minor units.
    pub amount: i64,
    /// What makes it happen once, however often it is asked for.
    pub key: &'a str,
    /// The return it is for.
    pub return_id: Option<i64>,
    /// Why.
    pub reason: &'a str,
}

impl<'a> Staff<'a> {
    /// A person, at a moment.
    pub fn new(db: &'a Db, settings: &'a Settings, user: Option<i64>, now: Timestamp) -> Self {
        let look = Visit::look(settings, &settings.config.language);
        Self { db, settings, look, user, now }
    }

    fn cx(&self) -> Cx<'_> {
        Cx { settings: self.settings, look: &self.look, now: self.now }
    }

    /// Moves an order into another state, by the table of states; that one was cancelled is told to its shopper, and
    /// what was only authorised for it is let go.
    pub fn move_to(&self, order: i64, state: &str, reason: &str) -> Done<()> {
        let cx = self.cx();
        let cancelled = self.db.write(|tx| {
            let was = orders::by_id(tx, order)?.ok_or(Problem::of("unknown"))?;
            orders::move_to(tx, order, state, Mover::Staff, reason, self.user, cx.now)?;
            let is = orders::by_id(tx, order)?.ok_or(Problem::of("unknown"))?;
            let is_cancelled = is.base == "kCancel" && was.base != "kCancel";
            if is_cancelled {
                mails::cancelled(tx, cx, order)?;
            }
            Ok::<_, NotDone>(is_cancelled)
        })?;
        if cancelled { self.let_go(order) } else { Ok(()) }
    }

    fn let_go(&self, order: i64) -> Done<()> {
        let open = |payment: &Payment| matches!(payment.state.as_str(), "kOpen" | "kHeld");
        for payment in self.db.read(|tx| rows::of_order(tx, order))?.iter().filter(|one| open(one)) {
            payments::void(self.db, self.cx(), payment)?;
        }
        Ok(())
    }

    /// Sends pieces of lines in one parcel: line and how many.
    pub fn ship(&self, order: i64, parts: &[(i64, i64)], carrier: &str, tracking: &str) -> Done<i64> {
        if parts.is_empty() {
            return Err(Problem::of("nothing").into());
        }
        let cx = self.cx();
        self.db.write(|tx| {
            let is = orders::by_id(tx, order)?.ok_or(Problem::of("unknown"))?;
            if !matches!(is.base.as_str(), "kNew" | "kAccept") {
                return Err(Problem::of("not_now").into());
            }
            let shipment = orders::ship(tx, order, parts, carrier, tracking, self.user, cx.now)?;
            mails::sent(tx, cx, order, shipment)?;
            Ok(shipment)
        })
    }

    /// Goods that a shopper sent back are here: they go into the stock of a location, once.
    pub fn receive_return(&self, received: Received) -> Done<()> {
        let Received { order, id, location } = received;
        let cx = self.cx();
        self.db.write(|tx| {
            let returned = |tx: &mut Tx| -> Done<i64> {
                Ok(orders::lines(tx, order)?.iter().map(|line| line.returned).sum())
            };
            let before = returned(tx)?;
            orders::receive_return(tx, id, location, self.user, cx.now)?;
            // What came back before is not told again.
            if returned(tx)? == before { Ok(()) } else { mails::returned(tx, cx, order, id) }
        })
    }

    /// Money came by a way that sends no messages: a transfer, or coins.
    pub fn money_came(&self, payment: i64) -> Done<()> {
        let row = self.db.read(|tx| rows::by_id(tx, payment))?.ok_or(Problem::of("unknown"))?;
        let provider = payments::provider(&row.provider).ok_or(Problem::of("unknown"))?;
        // A provider that sends messages knows better than anybody here.
        if provider.is_online() {
            return Err(Problem::of("not_now").into());
        }
        payments::capture(self.db, self.cx(), &row)
    }

    /// What pieces of a line would bring back.
    pub fn worth_of(&self, order: i64, line: i64, pieces: i64) -> Done<i64> {
        let lines = self.db.read(|tx| orders::lines(tx, order))?;
        let line = lines.into_iter().find(|one| one.id == line).ok_or(Problem::of("unknown"))?;
        let sold = LineSold {
            total: line.total,
            tax: line.tax,
            quantity: line.quantity,
            refunded_quantity: line.refunded_quantity,
            refunded: line.refunded,
            refunded_tax: line.refunded_tax,
        };
        Ok(of_pieces(sold, pieces).map_err(|_| Problem::of("too_large"))?.amount)
    }

    /// Gives money of an order back through the provider it came by; more than was paid is refused.
    pub fn refund(&self, back: Back<'_>) -> Done<i64> {
        let cx = self.cx();
        let id = self.db.write(|tx| self.begin_refund(tx, back))?;
        let refund: Refund = self.db.read(|tx| rows::refund(tx, id))?.ok_or(Problem::of("unknown"))?;
        if matches!(refund.state.as_str(), "kOpen" | "kUnknown") {
            payments::refund(self.db, cx, &refund)?;
        }
        Ok(id)
    }

    fn begin_refund(&self, tx: &mut Tx, back: Back<'_>) -> Done<i64> {
        let paid = rows::of_order(tx, back.order)?;
        let fits = paid.iter().find(|one| one.captured - one.refunded >= back.amount);
        // A repeat finds its own row, whatever is left.
        let fits = fits.or_else(|| paid.iter().find(|one| one.captured > 0));
        let payment = fits.ok_or(Problem::of("nothing_paid"))?;
        let new = NewRefund {
            payment_id: payment.id,
            amount: back.amount,
            reason: back.reason,
            return_id: back.return_id,
            key: back.key,
            author_id: self.user,
        };
        let begun =
            rows::start_refund(tx, &new, self.now).map_err(|error: StateError| NotDone::from(error))?;
        begun.ok_or_else(|| Problem::with("only_left", payment.captured - payment.refunded).into())
    }
}
