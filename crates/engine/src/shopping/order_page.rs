//! The page of an order: the word in its address, and what its shopper may do there.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use db::orders::{self, Order};
use db::{Tx, places, secrets};

use super::Done;
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

/// Whether the shopper may cancel it.
pub(crate) fn can_cancel(order: &Order) -> bool {
    matches!(order.base.as_str(), "kWait" | "kNew") && order.delivery == "kNone"
}

/// Whether the shopper may ask to give goods back: some were sent, and no such question is open.
pub(crate) fn can_return(tx: &mut Tx, order: &Order) -> Done<bool> {
    let is_sent = orders::lines(tx, order.id)?.iter().any(|line| line.shipped > line.returned);
    Ok(is_sent && order.base != "kCancel" && !orders::has_open_return(tx, order.id)?)
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
