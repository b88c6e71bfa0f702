//! How orders are read.

use shop::text::folded;

use crate::customers::{ADDRESS, Address};
use crate::record::record;
use crate::{DbError, Tx, Value};

record! {
    /// An order.
    pub struct Order {
        /// Number of the row.
        pub id: i64,
        /// Number for people.
        pub number: Option<String>,
        /// State, of `order_states`.
        pub state: String,
        /// The state it counts as.
        pub base: String,
        /// State of the payment.
        pub pay: String,
        /// State of the delivery.
        pub delivery: String,
        /// The customer.
        pub customer_id: Option<i64>,
        /// E-mail address.
        pub email: String,
        /// Telephone number.
        pub phone: String,
        /// Language.
        pub language: String,
        /// Currency.
        pub currency: String,
        /// Digits of its minor unit.
        pub decimals: i64,
        /// Whether prices hold the tax.
        pub tax_included: bool,
        /// Price times quantity of all lines.
        pub goods: i64,
        /// All discounts.
        pub discount: i64,
        /// Shipping.
        pub shipping: i64,
        /// Fees.
        pub fees: i64,
        /// Rounding of cash.
        pub rounding: i64,
        /// All taxes.
        pub tax: i64,
        /// What is to be paid.
        pub total: i64,
        /// What was paid.
        pub paid: i64,
        /// What was given back.
        pub refunded: i64,
        /// Name of the way to send.
        pub shipping_name: String,
        /// Name of the way to pay.
        pub payment_name: String,
        /// What the customer adds.
        pub comment: String,
        /// When it was placed.
        pub placed: Option<String>,
        /// Until when it must be paid.
        pub pay_until: Option<String>,
        /// Why it was cancelled.
        pub reason: String,
        /// Grows with every change.
        pub version: i64,
        /// The way to pay.
        pub payment_method_id: Option<i64>,
        /// Key of the attempt that placed it.
        pub key: Option<String>,
    }
}

record! {
    /// A line of an order.
    pub struct Line {
        /// Number.
        pub id: i64,
        /// The variant.
        pub variant_id: Option<i64>,
        /// The product.
        pub product_id: Option<i64>,
        /// Article number.
        pub sku: String,
        /// Name.
        pub name: String,
        /// Options in words.
        pub options: String,
        /// How many were ordered.
        pub quantity: i64,
        /// How many of them were cancelled.
        pub cancelled: i64,
        /// How many were sent.
        pub shipped: i64,
        /// How many came back.
        pub returned: i64,
        /// Price of one.
        pub price: i64,
        /// Price times quantity.
        pub amount: i64,
        /// Discounts.
        pub discount: i64,
        /// Tax.
        pub tax: i64,
        /// What the line comes to.
        pub total: i64,
        /// How much of it was given back.
        pub refunded: i64,
        /// How much tax was in that.
        pub refunded_tax: i64,
        /// For how many pieces.
        pub refunded_quantity: i64,
    }
}

record! {
    /// What happened to an order.
    pub struct HistoryEntry {
        /// When.
        pub time: String,
        /// Who did it.
        pub author_id: Option<i64>,
        /// `kState`, `kPay`, `kDelivery`, `kNote`.
        pub axis: String,
        /// State before.
        pub old: String,
        /// State after.
        pub new: String,
        /// What there is to say.
        pub text: String,
        /// Whether the customer sees it.
        pub for_customer: bool,
    }
}

/// Which orders are wanted.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Base or own state.
    pub state: Option<String>,
    /// Only orders before this row, for the next page.
    pub before: Option<i64>,
}

const SELECT: &str = "select o.id, o.number, o.state, s.base, o.pay, o.delivery, o.customer_id, o.email, o.phone,
   o.language, o.currency, o.decimals, o.tax_included, o.goods, o.discount, o.shipping, o.fees, o.rounding, o.tax,
   o.total, o.paid, o.refunded, o.shipping_name, o.payment_name, o.comment, o.placed, o.pay_until, o.reason, o.version,
   o.payment_method_id, o.key
   from orders o join order_states s on s.skey = o.state";

fn one(tx: &mut Tx, which: &str, value: Value) -> Result<Option<Order>, DbError> {
    let row = tx.row(&format!("{SELECT} where o.{which} = :value"), &[("value", value)])?;
    row.map(|row| Order::of(&row)).transpose()
}

/// The order of this row.
pub fn by_id(tx: &mut Tx, id: i64) -> Result<Option<Order>, DbError> {
    one(tx, "id", id.into())
}

/// The order whose page has this word in its address.
pub fn by_token(tx: &mut Tx, token_hash: &[u8]) -> Result<Option<Order>, DbError> {
    one(tx, "token_hash", token_hash.into())
}

