//! How an order is placed: everything in one transaction, its number last.

use jiff::Timestamp;
use shop::order::{OrderFacts, OrderState, placed};
use shop::tax::TaxDisplay;
use shop::text::folded;
use shop::totals::{Basis, Taxed, Totals};

use super::read::{by_cart, by_key};
use crate::customers::Address;
use crate::stock::{self, Holder, ReserveError, Wanted};
use crate::{DbError, Tx, Value, carts, listing, micros, promotions, rows};

/// What a new order is made of, beside its totals.
#[derive(Clone, Debug, Default)]
pub struct NewOrder {
    /// The cart; its state and version are looked at.
    pub cart: Option<(i64, i64)>,
    /// Key of the attempt: one key, one order.
    pub key: String,
    /// Hash of the word in the address of its page.
    pub token_hash: Vec<u8>,
    /// The customer.
    pub customer_id: Option<i64>,
    /// E-mail address.
    pub email: String,
    /// Telephone number.
    pub phone: String,
    /// Language.
    pub language: String,
    /// Rate of the store's currency to the order's, in billionths.
    pub rate_e9: i64,
    /// Lines, in the order of the basis of the totals.
    pub lines: Vec<NewLine>,
    /// Address of the delivery.
    pub shipping_address: Option<Address>,
    /// Address of the invoice.
    pub billing_address: Option<Address>,
    /// Way to send: row and name.
    pub shipping_method: Option<(i64, String)>,
    /// Way to pay: row and name.
    pub payment_method: Option<(i64, String)>,
    /// Where the goods are fetched.
    pub location_id: Option<i64>,
    /// What the customer adds.
    pub comment: String,
    /// `kStorefront`, `kStaff`, `kImport`.
    pub source: String,
    /// Until when it must be paid, where it must be paid first.
    pub pay_until: Option<Timestamp>,
    /// Promotions whose use is counted.
    pub uses: Vec<Use>,
    /// Who types it; `None` for the shopper.
    pub author_id: Option<i64>,
}

/// What a line of an order keeps of the catalogue.
#[derive(Clone, Debug, Default)]
pub struct NewLine {
    /// The variant.
    pub variant_id: Option<i64>,
    /// Article number.
    pub sku: String,
    /// EAN, UPC or ISBN.
    pub gtin: String,
    /// Name.
    pub name: String,
    /// Options in words.
    pub options: String,
    /// Picture.
    pub file_id: Option<i64>,
    /// Measure of the quantity.
    pub measure: String,
    /// Grams of one.
    pub weight: Option<i64>,
    /// Cost of one, and its currency.
    pub cost: Option<(i64, String)>,
    /// Price of one before promotions that set prices.
    pub list_price: i64,
    /// Tax class.
    pub tax_class_id: Option<i64>,
}

/// A promotion that took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The promotion.
    pub promotion_id: i64,
    /// Its coupon.
    pub coupon_id: Option<i64>,
}

/// An order as it was placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its row.
    pub id: i64,
    /// Number for people.
    pub number: String,
    /// Whether it was placed by an earlier attempt.
    pub is_repeat: bool,
}

/// Why there is no order. The caller's transaction must end with the error.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Something is not there in the wanted quantity.
    #[error(transparent)]
    OutOfStock(ReserveError),
    /// A promotion was used up in the meantime.
    #[error("promotion {0} is used up")]
    UsedUp(i64),
    /// The cart is not as it was when the totals were worked out.
    #[error("the cart has changed")]
    CartChanged,
    /// Totals and lines do not belong together.
    #[error("{0} lines, and totals of {1}")]
    Lines(usize, usize),
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
}

impl From<ReserveError> for PlaceError {
    fn from(cause: ReserveError) -> Self {
        match cause {
            ReserveError::Db(cause) => Self::Db(cause),
            other => Self::OutOfStock(other),
        }
    }
}

/// Places an order. A key that placed one already, or a cart that became one, answers with that order.
pub fn place(
    tx: &mut Tx,
    new: &NewOrder,
    basis: &Basis,
    totals: &Totals,
    now: Timestamp,
) -> Result<Placed, PlaceError> {
    tx.lock(&format!("order {}", new.key))?;
    if let Some(placed) = earlier(tx, new)? {
        return Ok(placed);
    }
    if new.lines.len() != totals.lines.len() || new.lines.len() != basis.lines.len() {
        return Err(PlaceError::Lines(new.lines.len(), totals.lines.len()));
    }
    if let Some((cart, version)) = new.cart {
        close_cart(tx, cart, version, now)?;
        stock::release(tx, Holder::Cart(cart), now)?;
    }
    let order = insert_order(tx, new, basis, totals, now)?;
    let lines = insert_lines(tx, order, new, basis, totals)?;
    insert_adjustments(tx, order, &lines, totals)?;
    for (kind, address) in [("kShipping", &new.shipping_address), ("kBilling", &new.billing_address)] {
        if let Some(address) = address {
            let mut values = address.values();
            values.extend([("order_id", order.into()), ("kind", kind.into())]);
            rows::insert(tx, "order_addresses", &values)?;
        }
    }
    reserve(tx, new, basis, &lines, now)?;
    count_uses(tx, new, order)?;
    begin(tx, order, new, totals, now)?;
    for product in basis.lines.iter().map(|line| line.product_id) {
        listing::sold(tx, product, now)?;
    }
    let number = give_number(tx, order)?;
    Ok(Placed { id: order, number, is_repeat: false })
}

