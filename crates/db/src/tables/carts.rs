//! Carts: what lies in them; what it costs is computed whenever one is looked at.

use jiff::Timestamp;

use crate::record::record;
use crate::stock::{self, Holder};
use crate::{DbError, Tx, Value, micros};

record! {
    /// A cart.
    pub struct Cart {
        /// Number.
        pub id: i64,
        /// The customer.
        pub customer_id: Option<i64>,
        /// Currency.
        pub currency: String,
        /// Language.
        pub language: String,
        /// E-mail address.
        pub email: String,
        /// Telephone number.
        pub phone: String,
        /// `kOpen`, `kOrdered`, `kMerged`, `kLeft`.
        pub state: String,
        /// Chosen way to send.
        pub shipping_method_id: Option<i64>,
        /// Chosen way to pay.
        pub payment_method_id: Option<i64>,
        /// Where the goods are fetched.
        pub location_id: Option<i64>,
        /// Address of the delivery, JSON.
        pub address: Option<String>,
        /// Address of the invoice, JSON.
        pub billing_address: Option<String>,
        /// What the customer adds.
        pub comment: String,
        /// Grows with every change, of its lines too.
        pub version: i64,
    }
}

record! {
    /// What lies in a cart.
    pub struct CartLine {
        /// Number.
        pub id: i64,
        /// The variant.
        pub variant_id: i64,
        /// Hash of the options.
        pub options_hash: String,
        /// What the customer typed for it, JSON.
        pub options: String,
        /// How many.
        pub quantity: i64,
        /// The price the customer saw last.
        pub seen_price: Option<i64>,
    }
}

/// A line of which less came over than was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortened {
    /// The variant.
    pub variant_id: i64,
    /// How many both carts held.
    pub wanted: i64,
    /// How many there are now.
    pub got: i64,
}

const SELECT: &str = "select id, customer_id, currency, language, email, phone, state, shipping_method_id,
   payment_method_id, location_id, address, billing_address, comment, version from carts";

/// Columns of a cart that its visitor sets.
const OWN: [&str; 10] = [
    "currency",
    "language",
    "email",
    "phone",
    "shipping_method_id",
    "payment_method_id",
    "location_id",
    "address",
    "billing_address",
    "comment",
];

/// Begins a cart.
pub fn create(
    tx: &mut Tx,
    token_hash: &[u8],
    currency: &str,
    language: &str,
    customer: Option<i64>,
    now: Timestamp,
) -> Result<i64, DbError> {
    tx.insert(
        "insert into carts (token_hash, customer_id, currency, language, created, changed)
         values (:token_hash, :customer, :currency, :language, :now, :now) returning id",
        &[
            ("token_hash", token_hash.into()),
            ("customer", customer.into()),
            ("currency", currency.into()),
            ("language", language.into()),
            ("now", micros(now).into()),
        ],
    )
}

/// The cart of a visitor's word, whatever its state.
pub fn by_token(tx: &mut Tx, token_hash: &[u8]) -> Result<Option<Cart>, DbError> {
    let row = tx.row(&format!("{SELECT} where token_hash = :hash"), &[("hash", token_hash.into())])?;
    row.map(|row| Cart::of(&row)).transpose()
}

/// The cart of this number.
pub fn by_id(tx: &mut Tx, id: i64) -> Result<Option<Cart>, DbError> {
    tx.row(&format!("{SELECT} where id = :id"), &[("id", id.into())])?.map(|row| Cart::of(&row)).transpose()
}

/// The open cart of a customer.
pub fn of_customer(tx: &mut Tx, customer: i64) -> Result<Option<Cart>, DbError> {
    let sql = format!("{SELECT} where customer_id = :id and state = 'kOpen'");
    tx.row(&sql, &[("id", customer.into())])?.map(|row| Cart::of(&row)).transpose()
}

/// What lies in a cart, in the order it came.
pub fn lines(tx: &mut Tx, cart: i64) -> Result<Vec<CartLine>, DbError> {
    let sql = "select id, variant_id, options_hash, options, quantity, seen_price from cart_lines
               where cart_id = :id order by id";
    tx.rows(sql, &[("id", cart.into())])?.iter().map(CartLine::of).collect()
}

/// Adds so many of a variant, to the line that is there already.
pub fn add(
    tx: &mut Tx,
    cart: i64,
    variant: i64,
    options: (&str, &str),
    quantity: i64,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.run(
        "insert into cart_lines (cart_id, variant_id, options_hash, options, quantity, created)
         values (:cart, :variant, :options_hash, :options, :quantity, :now)
         on conflict (cart_id, variant_id, options_hash)
         do update set quantity = cart_lines.quantity + excluded.quantity",
        &[
            ("cart", cart.into()),
            ("variant", variant.into()),
            ("options_hash", options.0.into()),
            ("options", options.1.into()),
            ("quantity", quantity.into()),
            ("now", micros(now).into()),
        ],
    )?;
    touch(tx, cart, now)
}

/// Sets how many a line holds; none removes it. Whether the cart had the line.
pub fn set_quantity(
    tx: &mut Tx,
    cart: i64,
    line: i64,
    quantity: i64,
    now: Timestamp,
) -> Result<bool, DbError> {
    let mut params = vec![("cart", cart.into()), ("line", line.into())];
    let count = if quantity > 0 {
        params.push(("quantity", quantity.into()));
        tx.run("update cart_lines set quantity = :quantity where cart_id = :cart and id = :line", &params)?
    } else {
        tx.run("delete from cart_lines where cart_id = :cart and id = :line", &params)?
    };
    touch(tx, cart, now)?;
    Ok(count > 0)
}

