//! Payments and refunds. A row is committed before the provider is asked, outside of any transaction, and its answer
//! written after; what got no answer is asked again under the same key.

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::orders::{StateError, recount};
use crate::record::record;
use crate::{DbError, Tx, micros, rows};

record! {
    /// A payment.
    pub struct Payment {
        /// Number.
        pub id: i64,
        /// The order.
        pub order_id: i64,
        /// The way to pay.
        pub method_id: Option<i64>,
        /// What carries it out.
        pub provider: String,
        /// What is to be paid.
        pub amount: i64,
        /// Currency.
        pub currency: String,
        /// `kOpen`, `kHeld`, `kPaid`, `kFailed`, `kVoid`, `kUnknown`.
        pub state: String,
        /// What was taken.
        pub captured: i64,
        /// What was given back.
        pub refunded: i64,
        /// The provider's number of it.
        pub provider_ref: Option<String>,
        /// Key under which the provider knows the attempt.
        pub key: String,
        /// What the provider said.
        pub error: String,
    }
}

/// What a provider answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The payment's new state.
    pub state: String,
    /// What was taken, all in all.
    pub captured: i64,
    /// The provider's number of it.
    pub provider_ref: Option<String>,
    /// What it said.
    pub error: String,
}

const SELECT: &str =
    "select id, order_id, method_id, provider, amount, currency, state, captured, refunded, provider_ref, key, error
   from payments";

/// Begins a payment; one that was begun under the key already is answered.
pub fn start(
    tx: &mut Tx,
    order: i64,
    method: Option<i64>,
    provider: &str,
    amount: (i64, &str),
    key: &str,
    now: Timestamp,
) -> Result<Payment, DbError> {
    tx.run(
        "insert into payments (order_id, method_id, provider, amount, currency, key, created, changed)
         values (:order_id, :method, :provider, :amount, :currency, :key, :now, :now) on conflict (key) do nothing",
        &[
            ("order_id", order.into()),
            ("method", method.into()),
            ("provider", provider.into()),
            ("amount", amount.0.into()),
            ("currency", amount.1.into()),
            ("key", key.into()),
            ("now", micros(now).into()),
        ],
    )?;
    by_key(tx, key)?.ok_or_else(|| DbError::Dangling("a payment is gone".to_owned()))
}

/// The payment of a key.
pub fn by_key(tx: &mut Tx, key: &str) -> Result<Option<Payment>, DbError> {
    let row = tx.row(&format!("{SELECT} where key = :key"), &[("key", key.into())])?;
    row.map(|row| Payment::of(&row)).transpose()
}

/// The payment of a number.
pub fn by_id(tx: &mut Tx, id: i64) -> Result<Option<Payment>, DbError> {
    let row = tx.row(&format!("{SELECT} where id = :id"), &[("id", id.into())])?;
    row.map(|row| Payment::of(&row)).transpose()
}

/// The payment that a provider knows by this number.
pub fn by_ref(tx: &mut Tx, provider: &str, provider_ref: &str) -> Result<Option<Payment>, DbError> {
    let sql = format!("{SELECT} where provider = :provider and provider_ref = :provider_ref");
    let row = tx.row(&sql, &[("provider", provider.into()), ("provider_ref", provider_ref.into())])?;
    row.map(|row| Payment::of(&row)).transpose()
}

/// Payments of an order.
pub fn of_order(tx: &mut Tx, order: i64) -> Result<Vec<Payment>, DbError> {
    let sql = format!("{SELECT} where order_id = :id order by id");
    tx.rows(&sql, &[("id", order.into())])?.iter().map(Payment::of).collect()
}

/// Payments of which nobody knows what became of them, the oldest first.
pub fn unanswered(tx: &mut Tx, before: Timestamp, most: u32) -> Result<Vec<Payment>, DbError> {
    let sql = format!(
        "{SELECT} where state in ('kOpen', 'kUnknown') and changed < :before
         and (state = 'kUnknown' or provider_ref is not null) order by changed, id limit :most"
    );
    let params = [("before", micros(before).into()), ("most", most.into())];
    tx.rows(&sql, &params)?.iter().map(Payment::of).collect()
}

/// Writes what the provider answered, and what follows for the order. Paid after the order was cancelled, or twice, is
/// written down all the same.
pub fn answered(tx: &mut Tx, id: i64, outcome: &Outcome, now: Timestamp) -> Result<(), StateError> {
    let row = tx.row(
        "update payments set state = :state, captured = case when captured > :captured then captured else :captured end,
           provider_ref = coalesce(:provider_ref, provider_ref), error = :error, changed = :now, version = version + 1
         where id = :id returning order_id",
        &[
            ("id", id.into()),
            ("state", (&outcome.state).into()),
            ("captured", outcome.captured.into()),
            ("provider_ref", outcome.provider_ref.clone().into()),
            ("error", (&outcome.error).into()),
            ("now", micros(now).into()),
        ],
    )?;
    let order = row.ok_or(StateError::Unknown)?.get("order_id")?;
    recount(tx, order, None, now)
}