fn earlier(tx: &mut Tx, new: &NewOrder) -> Result<Option<Placed>, DbError> {
    let mut found = by_key(tx, &new.key)?;
    if let (None, Some((cart, _))) = (&found, new.cart) {
        // Two attempts at one cart wait for each other here.
        tx.lock_row("carts", cart)?;
        found = by_cart(tx, cart)?;
    }
    Ok(found.map(|order| Placed { id: order.id, number: order.number.unwrap_or_default(), is_repeat: true }))
}

fn close_cart(tx: &mut Tx, cart: i64, version: i64, now: Timestamp) -> Result<(), PlaceError> {
    match carts::by_id(tx, cart)? {
        Some(found) if found.state == "kOpen" && found.version == version => {}
        _ => return Err(PlaceError::CartChanged),
    }
    tx.run(
        "update carts set state = 'kOrdered', changed = :now, version = version + 1 where id = :cart",
        &[("cart", cart.into()), ("now", micros(now).into())],
    )?;
    Ok(())
}

fn insert_order(
    tx: &mut Tx,
    new: &NewOrder,
    basis: &Basis,
    totals: &Totals,
    now: Timestamp,
) -> Result<i64, DbError> {
    let time = micros(now);
    let (shipping_id, shipping_name) = new.shipping_method.clone().unzip();
    let (payment_id, payment_name) = new.payment_method.clone().unzip();
    rows::insert(
        tx,
        "orders",
        &[
            ("token_hash", new.token_hash.clone().into()),
            ("customer_id", new.customer_id.into()),
            ("email", new.email.trim().into()),
            ("email_folded", folded(&new.email).into()),
            ("phone", (&new.phone).into()),
            ("language", (&new.language).into()),
            ("currency", basis.currency.code.into()),
            ("decimals", i64::from(basis.currency.decimals).into()),
            ("tax_included", (basis.display == TaxDisplay::Included).into()),
            ("rate_e9", new.rate_e9.into()),
            ("goods", totals.goods.into()),
            ("discount", totals.discount.into()),
            ("shipping", totals.shipping.into()),
            ("fees", totals.fees.into()),
            ("rounding", totals.rounding.into()),
            ("tax", totals.tax.into()),
            ("total", totals.total.into()),
            ("shipping_method_id", shipping_id.into()),
            ("shipping_name", shipping_name.unwrap_or_default().into()),
            ("payment_method_id", payment_id.into()),
            ("payment_name", payment_name.unwrap_or_default().into()),
            ("location_id", new.location_id.into()),
            ("comment", (&new.comment).into()),
            ("source", (&new.source).into()),
            ("cart_id", new.cart.map(|(cart, _)| cart).into()),
            ("key", (&new.key).into()),
            ("placed", (&time).into()),
            ("created", (&time).into()),
            ("changed", (&time).into()),
            ("author_id", new.author_id.into()),
        ],
    )
}

fn insert_lines(
    tx: &mut Tx,
    order: i64,
    new: &NewOrder,
    basis: &Basis,
    totals: &Totals,
) -> Result<Vec<i64>, DbError> {
    let mut ids = Vec::with_capacity(new.lines.len());
    let sold = basis.lines.iter().zip(&totals.lines);
    for (position, (line, (sold, sums))) in (1i64..).zip(new.lines.iter().zip(sold)) {
        let (cost, cost_currency) = line.cost.clone().unzip();
        let values: [(&str, Value); 23] = [
            ("order_id", order.into()),
            ("position", position.into()),
            ("variant_id", line.variant_id.into()),
            // A line that staff typed by hand belongs to no product.
            ("product_id", Some(sold.product_id).filter(|id| *id > 0).into()),
            ("sku", (&line.sku).into()),
            ("gtin", (&line.gtin).into()),
            ("name", (&line.name).into()),
            ("options", (&line.options).into()),
            ("file_id", line.file_id.into()),
            ("measure", (&line.measure).into()),
            ("measure_decimals", i64::from(sold.decimals).into()),
            ("weight", line.weight.into()),
            ("cost", cost.into()),
            ("cost_currency", cost_currency.into()),
            ("quantity", sold.quantity.into()),
            ("list_price", line.list_price.into()),
            ("price", sold.price.into()),
            ("amount", sums.amount.into()),
            ("discount", sums.discount.into()),
            ("tax", sums.tax.into()),
            ("total", sums.total.into()),
            ("tax_class_id", line.tax_class_id.into()),
            ("refunded", 0.into()),
        ];
        ids.push(rows::insert(tx, "order_lines", &values)?);
    }
    Ok(ids)
}

