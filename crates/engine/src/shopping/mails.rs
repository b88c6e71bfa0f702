//! What shoppers and the store are told of an order, written down in the transaction in which it happens.

use db::orders::{self, Order};
use db::refunds::Refund;
use db::{Tx, events, payments, places};
use serde_json::{Value as Json, json};

use super::view::{money, order_view};
use super::{Cx, Done, Problem};
use crate::mail::{self, NewMail};

/// Writes a mail down. Its key makes it unique: what happens once is told once.
pub(crate) fn queue(
    tx: &mut Tx,
    cx: Cx<'_>,
    key: &str,
    to: &str,
    template: &str,
    language: &str,
    data: &Json,
) -> Done<()> {
    if !to.is_empty() {
        let data = &greeting(data);
        mail::queue(tx, &NewMail { key, to, template, language, data }, cx.now)?;
    }
    Ok(())
}

/// Letters of a name with which somebody is greeted.
const LONGEST_NAME: usize = 60;

/// The data without names that are none. Whoever types a stranger's address types the name beside it, and the store's
/// mail must not carry what he has to say.
fn greeting(data: &Json) -> Json {
    let mut data = data.clone();
    for place in ["/name", "/order/name"] {
        if let Some(name) = data.pointer_mut(place)
            && name.as_str().is_some_and(|name| !is_name(name))
        {
            *name = Json::Null;
        }
    }
    data
}

/// Whether somebody could be called so: no address, no number to call, no text.
fn is_name(text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    let leads_on = letters.windows(2).any(|pair| matches!(pair, ['.', after] if after.is_alphanumeric()));
    letters.len() <= LONGEST_NAME
        && !leads_on
        && !text.contains(['/', '\\', '@', ':', '<', '>', '\n', '\r'])
        && letters.iter().filter(|letter| letter.is_numeric()).count() < 4
}

/// The order as mails show it.
fn about(tx: &mut Tx, cx: Cx<'_>, order: i64) -> Done<(Order, Json)> {
    let order = orders::by_id(tx, order)?.ok_or(Problem::of("unknown"))?;
    let data = json!({"order": order_view(tx, cx, &order)?});
    Ok((order, data))
}

fn tell(tx: &mut Tx, cx: Cx<'_>, order: i64, template: &str, once: &str, more: Json) -> Done<()> {
    let (order, mut data) = about(tx, cx, order)?;
    if let (Json::Object(data), Json::Object(more)) = (&mut data, more) {
        data.extend(more);
    }
    let key = format!("order:{}:{template}{once}", order.id);
    queue(tx, cx, &key, &order.email, template, &order.language, &data)
}

fn event(tx: &mut Tx, cx: Cx<'_>, key: &str, order: &Order, more: Json) -> Done<()> {
    let mut data = json!({
        "order": order.id,
        "number": order.number,
        "state": order.state,
        "pay": order.pay,
        "total": order.total,
        "paid": order.paid,
        "currency": order.currency,
    });
    if let (Json::Object(data), Json::Object(more)) = (&mut data, more) {
        data.extend(more);
    }
    let new = events::NewEvent {
        user_id: None,
        to_user: None,
        to_group: None,
        princ_id: None,
        key: key.to_owned(),
        data,
        now: cx.now,
    };
    events::create(tx, &new)?;
    Ok(())
}

/// An order was placed.
pub(crate) fn placed(tx: &mut Tx, cx: Cx<'_>, order: i64) -> Done<()> {
    tell(tx, cx, order, "placed", "", json!({}))?;
    let (order, _) = about(tx, cx, order)?;
    event(tx, cx, "kOrderNew", &order, json!({}))
}

/// An order waits for its money: how it is paid, or where to try once more. Told once.
pub(crate) fn pay(tx: &mut Tx, cx: Cx<'_>, order: i64) -> Done<()> {
    let (row, _) = about(tx, cx, order)?;
    if row.base != "kWait" || row.paid >= row.total {
        return Ok(());
    }
    let left = money(row.total - row.paid, &row.currency, &row.language);
    let is_online = super::order_page::can_pay(tx, &row)?;
    tell(tx, cx, order, "pay", "", json!({"amount": left, "reference": row.number, "online": is_online}))
}

/// So much money came for an order. `problem` says what is odd about it.
pub(crate) fn paid(
    tx: &mut Tx,
    cx: Cx<'_>,
    order: i64,
    payment: i64,
    amount: i64,
    problem: Option<&str>,
) -> Done<()> {
    let (row, _) = about(tx, cx, order)?;
    let left = Some(row.total - row.paid).filter(|left| *left > 0 && problem == Some("paid_in_part"));
    let text = |amount: i64| money(amount, &row.currency, &row.language);
    let more = json!({"amount": text(amount), "left": left.map(text)});
    tell(tx, cx, order, "paid", &format!(":{payment}:{}", row.paid), more)?;
    event(tx, cx, "kPaymentReceived", &row, json!({"payment": payment, "problem": problem}))
}

