//! Refunds: which pieces, which shipping and which money beside them goes back, and by which payment.
//!
//! Everything is decided under the order's row, so that two people at once, or one attempt
//! repeated, never give back more than was paid, nor a piece twice. What a refund is for
//! counts from its beginning; one that fails gives it back.

use jiff::Timestamp;
use shop::money::{MoneyError, scaled};
use shop::refund::{LineSold, RefundError as Rule, of_amount, of_pieces, over_payments};

use crate::orders::{self, Line, Order, StateError, held, recount};
use crate::record::record;
use crate::{DbError, Tx, micros, payments, rows};

record! {
    /// Money that is to be given back.
    pub struct Refund {
        /// Number.
        pub id: i64,
        /// The payment.
        pub payment_id: i64,
        /// How much.
        pub amount: i64,
        /// `kOpen`, `kDone`, `kFailed`, `kUnknown`.
        pub state: String,
        /// Why.
        pub reason: String,
        /// Key under which the provider knows the attempt.
        pub key: String,
        /// Whether people of the store send it themselves.
        pub by_hand: bool,
        /// What the provider said.
        pub error: String,
    }
}

record! {
    /// What a part of a refund is for.
    pub struct Part {
        /// The refund.
        pub refund_id: i64,
        /// `kLine`, `kShipping`, `kExtra`.
        pub kind: String,
        /// The line, of `kLine`.
        pub order_line_id: Option<i64>,
        /// For how many pieces.
        pub quantity: i64,
        /// How much.
        pub amount: i64,
        /// The tax in it.
        pub tax: i64,
    }
}

/// What of a line is refunded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineBack {
    /// The line.
    pub line_id: i64,
    /// For how many pieces that came back or were cancelled; 0 for money beside pieces.
    pub pieces: i64,
    /// How much, in minor units; `None`: what the pieces cost.
    pub amount: Option<i64>,
}

/// A refund that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewRefund<'a> {
    /// The order.
    pub order_id: i64,
    /// What of its lines.
    pub lines: &'a [LineBack],
    /// How much of its shipping, with the tax of it.
    pub shipping: i64,
    /// How much beside lines and shipping: fees, what was paid too much.
    pub extra: i64,
    /// Why.
    pub reason: &'a str,
    /// The return it is for.
    pub return_id: Option<i64>,
    /// Key of the attempt: one key, one refund; whoever is not sure asks again.
    pub key: &'a str,
}

/// Why nothing is given back. The caller's transaction must end with the error.
#[derive(Debug, thiserror::Error)]
pub enum RefundError {
    /// There is no such order, line, return or refund.
    #[error("there is no {what} {id}")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// Its number.
        id: i64,
    },
    /// More pieces than came back or were cancelled, less what was refunded before.
    #[error("line {line}: only {left} pieces can be refunded")]
    TooMany {
        /// The line.
        line: i64,
        /// How many are left.
        left: i64,
    },
    /// More money than is left.
    #[error("only {left} minor units of {what} can be refunded")]
    TooMuch {
        /// Of what: `the line`, `shipping`, `the payments`.
        what: &'static str,
        /// How much is left.
        left: i64,
    },
    /// Less than one piece or one minor unit.
    #[error("a refund is of at least one minor unit")]
    Nothing,
    /// A line stands twice.
    #[error("line {0} stands twice")]
    Twice(i64),
    /// The key is empty, too long or holds `#`.
    #[error("a key has 1 to 100 letters and no `#`")]
    BadKey,
    /// The key was used for another refund.
    #[error("this key was used for another refund")]
    KeyUsed,
    /// Nobody sends it by hand, or it is done.
    #[error("this refund does not wait for somebody to send it")]
    NotByHand,
    /// The numbers do not fit.
    #[error(transparent)]
    Money(#[from] MoneyError),
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
}

impl From<StateError> for RefundError {
    fn from(cause: StateError) -> Self {
        match cause {
            StateError::Db(cause) => Self::Db(cause),
            other => Self::Db(DbError::sql(other)),
        }
    }
}

const SELECT: &str =
    "select r.id, r.payment_id, r.amount, r.state, r.reason, r.key, r.by_hand, r.error from refunds r";

