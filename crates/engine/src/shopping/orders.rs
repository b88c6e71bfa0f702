//! Orders as shoppers see them: by the word in the address of the page, never by number.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use db::carts::Cart;
use db::customers::Customer;
use db::orders::{self, Order};
use db::{Tx, payments as rows, places, secrets};
use shop::order::Mover;

use super::{Cx, Done, NotDone, Problem, carts, mails};
use crate::gate::tickets::{hash, new_ticket};
use crate::payments;

/// The secret from which the words of order pages are made.
const SECRET: &str = "order_pages";

/// Key of the order that a cart becomes, and the word in the address of its page.
///
/// The word is made of the key by the store's secret, so that mails written later know it too, while tables hold
/// only its hash.
pub(crate) fn order_key(tx: &mut Tx, cart: i64) -> Done<(String, String)> {
    let key = format!("cart:{cart}");
    let (fresh, _) = new_ticket()?;
    let secret = secrets::get_or_set(tx, SECRET, &fresh)?;
    let token = token(&secret, &key);
    Ok((key, token))
}

fn token(secret: &str, key: &str) -> String {
    let secret = *blake3::hash(secret.as_bytes()).as_bytes();
    URL_SAFE_NO_PAD.encode(blake3::keyed_hash(&secret, key.as_bytes()).as_bytes())
}

/// The word in the address of an order's page; an order that came from elsewhere has none.
pub(crate) fn token_of(tx: &mut Tx, order: &Order) -> Done<Option<String>> {
    let Some(key) = &order.key else { return Ok(None) };
    let Some(secret) = secrets::get(tx, SECRET)? else { return Ok(None) };
    let token = token(&secret, key);
    let known = orders::by_token(tx, &hash(&token))?;
    Ok(known.filter(|known| known.id == order.id).map(|_| token))
}

/// The order of a word.
pub(crate) fn find(tx: &mut Tx, token: &str) -> Done<Order> {
    if token.len() > 100 {
        return Err(Problem::of("unknown").into());
    }
    Ok(orders::by_token(tx, &hash(token))?.ok_or(Problem::of("unknown"))?)
}

/// Whether the shopper may cancel it.
pub(crate) fn can_cancel(order: &Order) -> bool {
    matches!(order.base.as_str(), "kWait" | "kNew") && order.delivery == "kNone"
}

/// Whether the shopper can pay it here and now.
pub(crate) fn can_pay(tx: &mut Tx, order: &Order) -> Done<bool> {
    let Some(method) = order.payment_method_id else { return Ok(false) };
    let is_owed = order.total > 0 && order.paid == 0 && order.pay == "kNone";
    if !is_owed || !matches!(order.base.as_str(), "kWait" | "kNew" | "kAccept") {
        return Ok(false);
    }
    let provider = places::provider(tx, method)?;
    Ok(provider.and_then(|(key, _)| payments::provider(&key)).is_some_and(|provider| provider.is_online()))
}

/// Cancels an order for its shopper. What was paid is told to the store, which gives it back.
pub(crate) fn cancel(tx: &mut Tx, cx: Cx<'_>, token: &str) -> Done<()> {
    let order = find(tx, token)?;
    if !can_cancel(&order) {
        return Err(Problem::of("not_now").into());
    }
    orders::move_to(tx, order.id, "kCancel", Mover::Shopper, "kShopper", None, cx.now)?;
    mails::cancelled(tx, cx, order.id)
}

/// The payment to begin for an order that is not paid: the one that is open, else a new one.
pub(crate) fn payment(tx: &mut Tx, cx: Cx<'_>, token: &str) -> Done<i64> {
    let order = find(tx, token)?;
    tx.lock_row("orders", order.id)?;
    let order = orders::by_id(tx, order.id)?.ok_or(Problem::of("unknown"))?;
    if !can_pay(tx, &order)? {
        return Err(Problem::of("not_now").into());
    }
    let all = rows::of_order(tx, order.id)?;
    // What nobody knows the end of may yet be paid: nobody pays twice.
    if all.iter().any(|payment| matches!(payment.state.as_str(), "kUnknown" | "kPaid" | "kHeld")) {
        return Err(Problem::of("not_now").into());
    }
    if let Some(open) = all.iter().find(|payment| payment.state == "kOpen") {
        return Ok(open.id);
    }
    let method = order.payment_method_id.ok_or(Problem::of("not_now"))?;
    let (provider, _) = places::provider(tx, method)?.ok_or(Problem::of("not_now"))?;
    let key = format!("order:{}:{}", order.id, all.len() + 1);
    let amount = (order.total, order.currency.as_str());
    Ok(rows::start(tx, order.id, Some(method), &provider, amount, &key, cx.now)?.id)
}

/// Puts what an order held into the cart once more, as far as it can be had; how many lines were left out.
pub(crate) fn repeat(
    tx: &mut Tx,
    cx: Cx<'_>,
    token: &str,
    cart: &Cart,
    customer: Option<&Customer>,
) -> Done<i64> {
    let order = find(tx, token)?;
    let mut left_out = 0;
    for line in orders::lines(tx, order.id)? {
        let Some(variant) = line.variant_id.filter(|_| line.price > 0) else { continue };
        match carts::add(tx, cx, cart, customer, variant, line.quantity) {
            Ok(()) => {}
            Err(NotDone::Problem(_)) => left_out += 1,
            Err(other) => return Err(other),
        }
    }
    Ok(left_out)
}
