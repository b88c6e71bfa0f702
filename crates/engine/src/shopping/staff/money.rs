//! Money that came by hand, and money that goes back.

use db::orders;
use db::payments::{self as rows, Payment};
use db::refunds::{self, Begun, NewRefund, Refund};
use db::{DbError, Tx};
use serde_json::json;
use shop::refund::of_pieces;

use super::{Staff, StaffDone, StaffError, order};
use crate::payments;
use crate::shopping::mails;

/// Money that came by a way that sends no messages: a transfer, or coins.
#[derive(Clone, Copy, Debug)]
pub struct MoneyCame<'a> {
    /// The order.
    pub order: i64,
    /// How much, in minor units; `None`: what the order still owes.
    pub amount: Option<i64>,
    /// One key, one sum: whoever is not sure says it again.
    pub key: &'a str,
    /// What the bank's statement or the receipt says.
    pub note: &'a str,
}

/// A refund as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct RefundOf {
    /// Its rows, one for each payment it goes back by.
    pub rows: Vec<Refund>,
    /// How much goes back; rows that failed are left out.
    pub amount: i64,
}

/// What of a line can still be refunded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineLeft {
    /// The line.
    pub line: i64,
    /// Pieces that came back or were cancelled and are not refunded.
    pub pieces: i64,
    /// What they bring.
    pub amount: i64,
    /// What the line holds at most, pieces or not.
    pub most: i64,
}

/// What of an order can still be refunded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its lines.
    pub lines: Vec<LineLeft>,
    /// Its shipping.
    pub shipping: i64,
    /// What its payments hold: never more than this.
    pub paid: i64,
}

impl Staff<'_> {
    /// Writes down money that came by hand; the payment. Said again with its key it changes nothing.
    pub fn money_came(&self, came: MoneyCame<'_>) -> StaffDone<i64> {
        if came.key.is_empty() || came.key.len() > 100 {
            return Err(StaffError::BadKey);
        }
        let cx = self.cx();
        self.db.write(|tx| {
            tx.lock_row("orders", came.order)?;
            let was = order(tx, came.order)?;
            let event = format!("{}:{}", was.id, came.key);
            if let Some(payment) = rows::told_of(tx, BOOK, &event)? {
                return Ok(payment);
            }
            let owed = orders::due(was.total, &orders::lines(tx, was.id)?)? - (was.paid - was.refunded);
            let amount = came.amount.unwrap_or(owed);
            // More than any order comes to is a slip of the hand.
            if !(1..=1_000_000_000_000_000).contains(&amount) {
                return Err(StaffError::Amount);
            }
            let payment = by_hand(tx, &was, amount, came.key, self)?;
            let data = json!({"amount": amount, "note": came.note, "user": self.user});
            rows::event(tx, BOOK, &event, Some(payment.id), "came", &data, cx.now)?;
            rows::came(tx, payment.id, amount, self.user, cx.now)?;
            if !came.note.trim().is_empty() {
                orders::note(tx, was.id, came.note, false, self.user, cx.now)?;
            }
            let is = order(tx, was.id)?;
            mails::paid(tx, cx, was.id, payment.id, amount, payments::odd(&is))?;
            Ok(payment.id)
        })
    }

    /// What can still be refunded.
    pub fn refundable(&self, id: i64) -> StaffDone<Left> {
        self.db.read(|tx| {
            let of = order(tx, id)?;
            let lines = orders::lines(tx, id)?;
            let (cost, before) = refunds::shipping(tx, &of, &lines)?;
            let left = |line: &orders::Line| {
                let sold = refunds::sold(line);
                let pieces = sold.pieces_left();
                let amount =
                    if pieces > 0 { of_pieces(sold, pieces).map_or(0, |back| back.amount) } else { 0 };
                LineLeft { line: line.id, pieces, amount, most: line.total - line.refunded }
            };
            let paid =
                rows::of_order(tx, id)?.iter().map(|payment| payment.captured - payment.refunded).sum();
            Ok(Left { lines: lines.iter().map(left).collect(), shipping: cost.amount - before.amount, paid })
        })
    }

    /// Gives money of an order back, each part by the payment it came by. Never more than was paid, no piece twice and
    /// none that did not come back; the same key again answers with the same refund.
    pub fn refund(&self, new: NewRefund<'_>) -> StaffDone<RefundOf> {
        let Begun { ids, .. } = self.db.write(|tx| refunds::begin(tx, &new, self.user, self.now))?;
        let all = |tx: &mut Tx| -> Result<Vec<Refund>, DbError> {
            ids.iter().filter_map(|id| refunds::by_id(tx, *id).transpose()).collect()
        };
        for refund in self.db.read(all)? {
            if !refund.by_hand && matches!(refund.state.as_str(), "kOpen" | "kUnknown") {
                payments::refund(self.db, self.cx(), &refund)?;
            }
        }
        let rows = self.db.read(all)?;
        let amount = rows.iter().filter(|row| row.state != "kFailed").map(|row| row.amount).sum();
        Ok(RefundOf { rows, amount })
    }

    /// Begins a refund in a transaction of the caller, its rows. Providers are asked once it stands, by the job that asks
    /// again.
    pub(crate) fn begin_refund(&self, tx: &mut Tx, new: NewRefund<'_>) -> StaffDone<Vec<i64>> {
        Ok(refunds::begin(tx, &new, self.user, self.now)?.ids)
    }

    /// A refund that people send themselves was sent; the customer is told.
    pub fn refund_sent(&self, refund: i64) -> StaffDone<()> {
        let cx = self.cx();
        self.db.write(|tx| {
            let (order, is_news) = refunds::told_by_people(tx, refund, true, "", cx.now)?;
            let row = refunds::by_id(tx, refund)?;
            match row.filter(|_| is_news) {
                Some(row) => Ok(mails::refunded(tx, cx, order, &row, mails::Money::Sent)?),
                None => Ok(()),
            }
        })
    }

    /// A refund that people were to send is not sent after all: its pieces and its money can be refunded again.
    pub fn drop_refund(&self, refund: i64, reason: &str) -> StaffDone<()> {
        self.db.write(|tx| {
            let (order, is_news) = refunds::told_by_people(tx, refund, false, reason, self.now)?;
            if is_news && !reason.trim().is_empty() {
                orders::note(tx, order, reason, false, self.user, self.now)?;
            }
            Ok(())
        })
    }

    /// Refunds of an order.
    pub fn refunds(&self, id: i64) -> StaffDone<Vec<Refund>> {
        self.db.read(|tx| {
            order(tx, id)?;
            Ok(refunds::of_order(tx, id)?)
        })
    }
}

/// The book of sums that were written down by hand, beside what providers tell.
const BOOK: &str = "by-hand";

/// The payment that money belongs to: the one by hand that waits for it, else a new one.
fn by_hand(tx: &mut Tx, of: &orders::Order, amount: i64, key: &str, staff: &Staff<'_>) -> StaffDone<Payment> {
    let is_by_hand = |payment: &&Payment| {
        payment.state == "kOpen"
            && payments::provider(&payment.provider).is_some_and(|provider| !provider.is_online())
    };
    if let Some(open) = rows::of_order(tx, of.id)?.iter().find(is_by_hand) {
        return Ok(open.clone());
    }
    let key = format!("order:{}:hand:{key}", of.id);
    Ok(rows::start(tx, of.id, None, "transfer", (amount, &of.currency), &key, staff.now)?)
}
