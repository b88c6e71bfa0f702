//! How orders move: by the table of states, and by what was paid and sent.

use jiff::Timestamp;
use shop::money::scaled;
use shop::order::{
    LinePieces, MoveError, Mover, OrderFacts, OrderMoney, OrderState, check_move, delivery_state,
};

use super::read::{Line, Order, by_id, lines};
use crate::stock::{self, Holder, ReserveError, Wanted};
use crate::{DbError, Tx, micros, promotions, rows};

/// Why an order does not move. The caller's transaction must end with the error.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// There is no such order, or no such state.
    #[error("no such order or state")]
    Unknown,
    /// The rules of states.
    #[error(transparent)]
    Rule(#[from] MoveError),
    /// More pieces than there are.
    #[error("line {line}: only {left} pieces")]
    TooMany {
        /// The line.
        line: i64,
        /// How many there are.
        left: i64,
    },
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// An order whose row is held to the end of the transaction.
pub(crate) fn held(tx: &mut Tx, order: i64) -> Result<Order, StateError> {
    tx.lock_row("orders", order)?;
    by_id(tx, order)?.ok_or(StateError::Unknown)
}

/// Moves an order into a state: a base state, or one that the owner added over it.
pub fn move_to(
    tx: &mut Tx,
    order: i64,
    state: &str,
    mover: Mover,
    reason: &str,
    author: Option<i64>,
    now: Timestamp,
) -> Result<(), StateError> {
    let was = held(tx, order)?;
    let row = tx.row("select base from order_states where skey = :skey", &[("skey", state.into())])?;
    let base: String = row.ok_or(StateError::Unknown)?.get("base")?;
    let from = OrderState::parse(&was.base).ok_or(StateError::Unknown)?;
    let to = OrderState::parse(&base).ok_or(StateError::Unknown)?;
    let sold = lines(tx, order)?;
    let mut facts = facts(tx, &was, &sold, now)?;
    if (from, to) == (OrderState::Cancel, OrderState::New) {
        // First the rule, without what only the attempt can tell.
        check_move(from, to, mover, OrderFacts { is_reserved: true, ..facts })?;
        facts.is_reserved = reserve_anew(tx, &sold, now)?;
    }
    // Between two names of one base state nothing but the name changes.
    if from != to {
        check_move(from, to, mover, facts)?;
    }
    if to == OrderState::Cancel && from != to {
        take_back(tx, order, &sold, now)?;
    }
    let closed = to.is_closed().then(|| micros(now));
    tx.run(
        "update orders set state = :state, closed = :closed, reason = :reason, pay_until = case when :base = 'kWait'
           then pay_until end, changed = :now, version = version + 1 where id = :id",
        &[
            ("id", order.into()),
            ("state", state.into()),
            ("closed", closed.into()),
            ("reason", reason.into()),
            ("base", (&base).into()),
            ("now", micros(now).into()),
        ],
    )?;
    let text = if is_key(reason) { "" } else { reason };
    remember(tx, order, "kState", (&was.state, state), text, author, now)?;
    Ok(())
}

/// Whether a reason is a key of the store's own and no word for people.
pub fn is_key(reason: &str) -> bool {
    reason.starts_with('k') && reason.chars().nth(1).is_some_and(char::is_uppercase) && !reason.contains(' ')
}

fn facts(tx: &mut Tx, order: &Order, sold: &[Line], now: Timestamp) -> Result<OrderFacts, StateError> {
    let money = money(tx, order.id, order.total)?;
    Ok(OrderFacts {
        needs_payment_first: order.base == "kWait",
        is_covered: money.is_covered(),
        is_overdue: order.pay_until.as_ref().is_some_and(|until| *until <= micros(now)),
        sent: sold.iter().map(|line| line.shipped).sum(),
        open: sold.iter().map(|line| pieces(line).open()).sum(),
        owes: money.refunded == 0 && money.paid < due(order.total, sold)?,
        is_reserved: false,
    })
}

/// What an order comes to without the pieces that were cancelled.
pub fn due(total: i64, sold: &[Line]) -> Result<i64, DbError> {
    let mut due = total;
    for line in sold.iter().filter(|line| line.cancelled > 0) {
        due -= scaled(line.total, line.cancelled, line.quantity).map_err(DbError::sql)?;
    }
    Ok(due.max(0))
}

fn pieces(line: &Line) -> LinePieces {
    LinePieces {
        quantity: line.quantity,
        cancelled: line.cancelled,
        shipped: line.shipped,
        returned: line.returned,
    }
}

/// What an order's payments come to.
fn money(tx: &mut Tx, order: i64, total: i64) -> Result<OrderMoney, DbError> {
    let row = tx.row(
        "select cast(coalesce(sum(case when state = 'kHeld' then amount - captured else 0 end), 0) as bigint) as held,
           cast(coalesce(sum(captured), 0) as bigint) as paid,
           cast(coalesce(sum(refunded), 0) as bigint) as refunded
         from payments where order_id = :id",
        &[("id", order.into())],
    )?;
    let Some(row) = row else { return Ok(OrderMoney { total, ..OrderMoney::default() }) };
    Ok(OrderMoney { total, held: row.get("held")?, paid: row.get("paid")?, refunded: row.get("refunded")? })
}

/// Cancelling: nothing is reserved any more, promotions get their uses back, open pieces are cancelled.
fn take_back(tx: &mut Tx, order: i64, sold: &[Line], now: Timestamp) -> Result<(), DbError> {
    for line in sold {
        stock::release(tx, Holder::Line(line.id), now)?;
    }
    tx.run(
        "update order_lines set cancelled = quantity - shipped where order_id = :id",
        &[("id", order.into())],
    )?;
    promotions::give_back(tx, order)
}

/// A cancelled order comes back: its pieces are reserved anew, or it stays cancelled.
fn reserve_anew(tx: &mut Tx, sold: &[Line], now: Timestamp) -> Result<bool, DbError> {
    let wishes = sold.iter().filter_map(|line| {
        let wanted = Wanted {
            holder: Holder::Line(line.id),
            variant_id: line.variant_id?,
            quantity: line.quantity - line.shipped,
            until: None,
        };
        (wanted.quantity > 0).then_some(wanted)
    });
    let wishes: Vec<_> = wishes.collect();
    match stock::reserve(tx, &wishes, now) {
        Ok(()) => {}
        // The caller's transaction ends with the rule's refusal, so that nothing stays half reserved.
        Err(ReserveError::OutOfStock { .. }) => return Ok(false),
        Err(ReserveError::Db(cause)) => return Err(cause),
    }
    for line in sold {
        tx.run("update order_lines set cancelled = 0 where id = :id", &[("id", line.id.into())])?;
    }
    Ok(true)
}

/// Brings what was paid and sent up to date; an order that waited for its payment and has it is new.
pub fn recount(tx: &mut Tx, order: i64, author: Option<i64>, now: Timestamp) -> Result<(), StateError> {
    let was = held(tx, order)?;
    let money = money(tx, order, was.total)?;
    let sold: Vec<_> = lines(tx, order)?.iter().map(pieces).collect();
    let sql = "select 1 as yes from shipments where order_id = :id and state in ('kReady', 'kSent') limit 1";
    let has_arrived = tx.row(sql, &[("id", order.into())])?.is_none();
    let delivery = delivery_state(&sold, has_arrived).map_err(DbError::sql)?;
    let pay = money.state();
    tx.run(
        "update orders set paid = :paid, refunded = :refunded, pay = :pay, delivery = :delivery, changed = :now,
           version = version + 1
         where id = :id and (paid <> :paid or refunded <> :refunded or pay <> :pay or delivery <> :delivery)",
        &[
            ("id", order.into()),
            ("paid", money.paid.into()),
            ("refunded", money.refunded.into()),
            ("pay", pay.into()),
            ("delivery", delivery.into()),
            ("now", micros(now).into()),
        ],
    )?;
    for (axis, old, new) in [("kPay", was.pay.as_str(), pay), ("kDelivery", was.delivery.as_str(), delivery)]
    {
        if old != new {
            remember(tx, order, axis, (old, new), "", author, now)?;
        }
    }
    if was.base == OrderState::Wait.as_str() && money.is_covered() {
        move_to(tx, order, OrderState::New.as_str(), Mover::Store, "", author, now)?;
    }
    Ok(())
}

/// Orders whose time to pay is over, after this number, at most so many.
pub fn overdue(tx: &mut Tx, after: i64, most: u32, now: Timestamp) -> Result<Vec<i64>, DbError> {
    let rows = tx.rows(
        "select o.id from orders o join order_states s on s.skey = o.state
         where o.id > :after and o.pay_until <= :now and s.base = 'kWait' order by o.id limit :most",
        &[("after", after.into()), ("now", micros(now).into()), ("most", most.into())],
    )?;
    rows.iter().map(|row| row.get("id")).collect()
}

/// Cancels an order whose time to pay is over; `false` if it was paid or cancelled in the meantime.
pub fn cancel_overdue(tx: &mut Tx, order: i64, now: Timestamp) -> Result<bool, StateError> {
    if held(tx, order)?.base != OrderState::Wait.as_str() {
        return Ok(false);
    }
    match move_to(tx, order, OrderState::Cancel.as_str(), Mover::Store, "kUnpaid", None, now) {
        Ok(()) => Ok(true),
        Err(StateError::Rule(_)) => Ok(false),
        Err(cause) => Err(cause),
    }
}

/// Adds a note to the history of an order.
pub fn note(
    tx: &mut Tx,
    order: i64,
    text: &str,
    for_customer: bool,
    author: Option<i64>,
    now: Timestamp,
) -> Result<i64, DbError> {
    rows::insert(
        tx,
        "order_history",
        &[
            ("order_id", order.into()),
            ("time", micros(now).into()),
            ("author_id", author.into()),
            ("axis", "kNote".into()),
            ("text", text.into()),
            ("for_customer", for_customer.into()),
        ],
    )
}

pub(super) fn remember(
    tx: &mut Tx,
    order: i64,
    axis: &str,
    (old, new): (&str, &str),
    text: &str,
    author: Option<i64>,
    now: Timestamp,
) -> Result<(), DbError> {
    rows::insert(
        tx,
        "order_history",
        &[
            ("order_id", order.into()),
            ("time", micros(now).into()),
            ("author_id", author.into()),
            ("axis", axis.into()),
            ("old", old.into()),
            ("new", new.into()),
            ("text", text.into()),
            ("for_customer", true.into()),
        ],
    )?;
    Ok(())
}
