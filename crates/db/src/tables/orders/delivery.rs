//! Parcels out, and pieces that are not sent any more.

use jiff::Timestamp;
use shop::order::{MoveError, Mover, OrderState};

use super::read::lines;
use super::state::{StateError, held, move_to, recount};
use crate::{DbError, Tx, micros, rows, stock};

/// Sends pieces of lines in one parcel, or lays them ready where the customer comes for them; the parcel's number.
/// Sending says that the order is accepted.
pub fn ship(
    tx: &mut Tx,
    order: i64,
    parts: &[(i64, i64)],
    carrier: &str,
    tracking: &str,
    author: Option<i64>,
    now: Timestamp,
) -> Result<i64, StateError> {
    let is = held(tx, order)?;
    match OrderState::parse(&is.base) {
        Some(OrderState::New) => {
            move_to(tx, order, OrderState::Accept.as_str(), Mover::Staff, "", author, now)?;
        }
        Some(OrderState::Accept) => {}
        _ => return Err(MoveError::Hindered("only a new or an accepted order is sent").into()),
    }
    let time = micros(now);
    let state = if is_pickup(tx, order)? { "kReady" } else { "kSent" };
    let shipment = rows::insert(
        tx,
        "shipments",
        &[
            ("order_id", order.into()),
            ("carrier", carrier.into()),
            ("tracking", tracking.into()),
            ("state", state.into()),
            ("sent", (&time).into()),
            ("author_id", author.into()),
            ("created", (&time).into()),
            ("changed", (&time).into()),
        ],
    )?;
    let sold = lines(tx, order)?;
    let mut parts = parts.to_vec();
    // By variant, as rows of stock are always held.
    parts.sort_unstable_by_key(|(line, _)| sold.iter().find(|l| l.id == *line).and_then(|l| l.variant_id));
    for (line, quantity) in parts {
        let left = sold.iter().find(|sold| sold.id == line).map(|l| l.quantity - l.cancelled - l.shipped);
        let left = left.ok_or(StateError::Unknown)?;
        if quantity < 1 || quantity > left {
            return Err(StateError::TooMany { line, left });
        }
        let part = rows::insert(
            tx,
            "shipment_lines",
            &[
                ("shipment_id", shipment.into()),
                ("order_line_id", line.into()),
                ("quantity", quantity.into()),
            ],
        )?;
        if is_stocked(tx, line)? {
            stock::ship(tx, line, quantity, &format!("shipment_line:{part}"), author, now)?;
        }
        tx.run(
            "update order_lines set shipped = shipped + :quantity where id = :line",
            &[("line", line.into()), ("quantity", quantity.into())],
        )?;
    }
    recount(tx, order, author, now)?;
    Ok(shipment)
}

/// Whether stock is counted for what a line sold.
fn is_stocked(tx: &mut Tx, line: i64) -> Result<bool, DbError> {
    let sql = "select v.tracked from order_lines l join variants v on v.id = l.variant_id where l.id = :id";
    tx.row(sql, &[("id", line.into())])?.map_or(Ok(false), |row| row.get("tracked"))
}

/// Whether the customer of an order comes for the goods.
pub fn is_pickup(tx: &mut Tx, order: i64) -> Result<bool, DbError> {
    let sql = "select m.pickup from orders o join shipping_methods m on m.id = o.shipping_method_id where o.id = :id";
    tx.row(sql, &[("id", order.into())])?.map_or(Ok(false), |row| row.get("pickup"))
}

/// A parcel is with its customer, or was fetched; the order it is of. Said again it changes nothing.
pub fn arrive(tx: &mut Tx, shipment: i64, author: Option<i64>, now: Timestamp) -> Result<i64, StateError> {
    let row = tx.row("select order_id from shipments where id = :id", &[("id", shipment.into())])?;
    let order: i64 = row.ok_or(StateError::Unknown)?.get("order_id")?;
    held(tx, order)?;
    tx.run(
        "update shipments set state = 'kArrived', arrived = :now, changed = :now, version = version + 1
         where id = :id and state <> 'kArrived'",
        &[("id", shipment.into()), ("now", micros(now).into())],
    )?;
    recount(tx, order, author, now)?;
    Ok(order)
}

/// Cancels pieces that were not sent: line and how many. They are for sale again.
pub fn cancel_pieces(
    tx: &mut Tx,
    order: i64,
    parts: &[(i64, i64)],
    author: Option<i64>,
    now: Timestamp,
) -> Result<(), StateError> {
    let is = held(tx, order)?;
    if !matches!(is.base.as_str(), "kWait" | "kNew" | "kAccept") {
        return Err(MoveError::Hindered("the order is closed").into());
    }
    let sold = lines(tx, order)?;
    let gone: i64 = parts.iter().map(|(_, pieces)| pieces).sum();
    let kept: i64 = sold.iter().map(|line| line.quantity - line.cancelled).sum();
    for (line, pieces) in parts {
        let left =
            sold.iter().find(|sold| sold.id == *line).map(|one| one.quantity - one.cancelled - one.shipped);
        let left = left.ok_or(StateError::Unknown)?;
        if *pieces < 1 || *pieces > left {
            return Err(StateError::TooMany { line: *line, left });
        }
    }
    if gone >= kept {
        return Err(MoveError::Hindered("that is everything: cancel the order").into());
    }
    let mut parts = parts.to_vec();
    parts.sort_unstable_by_key(|(line, _)| {
        sold.iter().find(|one| one.id == *line).and_then(|one| one.variant_id)
    });
    for (line, pieces) in parts {
        stock::release_pieces(tx, line, pieces, now)?;
        tx.run(
            "update order_lines set cancelled = cancelled + :pieces where id = :line",
            &[("line", line.into()), ("pieces", pieces.into())],
        )?;
    }
    recount(tx, order, author, now)
}
