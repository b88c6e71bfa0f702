//! The visitor's cart: found by the word in their cookie, changed line by line.

use db::carts::{self, Cart};
use db::customers::Customer;
use db::stock::{self, Holder, Wanted};
use db::{Tx, goods, prices, promotions};
use jiff::SignedDuration;

use super::basis::{check_quantity, check_stock};
use super::{Cx, Done, NotDone, Problem};
use crate::gate::tickets::{hash, new_ticket};

/// Most lines of a cart.
const MOST_LINES: usize = 100;
/// Most coupons of a cart.
const MOST_COUPONS: usize = 5;

/// The open cart of a visitor: a signed-in customer's own, else the one of the cookie. Another customer's cart is
/// nobody else's, whatever the cookie says.
pub(crate) fn find(tx: &mut Tx, token: Option<&str>, customer: Option<&Customer>) -> Done<Option<Cart>> {
    if let Some(customer) = customer
        && let Some(cart) = carts::of_customer(tx, customer.id)?
    {
        return Ok(Some(cart));
    }
    let Some(token) = token else { return Ok(None) };
    let cart = carts::by_token(tx, &hash(token))?;
    Ok(cart.filter(|cart| cart.state == "kOpen" && cart.customer_id.is_none()))
}

/// The visitor's cart, begun where there is none; with the word of a new one.
pub(crate) fn open(
    tx: &mut Tx,
    cx: Cx<'_>,
    token: Option<&str>,
    customer: Option<&Customer>,
) -> Done<(Cart, Option<String>)> {
    if let Some(customer) = customer {
        tx.lock(&format!("cart of customer {}", customer.id))?;
    }
    if let Some(cart) = find(tx, token, customer)? {
        return Ok((cart, None));
    }
    let (token, hash) = new_ticket()?;
    let customer = customer.map(|customer| customer.id);
    let id = carts::create(tx, &hash, &cx.look.currency, &cx.look.language, customer, cx.now)?;
    let cart = carts::by_id(tx, id)?.ok_or_else(|| NotDone::Broke("a new cart is gone".to_owned()))?;
    Ok((cart, Some(token)))
}

/// Adds so many of a variant.
pub(crate) fn add(
    tx: &mut Tx,
    cx: Cx<'_>,
    cart: &Cart,
    customer: Option<&Customer>,
    variant: i64,
    quantity: i64,
) -> Done<()> {
    tx.lock_row("carts", cart.id)?;
    let lines = carts::lines(tx, cart.id)?;
    let there = lines.iter().find(|line| line.variant_id == variant);
    if there.is_none() && lines.len() >= MOST_LINES {
        return Err(Problem::with("too_many_lines", 100).into());
    }
    if quantity < 1 {
        return Err(Problem::with("too_few", 1).into());
    }
    let before = there.map_or(0, |line| line.quantity);
    let wanted = before.checked_add(quantity).ok_or(Problem::of("too_large"))?;
    check(tx, cx, cart, customer, variant, wanted)?;
    carts::add(tx, cart.id, variant, ("", ""), quantity, cx.now)?;
    see_prices(tx, cx, cart, customer, &[variant])?;
    reserve(tx, cx, cart.id, variant, wanted)
}

/// Sets how many a line holds; none removes it.
pub(crate) fn set(
    tx: &mut Tx,
    cx: Cx<'_>,
    cart: &Cart,
    customer: Option<&Customer>,
    line: i64,
    quantity: i64,
) -> Done<()> {
    tx.lock_row("carts", cart.id)?;
    let lines = carts::lines(tx, cart.id)?;
    let Some(found) = lines.iter().find(|known| known.id == line) else {
        return Err(Problem::of("unknown").into());
    };
    if quantity != 0 {
        check(tx, cx, cart, customer, found.variant_id, quantity)?;
    }
    carts::set_quantity(tx, cart.id, line, quantity, cx.now)?;
    see_prices(tx, cx, cart, customer, &[found.variant_id])?;
    reserve(tx, cx, cart.id, found.variant_id, quantity)
}

