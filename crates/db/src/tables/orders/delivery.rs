//! Parcels out and goods back.

use jiff::Timestamp;

use super::read::lines;
use super::state::{StateError, held, recount};
use crate::stock::{self, Move};
use crate::{DbError, Tx, micros, rows};

/// Sends pieces of lines in one parcel; the parcel's number.
pub fn ship(
    tx: &mut Tx,
    order: i64,
    parts: &[(i64, i64)],
    carrier: &str,
    tracking: &str,
    author: Option<i64>,
    now: Timestamp,
) -> Result<i64, StateError> {
    held(tx, order)?;
    let time = micros(now);
    let shipment = rows::insert(
        tx,
        "shipments",
        &[
            ("order_id", order.into()),
            ("carrier", carrier.into()),
            ("tracking", tracking.into()),
            ("state", "kSent".into()),
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

/// Somebody wants to give pieces back: line, how many, why. The return's number.
pub fn request_return(
    tx: &mut Tx,
    order: i64,
    parts: &[(i64, i64, &str)],
    text: &str,
    now: Timestamp,
) -> Result<i64, StateError> {
    held(tx, order)?;
    let time = micros(now);
    let of = [
        ("order_id", order.into()),
        ("text", text.into()),
        ("created", (&time).into()),
        ("changed", (&time).into()),
    ];
    let id = rows::insert(tx, "returns", &of)?;
    let sold = lines(tx, order)?;
    for (line, quantity, reason) in parts {
        let left = sold.iter().find(|sold| sold.id == *line).map(|line| line.shipped - line.returned);
        let left = left.ok_or(StateError::Unknown)?;
        if *quantity < 1 || *quantity > left {
            return Err(StateError::TooMany { line: *line, left });
        }
        rows::insert(
            tx,
            "return_lines",
            &[
                ("return_id", id.into()),
                ("order_line_id", (*line).into()),
                ("quantity", (*quantity).into()),
                ("reason", (*reason).into()),
            ],
        )?;
    }
    Ok(id)
}

/// Whether a return is asked for or agreed to whose goods are not here yet.
pub fn has_open_return(tx: &mut Tx, order: i64) -> Result<bool, DbError> {
    let sql = "select id from returns where order_id = :order and state in ('kAsked', 'kAgreed') limit 1";
    Ok(tx.row(sql, &[("order", order.into())])?.is_some())
}

/// The goods of a return are back: they count as returned, and go into stock, once.
pub fn receive_return(
    tx: &mut Tx,
    id: i64,
    location: i64,
    author: Option<i64>,
    now: Timestamp,
) -> Result<(), StateError> {
    let row = tx.row("select order_id from returns where id = :id", &[("id", id.into())])?;
    let order: i64 = row.ok_or(StateError::Unknown)?.get("order_id")?;
    held(tx, order)?;
    let count = tx.run(
        "update returns set state = 'kGot', changed = :now, version = version + 1
         where id = :id and state in ('kAsked', 'kAgreed')",
        &[("id", id.into()), ("now", micros(now).into())],
    )?;
    if count == 0 {
        // It came back before.
        return Ok(());
    }
    let rows = tx.rows(
        "select r.id, r.order_line_id, r.quantity, r.restock, l.variant_id, v.tracked
         from return_lines r join order_lines l on l.id = r.order_line_id
         left join variants v on v.id = l.variant_id where r.return_id = :id order by l.variant_id, r.id",
        &[("id", id.into())],
    )?;
    for row in rows {
        let (part, line, quantity): (i64, i64, i64) =
            (row.get("id")?, row.get("order_line_id")?, row.get("quantity")?);
        tx.run(
            "update order_lines set returned = returned + :quantity where id = :line",
            &[("line", line.into()), ("quantity", quantity.into())],
        )?;
        let variant = row.get::<Option<i64>>("variant_id")?;
        let is_stocked = row.get::<Option<bool>>("tracked")?.unwrap_or(false);
        if let (Some(variant_id), true, true) = (variant, row.get("restock")?, is_stocked) {
            let back = Move {
                variant_id,
                location_id: location,
                quantity,
                kind: "kReturn".to_owned(),
                source: Some(format!("return_line:{part}")),
                reason: String::new(),
                author_id: author,
            };
            stock::add_move(tx, &back, now)?;
        }
    }
    recount(tx, order, author, now)
}
