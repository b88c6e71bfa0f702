//! What stands between a priced cart and its order: what is missing yet, and what the shopper confirms.

use super::basis::Priced;

/// What is still missing before an order can be placed; the first step that lacks something.
pub(crate) fn missing_step(priced: &Priced) -> Option<&'static str> {
    if priced.basis.lines.is_empty() || priced.lines.iter().any(|line| line.problem.is_some()) {
        return Some("cart");
    }
    // Who wanted to come for the goods, and cannot any more, has to say where they go.
    let has_place = priced.address.is_some() && !(priced.fetches && priced.shipping_methods.is_empty());
    if priced.cart.email.is_empty() || (priced.ships && !has_place) {
        return Some("contact");
    }
    let pays = priced.totals.total == 0 || priced.payment.is_some();
    if (priced.ships && priced.shipping.is_none()) || !pays { Some("methods") } else { None }
}

/// A word for everything that the shopper confirms: goods, quantities, prices, sums, ways, addresses.
pub(crate) fn seen(priced: &Priced) -> String {
    let mut text = format!(
        "{:?}|{:?}|{:?}|{:?}|{:?}|{:?}|{:?}",
        priced.totals,
        priced.shipping.as_ref().map(|method| method.id),
        priced.payment.as_ref().map(|method| method.id),
        priced.cart.address,
        priced.cart.billing_address,
        priced.cart.location_id,
        priced.cart.email,
    );
    for line in &priced.lines {
        text.push_str(&format!(
            "|{}x{}@{:?}",
            line.variant_id,
            line.quantity,
            line.price.map(|price| price.amount)
        ));
    }
    let hash = blake3::hash(text.as_bytes()).to_hex();
    hash.get(..24).unwrap_or_default().to_owned()
}