/// A refund that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewRefund<'a> {
    /// The payment.
    pub payment_id: i64,
    /// How much.
    pub amount: i64,
    /// Why.
    pub reason: &'a str,
    /// The return it is for.
    pub return_id: Option<i64>,
    /// Key under which the provider knows the attempt.
    pub key: &'a str,
    /// Who gives it back.
    pub author_id: Option<i64>,
}

/// Begins a refund; `None` where the payment does not hold so much any more. The row of a key is there once.
pub fn start_refund(tx: &mut Tx, new: &NewRefund<'_>, now: Timestamp) -> Result<Option<i64>, StateError> {
    let NewRefund { payment_id: payment, amount, reason, return_id, key, author_id: author } = *new;
    tx.lock_row("payments", payment)?;
    if let Some(row) = tx.row("select id from refunds where key = :key", &[("key", key.into())])? {
        return Ok(Some(row.get("id")?));
    }
    let row = tx.row(
        "update payments set refunded = refunded + :amount, changed = :now, version = version + 1
         where id = :id and :amount > 0 and captured - refunded >= :amount returning order_id",
        &[("id", payment.into()), ("amount", amount.into()), ("now", micros(now).into())],
    )?;
    let Some(row) = row else { return Ok(None) };
    let id = rows::insert(
        tx,
        "refunds",
        &[
            ("payment_id", payment.into()),
            ("amount", amount.into()),
            ("reason", reason.into()),
            ("return_id", return_id.into()),
            ("key", key.into()),
            ("author_id", author.into()),
            ("created", micros(now).into()),
            ("changed", micros(now).into()),
        ],
    )?;
    recount(tx, row.get("order_id")?, author, now)?;
    Ok(Some(id))
}

/// Writes what the provider answered to a refund; one that failed gives the payment its money back, once.
pub fn refund_answered(
    tx: &mut Tx,
    refund: i64,
    state: &str,
    provider_ref: Option<&str>,
    error: &str,
    now: Timestamp,
) -> Result<(), StateError> {
    let row = tx.row(
        "update refunds set state = :state, provider_ref = coalesce(:provider_ref, provider_ref), error = :error,
           changed = :now where id = :id and state in ('kOpen', 'kUnknown') returning payment_id, amount",
        &[
            ("id", refund.into()),
            ("state", state.into()),
            ("provider_ref", provider_ref.into()),
            ("error", error.into()),
            ("now", micros(now).into()),
        ],
    )?;
    let (Some(row), "kFailed") = (row, state) else { return Ok(()) };
    let of = [("id", row.get::<i64>("payment_id")?.into()), ("amount", row.get::<i64>("amount")?.into())];
    let row =
        tx.row("update payments set refunded = refunded - :amount where id = :id returning order_id", &of)?;
    let order = row.ok_or(StateError::Unknown)?.get("order_id")?;
    recount(tx, order, None, now)
}

/// A provider told something; `false` where it was told before.
pub fn event(
    tx: &mut Tx,
    provider: &str,
    event: &str,
    payment: Option<i64>,
    kind: &str,
    data: &Json,
    now: Timestamp,
) -> Result<bool, DbError> {
    let count = tx.run(
        "insert into payment_events (provider, event, payment_id, kind, data, time)
         values (:provider, :event, :payment, :kind, :data, :now) on conflict (provider, event) do nothing",
        &[
            ("provider", provider.into()),
            ("event", event.into()),
            ("payment", payment.into()),
            ("kind", kind.into()),
            ("data", data.to_string().into()),
            ("now", micros(now).into()),
        ],
    )?;
    Ok(count > 0)
}

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
        /// Key under which the provider knows the attempt.
        pub key: String,
    }
}

/// The refund of a number.
pub fn refund(tx: &mut Tx, id: i64) -> Result<Option<Refund>, DbError> {
    let sql = "select id, payment_id, amount, state, key from refunds where id = :id";
    tx.row(sql, &[("id", id.into())])?.map(|row| Refund::of(&row)).transpose()
}

/// Refunds of which nobody knows what became of them, the oldest first.
pub fn unanswered_refunds(tx: &mut Tx, before: Timestamp, most: u32) -> Result<Vec<Refund>, DbError> {
    let rows = tx.rows(
        "select id, payment_id, amount, state, key from refunds
         where state in ('kOpen', 'kUnknown') and changed < :before order by changed, id limit :most",
        &[("before", micros(before).into()), ("most", most.into())],
    )?;
    rows.iter().map(Refund::of).collect()
}

/// What was told of something under this number, if it was.
pub fn told(tx: &mut Tx, provider: &str, event: &str) -> Result<Option<String>, DbError> {
    let row = tx.row(
        "select kind from payment_events where provider = :provider and event = :event",
        &[("provider", provider.into()), ("event", event.into())],
    )?;
    row.map(|row| row.get("kind")).transpose()
}

/// Puts a payment off, so that the next round asks for others first.
pub fn put_off(tx: &mut Tx, id: i64, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "update payments set changed = :now where id = :id",
        &[("id", id.into()), ("now", micros(now).into())],
    )?;
    Ok(())
}