/// The refund of a number.
pub fn by_id(tx: &mut Tx, id: i64) -> Result<Option<Refund>, DbError> {
    let row = tx.row(&format!("{SELECT} where r.id = :id"), &[("id", id.into())])?;
    row.map(|row| Refund::of(&row)).transpose()
}

/// Refunds of an order.
pub fn of_order(tx: &mut Tx, order: i64) -> Result<Vec<Refund>, DbError> {
    let sql = format!("{SELECT} join payments p on p.id = r.payment_id where p.order_id = :id order by r.id");
    tx.rows(&sql, &[("id", order.into())])?.iter().map(Refund::of).collect()
}

/// What the refunds of an order are for, those that failed left out.
pub fn parts_of_order(tx: &mut Tx, order: i64) -> Result<Vec<Part>, DbError> {
    parts(tx, "p.order_id = :id and r.state <> 'kFailed'", order)
}

fn parts(tx: &mut Tx, which: &str, id: i64) -> Result<Vec<Part>, DbError> {
    let sql = format!(
        "select l.refund_id, l.kind, l.order_line_id, l.quantity, l.amount, l.tax from refund_lines l
         join refunds r on r.id = l.refund_id join payments p on p.id = r.payment_id where {which} order by l.id"
    );
    tx.rows(&sql, &[("id", id.into())])?.iter().map(Part::of).collect()
}

/// Refunds of which nobody knows what became of them, the oldest first; not those that people send.
pub fn unanswered(tx: &mut Tx, before: Timestamp, most: u32) -> Result<Vec<Refund>, DbError> {
    let sql = format!(
        "{SELECT} where r.state in ('kOpen', 'kUnknown') and not r.by_hand and r.changed < :before
         order by r.changed, r.id limit :most"
    );
    let params = [("before", micros(before).into()), ("most", most.into())];
    tx.rows(&sql, &params)?.iter().map(Refund::of).collect()
}

/// How a line stands for refunds.
pub fn sold(line: &Line) -> LineSold {
    LineSold {
        total: line.total,
        tax: line.tax,
        quantity: line.quantity,
        back: line.returned + line.cancelled,
        refunded_quantity: line.refunded_quantity,
        refunded: line.refunded,
        refunded_tax: line.refunded_tax,
    }
}

/// Money and the tax in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worth {
    /// The amount, with its tax.
    pub amount: i64,
    /// The tax.
    pub tax: i64,
}

/// What the shipping of an order cost, and what of it was refunded.
pub fn shipping(tx: &mut Tx, order: &Order, lines: &[Line]) -> Result<(Worth, Worth), RefundError> {
    // What is not the lines' is the tax of shipping and fees, by their sums.
    let rest = order.tax - lines.iter().map(|line| line.tax).sum::<i64>();
    let other = order.shipping + order.fees;
    let tax = if other > 0 { scaled(rest, order.shipping, other)? } else { 0 };
    let on_top = if order.tax_included { 0 } else { tax };
    let mut refunded = Worth::default();
    for part in parts_of_order(tx, order.id)?.iter().filter(|part| part.kind == "kShipping") {
        refunded.amount += part.amount;
        refunded.tax += part.tax;
    }
    Ok((Worth { amount: order.shipping + on_top, tax }, refunded))
}

/// A refund as it was begun: its rows, one for each payment it goes back by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The rows.
    pub ids: Vec<i64>,
    /// Whether an earlier attempt began it.
    pub is_repeat: bool,
}