/// The order that this attempt placed already.
pub(super) fn by_key(tx: &mut Tx, key: &str) -> Result<Option<Order>, DbError> {
    one(tx, "key", key.into())
}

/// The order that was made of this cart.
pub fn by_cart(tx: &mut Tx, cart: i64) -> Result<Option<Order>, DbError> {
    one(tx, "cart_id", cart.into())
}

/// Orders of a customer, the newest first.
pub fn of_customer(tx: &mut Tx, customer: i64, most: u32) -> Result<Vec<Order>, DbError> {
    let sql = format!("{SELECT} where o.customer_id = :customer order by o.id desc limit :most");
    tx.rows(&sql, &[("customer", customer.into()), ("most", most.into())])?.iter().map(Order::of).collect()
}

/// Orders, the newest first.
pub fn list(tx: &mut Tx, selection: &Selection, most: u32) -> Result<Vec<Order>, DbError> {
    let state = if selection.state.is_some() { " and (o.state = :state or s.base = :state)" } else { "" };
    let sql = format!("{SELECT} where o.id < :before{state} order by o.id desc limit :most");
    let mut params = vec![("before", selection.before.unwrap_or(i64::MAX).into()), ("most", most.into())];
    params.extend(selection.state.as_ref().map(|state| ("state", state.into())));
    tx.rows(&sql, &params)?.iter().map(Order::of).collect()
}

/// Lines of an order, by position.
pub fn lines(tx: &mut Tx, order: i64) -> Result<Vec<Line>, DbError> {
    let rows = tx.rows(
        "select id, variant_id, product_id, sku, name, options, quantity, cancelled, shipped, returned, price, amount,
           discount, tax, total, refunded, refunded_tax, refunded_quantity
         from order_lines where order_id = :id order by position, id",
        &[("id", order.into())],
    )?;
    rows.iter().map(Line::of).collect()
}

/// What happened to an order, the oldest first.
pub fn history(tx: &mut Tx, order: i64, for_customer: bool) -> Result<Vec<HistoryEntry>, DbError> {
    let which = if for_customer { " and for_customer" } else { "" };
    let sql = format!(
        "select time, author_id, axis, old, new, text, for_customer from order_history
         where order_id = :id{which} order by id"
    );
    tx.rows(&sql, &[("id", order.into())])?.iter().map(HistoryEntry::of).collect()
}

/// The address of an order, of the delivery or of the invoice.
pub fn address(tx: &mut Tx, order: i64, kind: &str) -> Result<Option<Address>, DbError> {
    let sql = format!(
        "select id, {} from order_addresses where order_id = :id and kind = :kind",
        ADDRESS.join(", ")
    );
    tx.row(&sql, &[("id", order.into()), ("kind", kind.into())])?.map(|row| Address::read(&row)).transpose()
}

record! {
    /// A row of an order's sums.
    pub struct AdjustmentRow {
        /// The line it belongs to.
        pub order_line_id: Option<i64>,
        /// Kind.
        pub kind: String,
        /// The coupon.
        pub code: String,
        /// Name.
        pub name: String,
        /// Minor units.
        pub amount: i64,
    }
}

/// Every change of an amount of an order.
pub fn adjustments(tx: &mut Tx, order: i64) -> Result<Vec<AdjustmentRow>, DbError> {
    let sql = "select order_line_id, kind, code, name, amount from order_adjustments where order_id = :id order by id";
    tx.rows(sql, &[("id", order.into())])?.iter().map(AdjustmentRow::of).collect()
}

record! {
    /// A parcel.
    pub struct Shipment {
        /// Number.
        pub id: i64,
        /// Who carries it.
        pub carrier: String,
        /// Number by which it is followed.
        pub tracking: String,
        /// State.
        pub state: String,
        /// When it left.
        pub sent: Option<String>,
    }
}

/// Parcels of an order.
pub fn shipments(tx: &mut Tx, order: i64) -> Result<Vec<Shipment>, DbError> {
    let sql = "select id, carrier, tracking, state, sent from shipments where order_id = :id order by id";
    tx.rows(sql, &[("id", order.into())])?.iter().map(Shipment::of).collect()
}

/// Whether somebody with this e-mail address ordered before; what was cancelled does not count.
pub fn has_ordered(tx: &mut Tx, email: &str) -> Result<bool, DbError> {
    let row = tx.row(
        "select 1 as yes from orders o join order_states s on s.skey = o.state
         where o.email_folded = :email and s.base <> 'kCancel' limit 1",
        &[("email", folded(email).into())],
    )?;
    Ok(row.is_some())
}
