//! Parcels that leave, and pieces that are not sent any more.

use db::{Tx, orders};

use super::{Staff, StaffDone, StaffError, order};
use crate::shopping::mails;

/// So many pieces of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// The line.
    pub line: i64,
    /// How many.
    pub pieces: i64,
}

/// A parcel.
#[derive(Clone, Copy, Debug)]
pub struct Ship<'a> {
    /// The order.
    pub order: i64,
    /// What is in it; nothing named: everything that was not sent yet.
    pub lines: &'a [Pieces],
    /// Who carries it.
    pub carrier: &'a str,
    /// Number to follow it by.
    pub tracking: &'a str,
}

/// Pieces that are not sent any more.
#[derive(Clone, Copy, Debug)]
pub struct CancelPieces<'a> {
    /// The order.
    pub order: i64,
    /// Which.
    pub lines: &'a [Pieces],
    /// Why; the customer reads it on the order's page.
    pub reason: &'a str,
}

/// Each line once, with its pieces added up.
fn merged(lines: &[Pieces]) -> StaffDone<Vec<(i64, i64)>> {
    let mut parts: Vec<(i64, i64)> = Vec::with_capacity(lines.len());
    for one in lines {
        if one.pieces < 1 {
            return Err(StaffError::Nothing);
        }
        match parts.iter_mut().find(|(line, _)| *line == one.line) {
            Some((_, pieces)) => *pieces = pieces.saturating_add(one.pieces),
            None => parts.push((one.line, one.pieces)),
        }
    }
    Ok(parts)
}

fn known(sold: &[orders::Line], parts: &[(i64, i64)]) -> StaffDone<()> {
    let unknown = parts.iter().find(|(line, _)| !sold.iter().any(|sold| sold.id == *line));
    unknown.map_or(Ok(()), |(line, _)| Err(StaffError::Unknown { what: "line", id: *line }))
}

impl Staff<'_> {
    /// Sends pieces in one parcel, or lays them ready where the customer comes for them, and tells the customer. The
    /// parcel's number.
    pub fn ship(&self, parcel: Ship<'_>) -> StaffDone<i64> {
        self.db.write(|tx| self.ship_within(tx, parcel))
    }

    /// The same in a transaction of the caller.
    pub(crate) fn ship_within(&self, tx: &mut Tx, parcel: Ship<'_>) -> StaffDone<i64> {
        let cx = self.cx();
        // The order is held first, so that two parcels at once do not hold the same pieces.
        tx.lock_row("orders", parcel.order)?;
        order(tx, parcel.order)?;
        let sold = orders::lines(tx, parcel.order)?;
        let mut parts = merged(parcel.lines)?;
        known(&sold, &parts)?;
        if parts.is_empty() {
            let open = |line: &orders::Line| line.quantity - line.cancelled - line.shipped;
            parts = sold.iter().map(|line| (line.id, open(line))).filter(|(_, open)| *open > 0).collect();
        }
        if parts.is_empty() {
            return Err(StaffError::Nothing);
        }
        let (carrier, tracking) = (parcel.carrier, parcel.tracking);
        let shipment = orders::ship(tx, parcel.order, &parts, carrier, tracking, self.user, cx.now)?;
        mails::sent(tx, cx, parcel.order, shipment)?;
        Ok(shipment)
    }

    /// A parcel is with its customer, or was fetched.
    pub fn arrived(&self, shipment: i64) -> StaffDone<()> {
        self.db.write(|tx| {
            orders::arrive(tx, shipment, self.user, self.now).map_err(|cause| match cause {
                orders::StateError::Unknown => StaffError::Unknown { what: "shipment", id: shipment },
                other => other.into(),
            })?;
            Ok(())
        })
    }

    /// Cancels pieces that were not sent: they are for sale again, and what was paid for them can be refunded.
    pub fn cancel_pieces(&self, cancel: CancelPieces<'_>) -> StaffDone<()> {
        self.db.write(|tx| self.cancel_within(tx, cancel))
    }

    /// The same in a transaction of the caller.
    pub(crate) fn cancel_within(&self, tx: &mut Tx, cancel: CancelPieces<'_>) -> StaffDone<()> {
        let parts = merged(cancel.lines)?;
        if parts.is_empty() {
            return Err(StaffError::Nothing);
        }
        order(tx, cancel.order)?;
        known(&orders::lines(tx, cancel.order)?, &parts)?;
        orders::cancel_pieces(tx, cancel.order, &parts, self.user, self.now)?;
        if !cancel.reason.trim().is_empty() {
            orders::note(tx, cancel.order, cancel.reason, true, self.user, self.now)?;
        }
        Ok(())
    }
}
