//! Payments. A row is committed before the provider is asked, outside of any transaction, and its answer
//! written after; what got no answer is asked again under the same key.

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::orders::{StateError, held, recount};
use crate::record::record;
use crate::{DbError, Tx, micros};

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
    let order = hold_order(tx, id)?;
    tx.run(
        "update payments set state = :state, captured = case when captured > :captured then captured else :captured end,
           provider_ref = coalesce(:provider_ref, provider_ref), error = :error, changed = :now, version = version + 1
         where id = :id",
        &[
            ("id", id.into()),
            ("state", (&outcome.state).into()),
            ("captured", outcome.captured.into()),
            ("provider_ref", outcome.provider_ref.clone().into()),
            ("error", (&outcome.error).into()),
            ("now", micros(now).into()),
        ],
    )?;
    recount(tx, order, None, now)
}

/// Holds the order of a payment: whoever changes payments or refunds holds it first.
pub fn hold_order(tx: &mut Tx, payment: i64) -> Result<i64, StateError> {
    let order = by_id(tx, payment)?.ok_or(StateError::Unknown)?.order_id;
    held(tx, order)?;
    Ok(order)
}

/// Money that somebody wrote down by hand: it is added to what came before, and the payment is paid when all is there.
pub fn came(
    tx: &mut Tx,
    id: i64,
    amount: i64,
    author: Option<i64>,
    now: Timestamp,
) -> Result<(), StateError> {
    let order = hold_order(tx, id)?;
    tx.run(
        "update payments set captured = captured + :amount, changed = :now, version = version + 1,
           state = case when captured + :amount >= amount then 'kPaid' else 'kOpen' end where id = :id",
        &[("id", id.into()), ("amount", amount.into()), ("now", micros(now).into())],
    )?;
    recount(tx, order, author, now)
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

/// What was told of something under this number, if it was.
pub fn told(tx: &mut Tx, provider: &str, event: &str) -> Result<Option<String>, DbError> {
    let row = tx.row(
        "select kind from payment_events where provider = :provider and event = :event",
        &[("provider", provider.into()), ("event", event.into())],
    )?;
    row.map(|row| row.get("kind")).transpose()
}

/// The payment of which something was told under this number, if it was.
pub fn told_of(tx: &mut Tx, provider: &str, event: &str) -> Result<Option<i64>, DbError> {
    let row = tx.row(
        "select payment_id from payment_events where provider = :provider and event = :event",
        &[("provider", provider.into()), ("event", event.into())],
    )?;
    row.map_or(Ok(None), |row| row.get("payment_id"))
}

/// Puts a payment off, so that the next round asks for others first.
pub fn put_off(tx: &mut Tx, id: i64, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "update payments set changed = :now where id = :id",
        &[("id", id.into()), ("now", micros(now).into())],
    )?;
    Ok(())
}