fn insert_adjustments(tx: &mut Tx, order: i64, lines: &[i64], totals: &Totals) -> Result<(), DbError> {
    let line = |at: Option<usize>| at.and_then(|at| lines.get(at)).copied();
    let adjustments: Vec<Vec<Value>> = totals
        .adjustments
        .iter()
        .map(|row| {
            vec![
                order.into(),
                line(row.line).into(),
                row.kind.as_str().into(),
                row.source.into(),
                row.code.clone().unwrap_or_default().into(),
                (&row.name).into(),
                row.amount.into(),
            ]
        })
        .collect();
    let columns = ["order_id", "order_line_id", "kind", "source", "code", "name", "amount"];
    rows::insert_many(tx, "order_adjustments", &columns, &adjustments)?;
    let taxes: Vec<Vec<Value>> = totals
        .tax_lines
        .iter()
        .map(|tax| {
            let on = match tax.on {
                Taxed::Line(at) => line(Some(at)),
                _ => None,
            };
            vec![
                order.into(),
                on.into(),
                (&tax.name).into(),
                tax.rate_ppm.into(),
                tax.base.into(),
                tax.tax.into(),
            ]
        })
        .collect();
    let columns = ["order_id", "order_line_id", "name", "rate_ppm", "base", "tax"];
    rows::insert_many(tx, "order_tax_lines", &columns, &taxes)
}

fn reserve(
    tx: &mut Tx,
    new: &NewOrder,
    basis: &Basis,
    lines: &[i64],
    now: Timestamp,
) -> Result<(), PlaceError> {
    let sold = new.lines.iter().zip(&basis.lines).zip(lines);
    let wishes: Vec<_> = sold
        .filter_map(|((line, sold), id)| {
            let variant_id = line.variant_id?;
            Some(Wanted { holder: Holder::Line(*id), variant_id, quantity: sold.quantity, until: None })
        })
        .collect();
    Ok(stock::reserve(tx, &wishes, now)?)
}

fn count_uses(tx: &mut Tx, new: &NewOrder, order: i64) -> Result<(), PlaceError> {
    let mut uses = new.uses.clone();
    // Always in one order, so that two orders cannot wait for each other.
    uses.sort_unstable_by_key(|used| used.promotion_id);
    let customer = folded(&new.email);
    for used in uses {
        if !promotions::count_use(tx, used.promotion_id, used.coupon_id, order, &customer)? {
            return Err(PlaceError::UsedUp(used.promotion_id));
        }
    }
    Ok(())
}

/// The first state: what costs nothing needs no payment.
fn begin(tx: &mut Tx, order: i64, new: &NewOrder, totals: &Totals, now: Timestamp) -> Result<(), DbError> {
    let facts = OrderFacts {
        needs_payment_first: new.pay_until.is_some(),
        is_covered: totals.total == 0,
        ..OrderFacts::default()
    };
    let state = placed(facts);
    let pay_until = new.pay_until.filter(|_| state == OrderState::Wait);
    let pay = if totals.total == 0 { "kPaid" } else { "kNone" };
    tx.run(
        "update orders set state = :state, pay = :pay, pay_until = :pay_until where id = :id",
        &[
            ("id", order.into()),
            ("state", state.as_str().into()),
            ("pay", pay.into()),
            ("pay_until", pay_until.map(micros).into()),
        ],
    )?;
    super::state::remember(
        tx,
        order,
        "kState",
        (OrderState::Draft.as_str(), state.as_str()),
        "",
        new.author_id,
        now,
    )
}

/// The last statement: numbers are unique, and other orders wait for this row as shortly as can be.
fn give_number(tx: &mut Tx, order: i64) -> Result<String, DbError> {
    let row =
        tx.row("update counters set next = next + 1 where skey = 'order' returning next - 1 as number", &[])?;
    let row = row.ok_or_else(|| DbError::Dangling("there is no counter of orders".to_owned()))?;
    let number = row.get::<i64>("number")?.to_string();
    tx.run(
        "update orders set number = :number where id = :id",
        &[("id", order.into()), ("number", (&number).into())],
    )?;
    Ok(number)
}