/// Whether so many of a variant can be in the cart now.
fn check(
    tx: &mut Tx,
    cx: Cx<'_>,
    cart: &Cart,
    customer: Option<&Customer>,
    variant: i64,
    quantity: i64,
) -> Done<()> {
    let goods = goods::of_variants(tx, &[variant], &cx.look.language, cx.now)?.remove(&variant);
    let goods = goods.filter(|goods| goods.is_sold).ok_or(Problem::of("gone"))?;
    check_quantity(&goods, quantity)?;
    let lists = prices::open_lists(tx, &cart.currency, customer.and_then(|c| c.group_id), cx.now)?;
    let prices = prices::of_variants(tx, &[variant], &lists)?;
    if prices.choose(variant, quantity, &lists, cx.now).is_none() {
        return Err(Problem::of("no_price").into());
    }
    let own = stock::held_by_cart(tx, cart.id, cx.now)?.get(&variant).copied().unwrap_or(0);
    let stock = stock::of_variants(tx, &[variant], cx.now)?;
    Ok(check_stock(stock.get(&variant), own, quantity)?)
}

/// Remembers the prices that the visitor is about to see.
fn see_prices(
    tx: &mut Tx,
    cx: Cx<'_>,
    cart: &Cart,
    customer: Option<&Customer>,
    variants: &[i64],
) -> Done<()> {
    let lists = prices::open_lists(tx, &cart.currency, customer.and_then(|c| c.group_id), cx.now)?;
    let prices = prices::of_variants(tx, variants, &lists)?;
    let lines = carts::lines(tx, cart.id)?;
    let changed = lines.iter().filter(|line| variants.contains(&line.variant_id));
    let seen: Vec<(i64, i64)> = changed
        .filter_map(|line| {
            let price = prices.choose(line.variant_id, line.quantity, &lists, cx.now)?;
            Some((line.id, price.amount))
        })
        .collect();
    Ok(carts::saw(tx, cart.id, &seen)?)
}

/// The visitor saw all prices as they are now.
pub(crate) fn see_all(tx: &mut Tx, cx: Cx<'_>, cart: &Cart, customer: Option<&Customer>) -> Done<()> {
    let variants: Vec<i64> = carts::lines(tx, cart.id)?.iter().map(|line| line.variant_id).collect();
    see_prices(tx, cx, cart, customer, &variants)
}

/// Holds what lies in a cart for so many minutes, where the owner wants that.
fn reserve(tx: &mut Tx, cx: Cx<'_>, cart: i64, variant: i64, quantity: i64) -> Done<()> {
    let minutes = cx.settings.config.cart_minutes.min(24 * 60);
    if minutes == 0 {
        return Ok(());
    }
    let until = Some(cx.now + SignedDuration::from_mins(i64::from(minutes)));
    let wish = |variant_id, quantity| Wanted { holder: Holder::Cart(cart), variant_id, quantity, until };
    let wishes = if quantity > 0 {
        vec![wish(variant, quantity)]
    } else {
        // A line is gone: what the others hold is held anew.
        stock::release(tx, Holder::Cart(cart), cx.now)?;
        carts::lines(tx, cart)?.iter().map(|line| wish(line.variant_id, line.quantity)).collect()
    };
    Ok(stock::reserve(tx, &wishes, cx.now)?)
}

/// Puts a coupon into the cart. One that does nothing here yet is taken; one that never can is refused.
pub(crate) fn add_coupon(tx: &mut Tx, cx: Cx<'_>, cart: &Cart, code: &str) -> Done<()> {
    let code = code.trim();
    if code.is_empty() || code.len() > 100 {
        return Err(Problem::field("coupon", "no_coupon").into());
    }
    let coupon = promotions::coupon(tx, code)?.ok_or(Problem::field("coupon", "no_coupon"))?;
    if carts::coupons(tx, cart.id)?.len() >= MOST_COUPONS {
        return Err(Problem::field("coupon", "too_many_coupons").into());
    }
    carts::add_coupon(tx, cart.id, coupon.id, cx.now)?;
    let in_force = promotions::in_force(tx, Some(cart.id), cx.now)?;
    if !in_force.iter().any(|one| one.id == coupon.promotion_id && one.coupon.is_some()) {
        // Its promotion is over, or all its uses are.
        return Err(Problem::field("coupon", "coupon_over").into());
    }
    Ok(())
}

/// Takes a coupon out.
pub(crate) fn remove_coupon(tx: &mut Tx, cx: Cx<'_>, cart: &Cart, code: &str) -> Done<()> {
    if let Some(coupon) = promotions::coupon(tx, code)? {
        carts::remove_coupon(tx, cart.id, coupon.id, cx.now)?;
    }
    Ok(())
}

/// How many lines and pieces lie in a cart.
pub(crate) fn count(tx: &mut Tx, cart: Option<&Cart>) -> Done<i64> {
    let Some(cart) = cart else { return Ok(0) };
    Ok(i64::try_from(carts::lines(tx, cart.id)?.len()).unwrap_or(0))
}