/// Begins a refund; `author` gives it back. A key that began one already answers with it, whatever is left.
pub fn begin(
    tx: &mut Tx,
    new: &NewRefund<'_>,
    author: Option<i64>,
    now: Timestamp,
) -> Result<Begun, RefundError> {
    if new.key.is_empty() || new.key.len() > 100 || new.key.contains('#') {
        return Err(RefundError::BadKey);
    }
    let order = hold(tx, new.order_id)?;
    if let Some(ids) = earlier(tx, new)? {
        return Ok(Begun { ids, is_repeat: true });
    }
    check_return(tx, new)?;
    let lines = orders::lines(tx, order.id)?;
    let mut wanted = line_parts(new, &lines)?;
    wanted.extend(shipping_part(tx, new, &order, &lines)?);
    if new.extra < 0 {
        return Err(RefundError::Nothing);
    }
    if new.extra > 0 {
        wanted.push(part("kExtra", None, 0, Worth { amount: new.extra, tax: 0 }));
    }
    let paid = payments::of_order(tx, order.id)?;
    let left: Vec<i64> = paid.iter().map(|payment| payment.captured - payment.refunded).collect();
    let held: i64 = left.iter().sum();
    round_down(&mut wanted, &order, held);
    let amount: i64 = wanted.iter().map(|part| part.amount).sum();
    if amount < 1 {
        return Err(RefundError::Nothing);
    }
    let dealt =
        over_payments(&left, amount).ok_or(RefundError::TooMuch { what: "the payments", left: held })?;
    let dealt: Vec<(i64, i64)> =
        paid.iter().map(|payment| payment.id).zip(dealt).filter(|(_, amount)| *amount > 0).collect();
    let ids = write(tx, new, author, &dealt, &wanted, now)?;
    for part in &wanted {
        count(tx, part, 1)?;
    }
    recount(tx, order.id, author, now)?;
    Ok(Begun { ids, is_repeat: false })
}

fn hold(tx: &mut Tx, order: i64) -> Result<Order, RefundError> {
    match held(tx, order) {
        Err(StateError::Unknown) => Err(RefundError::Unknown { what: "order", id: order }),
        other => Ok(other?),
    }
}

/// The rows that an earlier attempt made, if what it asked for is the same.
fn earlier(tx: &mut Tx, new: &NewRefund<'_>) -> Result<Option<Vec<i64>>, RefundError> {
    let sql = "select p.order_id from refunds r join payments p on p.id = r.payment_id where r.key = :key";
    let Some(row) = tx.row(sql, &[("key", new.key.into())])? else { return Ok(None) };
    if row.get::<i64>("order_id")? != new.order_id {
        return Err(RefundError::KeyUsed);
    }
    let further = format!("{}#", new.key);
    let all = of_order(tx, new.order_id)?;
    let mine = all.iter().filter(|refund| refund.key == new.key || refund.key.starts_with(&further));
    let ids: Vec<i64> = mine.map(|refund| refund.id).collect();
    let mut asked: Vec<(Option<i64>, i64)> = Vec::new();
    let (mut shipping, mut extra) = (0, 0);
    for id in &ids {
        for part in parts(tx, "r.id = :id", *id)? {
            match part.kind.as_str() {
                "kShipping" => shipping += part.amount,
                "kExtra" => extra += part.amount,
                _ => match asked.iter_mut().find(|(line, _)| *line == part.order_line_id) {
                    Some((_, pieces)) => *pieces += part.quantity,
                    None => asked.push((part.order_line_id, part.quantity)),
                },
            }
        }
    }
    let mut wanted: Vec<_> = new.lines.iter().map(|line| (Some(line.line_id), line.pieces)).collect();
    asked.sort_unstable();
    wanted.sort_unstable();
    // Rounding of cash may have taken a little off one of the sums.
    let is_same = asked == wanted && (shipping > 0) == (new.shipping > 0) && (extra > 0) == (new.extra > 0);
    if is_same { Ok(Some(ids)) } else { Err(RefundError::KeyUsed) }
}

fn check_return(tx: &mut Tx, new: &NewRefund<'_>) -> Result<(), RefundError> {
    let Some(id) = new.return_id else { return Ok(()) };
    let sql = "select 1 as yes from returns where id = :id and order_id = :order_id";
    let row = tx.row(sql, &[("id", id.into()), ("order_id", new.order_id.into())])?;
    row.map(|_| ()).ok_or(RefundError::Unknown { what: "return", id })
}

fn part(kind: &str, line: Option<i64>, quantity: i64, worth: Worth) -> Part {
    Part {
        refund_id: 0,
        kind: kind.to_owned(),
        order_line_id: line,
        quantity,
        amount: worth.amount,
        tax: worth.tax,
    }
}