/// A payment of an order failed.
pub(crate) fn payment_failed(tx: &mut Tx, cx: Cx<'_>, order: i64, payment: i64) -> Done<()> {
    let (order, _) = about(tx, cx, order)?;
    event(tx, cx, "kPaymentFailed", &order, json!({"payment": payment}))
}

/// An order was cancelled. An order that comes back and is cancelled again is told again.
pub(crate) fn cancelled(tx: &mut Tx, cx: Cx<'_>, order: i64) -> Done<()> {
    let (row, _) = about(tx, cx, order)?;
    tell(tx, cx, order, "cancelled", &format!(":{}", row.version), json!({}))?;
    event(tx, cx, "kOrderState", &row, json!({"reason": row.reason, "to_refund": row.paid - row.refunded}))
}

/// A parcel of an order left, or lies ready for whoever comes for it.
pub(crate) fn sent(tx: &mut Tx, cx: Cx<'_>, order: i64, shipment: i64) -> Done<()> {
    let once = format!(":{shipment}");
    if orders::is_pickup(tx, order)? {
        let place = places::pickup_place(tx, order)?;
        let place = place.map(|(name, address)| json!({"name": name, "address": address}));
        return tell(tx, cx, order, "pickup", &once, json!({"place": place}));
    }
    let parcels = orders::shipments(tx, order)?;
    let parcel = parcels.iter().find(|one| one.id == shipment);
    let more = json!({
        "carrier": parcel.map(|one| &one.carrier),
        "tracking": parcel.map(|one| &one.tracking),
    });
    tell(tx, cx, order, "sent", &once, more)
}

/// How far money that goes back has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Money {
    /// It is on its way.
    Sent,
    /// People of the store are to send it.
    Promised,
}

/// Money of an order goes back.
pub(crate) fn refunded(tx: &mut Tx, cx: Cx<'_>, order: i64, refund: &Refund, how_far: Money) -> Done<()> {
    let (row, _) = about(tx, cx, order)?;
    let amount = money(refund.amount, &row.currency, &row.language);
    let payment = payments::by_id(tx, refund.payment_id)?;
    let is_cash = payment.and_then(|payment| crate::payments::provider(&payment.provider));
    let more = json!({
        "amount": amount,
        "promised": how_far == Money::Promised,
        "by_hand": refund.by_hand || how_far == Money::Promised,
        "cash": is_cash.is_some_and(|provider| provider.is_cash()),
    });
    let once = if how_far == Money::Promised { "promised" } else { "sent" };
    tell(tx, cx, order, "refunded", &format!(":{}:{once}", refund.id), more)
}

/// Somebody of the store is to send a refund.
pub(crate) fn refund_due(tx: &mut Tx, cx: Cx<'_>, order: i64, refund: &Refund) -> Done<()> {
    let (row, _) = about(tx, cx, order)?;
    event(tx, cx, "kRefundDue", &row, json!({"refund": refund.id, "amount": refund.amount}))
}

/// A provider gave nothing back.
pub(crate) fn refund_failed(tx: &mut Tx, cx: Cx<'_>, order: i64, refund: &Refund) -> Done<()> {
    let (row, _) = about(tx, cx, order)?;
    event(tx, cx, "kRefundFailed", &row, json!({"refund": refund.id, "amount": refund.amount}))
}

/// Goods of an order came back.
pub(crate) fn returned(tx: &mut Tx, cx: Cx<'_>, order: i64, id: i64) -> Done<()> {
    tell(tx, cx, order, "return", &format!(":{id}"), json!({}))
}

/// Somebody asks to give goods back. People of the store answer, so it is to them what any visitor's message is.
pub(crate) fn return_asked(tx: &mut Tx, cx: Cx<'_>, order: i64, id: i64, text: &str) -> Done<()> {
    let (order, _) = about(tx, cx, order)?;
    event(tx, cx, "kMessageNew", &order, json!({"return": id, "email": order.email, "text": text}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_greet() {
        for name in [
            "Anna",
            "Дарья Ильинична",
            "J. R. R. Tolkien",
            "Nguyễn Văn A",
            "Louis XIV",
            "O'Neil-Smith 3rd",
            "李雷",
        ] {
            assert!(is_name(name), "{name}");
        }
        for text in [
            "https://evil.example",
            "evil.example",
            "WIN at evil.рф now",
            "call 0900 1234",
            "a@b",
            "// look",
            "two\nlines",
            "\u{661}\u{662}\u{663}\u{664}",
            "A sentence that goes on and on until somebody reads it and does what it says",
        ] {
            assert!(!is_name(text), "{text}");
        }
        let data =
            greeting(&json!({"name": "see evil.example", "link": "https://ours", "order": {"name": "Anna"}}));
        assert_eq!(data, json!({"name": null, "link": "https://ours", "order": {"name": "Anna"}}));
    }
}
