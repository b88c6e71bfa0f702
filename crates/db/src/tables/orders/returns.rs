//! Goods that come back: asked for, agreed to or refused, received into stock.

use jiff::Timestamp;
use shop::order::MoveError;

use super::read::lines;
use super::state::{StateError, held, recount};
use crate::record::record;
use crate::stock::{self, Move};
use crate::{DbError, Tx, micros, rows};

record! {
    /// Goods that come back.
    pub struct Return {
        /// Number.
        pub id: i64,
        /// The order.
        pub order_id: i64,
        /// `kAsked`, `kAgreed`, `kGot`, `kRefused`.
        pub state: String,
        /// What the customer says.
        pub text: String,
        /// What the store says.
        pub answer: String,
    }
}

/// What really came of a line of a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The line of the order.
    pub line_id: i64,
    /// How many came; 0 for none, at most as many as were asked for.
    pub pieces: i64,
    /// Whether they can be sold again.
    pub restock: bool,
}

/// Returns of an order.
pub fn returns(tx: &mut Tx, order: i64) -> Result<Vec<Return>, DbError> {
    let sql = "select id, order_id, state, text, answer from returns where order_id = :id order by id";
    tx.rows(sql, &[("id", order.into())])?.iter().map(Return::of).collect()
}

fn held_return(tx: &mut Tx, id: i64) -> Result<Return, StateError> {
    let row = tx.row("select order_id from returns where id = :id", &[("id", id.into())])?;
    let order: i64 = row.ok_or(StateError::Unknown)?.get("order_id")?;
    held(tx, order)?;
    returns(tx, order)?.into_iter().find(|one| one.id == id).ok_or(StateError::Unknown)
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
        let left = left.ok_or(StateError::Unknown)? - on_the_way(tx, *line)?;
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

/// Pieces of a line that are asked for in returns that have not come yet.
fn on_the_way(tx: &mut Tx, line: i64) -> Result<i64, DbError> {
    let row = tx.row(
        "select cast(coalesce(sum(l.quantity), 0) as bigint) as pieces from return_lines l
         join returns r on r.id = l.return_id where l.order_line_id = :id and r.state in ('kAsked', 'kAgreed')",
        &[("id", line.into())],
    )?;
    row.map_or(Ok(0), |row| row.get("pieces"))
}

/// Whether a return is asked for or agreed to whose goods are not here yet.
pub fn has_open_return(tx: &mut Tx, order: i64) -> Result<bool, DbError> {
    let sql = "select id from returns where order_id = :order and state in ('kAsked', 'kAgreed') limit 1";
    Ok(tx.row(sql, &[("order", order.into())])?.is_some())
}

/// The store says whether a return may come; the order it is of. Said again it changes nothing.
pub fn answer_return(
    tx: &mut Tx,
    id: i64,
    is_agreed: bool,
    answer: &str,
    now: Timestamp,
) -> Result<i64, StateError> {
    let was = held_return(tx, id)?;
    let state = if is_agreed { "kAgreed" } else { "kRefused" };
    match was.state.as_str() {
        same if same == state => return Ok(was.order_id),
        "kAsked" | "kAgreed" => {}
        _ => return Err(MoveError::Hindered("the return is closed").into()),
    }
    tx.run(
        "update returns set state = :state, answer = :answer, changed = :now, version = version + 1 where id = :id",
        &[("id", id.into()), ("state", state.into()), ("answer", answer.into()), ("now", micros(now).into())],
    )?;
    Ok(was.order_id)
}

/// The goods of a return are back: they count as returned, and go into the stock of a location, once. `arrived` names
/// what is otherwise than was asked for. The order it is of, and whether this was news.
pub fn receive_return(
    tx: &mut Tx,
    id: i64,
    location: i64,
    arrived: &[Arrived],
    author: Option<i64>,
    now: Timestamp,
) -> Result<(i64, bool), StateError> {
    let was = held_return(tx, id)?;
    match was.state.as_str() {
        "kGot" => return Ok((was.order_id, false)),
        "kRefused" => return Err(MoveError::Hindered("the return was refused").into()),
        _ => {}
    }
    for one in arrived {
        correct(tx, id, one)?;
    }
    tx.run(
        "update returns set state = 'kGot', changed = :now, version = version + 1 where id = :id",
        &[("id", id.into()), ("now", micros(now).into())],
    )?;
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
    recount(tx, was.order_id, author, now)?;
    Ok((was.order_id, true))
}

/// Puts down what really came of a line: fewer pieces, or such as nobody sells again.
fn correct(tx: &mut Tx, id: i64, arrived: &Arrived) -> Result<(), StateError> {
    let of = [("id", id.into()), ("line", arrived.line_id.into())];
    let sql = "select quantity from return_lines where return_id = :id and order_line_id = :line";
    let asked: i64 = tx.row(sql, &of)?.ok_or(StateError::Unknown)?.get("quantity")?;
    if !(0..=asked).contains(&arrived.pieces) {
        return Err(StateError::TooMany { line: arrived.line_id, left: asked });
    }
    if arrived.pieces == 0 {
        tx.run("delete from return_lines where return_id = :id and order_line_id = :line", &of)?;
        return Ok(());
    }
    tx.run(
        "update return_lines set quantity = :pieces, restock = :restock
         where return_id = :id and order_line_id = :line",
        &[
            ("id", id.into()),
            ("line", arrived.line_id.into()),
            ("pieces", arrived.pieces.into()),
            ("restock", arrived.restock.into()),
        ],
    )?;
    Ok(())
}