fn line_parts(new: &NewRefund<'_>, lines: &[Line]) -> Result<Vec<Part>, RefundError> {
    let mut wanted: Vec<Part> = Vec::with_capacity(new.lines.len());
    for back in new.lines {
        let id = back.line_id;
        let line = lines.iter().find(|line| line.id == id);
        let line = sold(line.ok_or(RefundError::Unknown { what: "line", id })?);
        if wanted.iter().any(|part| part.order_line_id == Some(id)) {
            return Err(RefundError::Twice(id));
        }
        let worth = match back.amount {
            Some(amount) => of_amount(line, back.pieces, amount),
            None => of_pieces(line, back.pieces),
        };
        let worth = worth.map_err(|rule| match rule {
            Rule::TooMany { left } => RefundError::TooMany { line: id, left },
            Rule::TooMuch { left } => RefundError::TooMuch { what: "the line", left },
            Rule::Nothing => RefundError::Nothing,
            Rule::Money(cause) => RefundError::Money(cause),
        })?;
        wanted.push(part("kLine", Some(id), back.pieces, Worth { amount: worth.amount, tax: worth.tax }));
    }
    Ok(wanted)
}

fn shipping_part(
    tx: &mut Tx,
    new: &NewRefund<'_>,
    order: &Order,
    lines: &[Line],
) -> Result<Option<Part>, RefundError> {
    match new.shipping {
        0 => return Ok(None),
        ..0 => return Err(RefundError::Nothing),
        _ => {}
    }
    let (cost, before) = shipping(tx, order, lines)?;
    let left = cost.amount - before.amount;
    if new.shipping > left {
        return Err(RefundError::TooMuch { what: "shipping", left });
    }
    let tax = scaled(cost.tax, before.amount + new.shipping, cost.amount)? - before.tax;
    let worth = Worth { amount: new.shipping, tax: tax.clamp(0, new.shipping) };
    Ok(Some(part("kShipping", None, 0, worth)))
}

/// Where cash was rounded down, the parts come to a little more than was paid: the last one is that much smaller.
fn round_down(wanted: &mut [Part], order: &Order, held: i64) {
    let beyond = wanted.iter().map(|part| part.amount).sum::<i64>() - held;
    if (1..=-order.rounding).contains(&beyond)
        && let Some(part) = wanted.iter_mut().rev().find(|part| part.amount >= beyond)
    {
        part.amount -= beyond;
        part.tax = part.tax.min(part.amount);
    }
}

/// Writes a row for each payment, and deals the parts out to them.
fn write(
    tx: &mut Tx,
    new: &NewRefund<'_>,
    author: Option<i64>,
    dealt: &[(i64, i64)],
    wanted: &[Part],
    now: Timestamp,
) -> Result<Vec<i64>, RefundError> {
    let mut parts = wanted.to_vec();
    let mut ids = Vec::with_capacity(dealt.len());
    for (number, (payment, amount)) in (1..).zip(dealt) {
        let key = if number == 1 { new.key.to_owned() } else { format!("{}#{number}", new.key) };
        let id = insert(tx, new, author, (*payment, *amount), &key, now)?;
        let mut room = *amount;
        for part in &mut parts {
            let taken = part.amount.min(room);
            if taken == 0 && (part.amount > 0 || part.quantity == 0) {
                continue;
            }
            room -= taken;
            let tax = part.tax.min(taken);
            let piece = Part { refund_id: id, amount: taken, tax, ..part.clone() };
            insert_part(tx, &piece)?;
            part.amount -= taken;
            part.tax -= tax;
            // The pieces belong to the first row that pays for them.
            part.quantity = 0;
        }
        ids.push(id);
    }
    Ok(ids)
}

fn insert(
    tx: &mut Tx,
    new: &NewRefund<'_>,
    author: Option<i64>,
    (payment, amount): (i64, i64),
    key: &str,
    now: Timestamp,
) -> Result<i64, RefundError> {
    let count = tx.run(
        "update payments set refunded = refunded + :amount, changed = :now, version = version + 1
         where id = :id and captured - refunded >= :amount",
        &[("id", payment.into()), ("amount", amount.into()), ("now", micros(now).into())],
    )?;
    if count == 0 {
        return Err(RefundError::TooMuch { what: "the payments", left: 0 });
    }
    let values = [
        ("payment_id", payment.into()),
        ("amount", amount.into()),
        ("reason", new.reason.into()),
        ("return_id", new.return_id.into()),
        ("key", key.into()),
        ("author_id", author.into()),
        ("created", micros(now).into()),
        ("changed", micros(now).into()),
    ];
    Ok(rows::insert(tx, "refunds", &values)?)
}