/// Remembers the prices that the customer saw: line, price.
pub fn saw(tx: &mut Tx, cart: i64, prices: &[(i64, i64)]) -> Result<(), DbError> {
    for (line, price) in prices {
        tx.run(
            "update cart_lines set seen_price = :price
             where cart_id = :cart and id = :line and (seen_price is null or seen_price <> :price)",
            &[("cart", cart.into()), ("line", (*line).into()), ("price", (*price).into())],
        )?;
    }
    Ok(())
}

/// Sets what the visitor chose or typed; of this version of the cart. Whether it still was of it.
pub fn set(
    tx: &mut Tx,
    cart: i64,
    version: i64,
    values: &[(&str, Value)],
    now: Timestamp,
) -> Result<bool, DbError> {
    if let Some((unknown, _)) = values.iter().find(|(column, _)| !OWN.contains(column)) {
        return Err(DbError::Parameter((*unknown).to_owned()));
    }
    let changes: Vec<_> = values.iter().map(|(column, _)| format!("{column} = :{column}, ")).collect();
    let sql = format!(
        "update carts set {}version = version + 1, changed = :now
         where id = :cart and version = :version and state = 'kOpen'",
        changes.concat()
    );
    let mut params = values.to_vec();
    params.extend([("cart", cart.into()), ("version", version.into()), ("now", micros(now).into())]);
    Ok(tx.run(&sql, &params)? > 0)
}

/// Coupons in a cart: number, code.
pub fn coupons(tx: &mut Tx, cart: i64) -> Result<Vec<(i64, String)>, DbError> {
    let sql = "select c.id, c.code from cart_coupons x join coupons c on c.id = x.coupon_id
               where x.cart_id = :id order by x.id";
    tx.rows(sql, &[("id", cart.into())])?.iter().map(|row| Ok((row.get("id")?, row.get("code")?))).collect()
}

/// Puts a coupon into a cart, once.
pub fn add_coupon(tx: &mut Tx, cart: i64, coupon: i64, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "insert into cart_coupons (cart_id, coupon_id) values (:cart, :coupon)
         on conflict (cart_id, coupon_id) do nothing",
        &[("cart", cart.into()), ("coupon", coupon.into())],
    )?;
    touch(tx, cart, now)
}

/// Takes a coupon out of a cart.
pub fn remove_coupon(tx: &mut Tx, cart: i64, coupon: i64, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "delete from cart_coupons where cart_id = :cart and coupon_id = :coupon",
        &[("cart", cart.into()), ("coupon", coupon.into())],
    )?;
    touch(tx, cart, now)
}

/// A visitor signed in: what lies in their cart comes into the customer's, up to what can be had. A cart that came over
/// already brings nothing, so a repeat is harmless. Answers the customer's cart and what is less than both held.
pub fn sign_in(
    tx: &mut Tx,
    guest: i64,
    customer: i64,
    now: Timestamp,
) -> Result<(i64, Vec<Shortened>), DbError> {
    tx.lock(&format!("cart of customer {customer}"))?;
    tx.lock_row("carts", guest)?;
    let own = of_customer(tx, customer)?;
    let is_open = by_id(tx, guest)?.is_some_and(|cart| cart.state == "kOpen" && cart.customer_id.is_none());
    let Some(own) = own else {
        if is_open {
            tx.run(
                "update carts set customer_id = :customer where id = :guest",
                &[("customer", customer.into()), ("guest", guest.into())],
            )?;
        }
        return Ok((guest, Vec::new()));
    };
    if !is_open {
        return Ok((own.id, Vec::new()));
    }
    tx.run(
        "update carts set state = 'kMerged', changed = :now, version = version + 1 where id = :guest",
        &[("guest", guest.into()), ("now", micros(now).into())],
    )?;
    stock::release(tx, Holder::Cart(guest), now)?;
    let shortened = bring_over(tx, guest, own.id, now)?;
    tx.run(
        "insert into cart_coupons (cart_id, coupon_id)
         select :own, coupon_id from cart_coupons where cart_id = :guest
         on conflict (cart_id, coupon_id) do nothing",
        &[("own", own.id.into()), ("guest", guest.into())],
    )?;
    Ok((own.id, shortened))
}

fn bring_over(tx: &mut Tx, guest: i64, own: i64, now: Timestamp) -> Result<Vec<Shortened>, DbError> {
    let coming = lines(tx, guest)?;
    let variants: Vec<_> = coming.iter().map(|line| line.variant_id).collect();
    let stock = stock::of_variants(tx, &variants, now)?;
    let mut shortened = Vec::new();
    for line in coming {
        let held = lines(tx, own)?;
        let of_variant = held.iter().filter(|other| other.variant_id == line.variant_id);
        let there: i64 = of_variant.map(|other| other.quantity).sum();
        let wanted = there + line.quantity;
        let most = stock.get(&line.variant_id).and_then(stock::Availability::for_sale).unwrap_or(i64::MAX);
        let coming = wanted.min(most.max(there)) - there;
        if coming > 0 {
            add(tx, own, line.variant_id, (&line.options_hash, &line.options), coming, now)?;
        }
        if coming < line.quantity {
            shortened.push(Shortened { variant_id: line.variant_id, wanted, got: there + coming });
        }
    }
    Ok(shortened)
}

fn touch(tx: &mut Tx, cart: i64, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "update carts set version = version + 1, changed = :now where id = :cart",
        &[("cart", cart.into()), ("now", micros(now).into())],
    )?;
    Ok(())
}