fn insert_part(tx: &mut Tx, part: &Part) -> Result<(), DbError> {
    let values = [
        ("refund_id", part.refund_id.into()),
        ("kind", (&part.kind).into()),
        ("order_line_id", part.order_line_id.into()),
        ("quantity", part.quantity.into()),
        ("amount", part.amount.into()),
        ("tax", part.tax.into()),
    ];
    rows::insert(tx, "refund_lines", &values)?;
    Ok(())
}

/// Counts a part on its line, or takes it off again (`times` is −1).
fn count(tx: &mut Tx, part: &Part, times: i64) -> Result<(), DbError> {
    let Some(line) = part.order_line_id else { return Ok(()) };
    tx.run(
        "update order_lines set refunded = refunded + :amount, refunded_tax = refunded_tax + :tax,
           refunded_quantity = refunded_quantity + :quantity where id = :line",
        &[
            ("line", line.into()),
            ("amount", (times * part.amount).into()),
            ("tax", (times * part.tax).into()),
            ("quantity", (times * part.quantity).into()),
        ],
    )?;
    Ok(())
}

/// The refund and its order, whose row is held.
fn held_refund(tx: &mut Tx, refund: i64) -> Result<(Refund, i64), RefundError> {
    let unknown = || RefundError::Unknown { what: "refund", id: refund };
    let sql = "select p.order_id from refunds r join payments p on p.id = r.payment_id where r.id = :id";
    let order: i64 = tx.row(sql, &[("id", refund.into())])?.ok_or_else(unknown)?.get("order_id")?;
    hold(tx, order)?;
    Ok((by_id(tx, refund)?.ok_or_else(unknown)?, order))
}

/// Writes what the provider answered to a refund; one that failed gives everything back, once. Whether it was news.
pub fn answered(
    tx: &mut Tx,
    refund: i64,
    state: &str,
    provider_ref: Option<&str>,
    error: &str,
    now: Timestamp,
) -> Result<bool, RefundError> {
    let (was, order) = held_refund(tx, refund)?;
    settle(tx, &was, order, (state, provider_ref, error), now)
}

/// Writes the answer to a refund whose order is held.
fn settle(
    tx: &mut Tx,
    was: &Refund,
    order: i64,
    (state, provider_ref, error): (&str, Option<&str>, &str),
    now: Timestamp,
) -> Result<bool, RefundError> {
    if !matches!(was.state.as_str(), "kOpen" | "kUnknown") {
        return Ok(false);
    }
    tx.run(
        "update refunds set state = :state, provider_ref = coalesce(:provider_ref, provider_ref), error = :error,
           changed = :now where id = :id",
        &[
            ("id", was.id.into()),
            ("state", state.into()),
            ("provider_ref", provider_ref.into()),
            ("error", error.into()),
            ("now", micros(now).into()),
        ],
    )?;
    if state == "kFailed" {
        tx.run(
            "update payments set refunded = refunded - :amount, changed = :now, version = version + 1 where id = :id",
            &[("id", was.payment_id.into()), ("amount", was.amount.into()), ("now", micros(now).into())],
        )?;
        for part in parts(tx, "r.id = :id", was.id)? {
            count(tx, &part, -1)?;
        }
        recount(tx, order, None, now)?;
    }
    Ok(true)
}

/// People of the store send this one themselves; `false` where that was known.
pub fn leave_to_people(tx: &mut Tx, refund: i64, now: Timestamp) -> Result<bool, RefundError> {
    held_refund(tx, refund)?;
    let count = tx.run(
        "update refunds set by_hand = true, state = 'kOpen', error = '', changed = :now
         where id = :id and state in ('kOpen', 'kUnknown') and not by_hand",
        &[("id", refund.into()), ("now", micros(now).into())],
    )?;
    Ok(count == 1)
}

/// Somebody sent a refund that was left to people, or will not send it; the order it is of. Said again it changes nothing.
pub fn told_by_people(
    tx: &mut Tx,
    refund: i64,
    is_sent: bool,
    words: &str,
    now: Timestamp,
) -> Result<(i64, bool), RefundError> {
    let (was, order) = held_refund(tx, refund)?;
    let state = if is_sent { "kDone" } else { "kFailed" };
    if !was.by_hand || (was.state != "kOpen" && was.state != state) {
        return Err(RefundError::NotByHand);
    }
    Ok((order, settle(tx, &was, order, (state, None, words), now)?))
}
