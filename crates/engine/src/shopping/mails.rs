//! What shoppers and the store are told of an order, written down in the transaction in which it happens.

use db::orders::{self, Order};
use db::{Tx, events};
use serde_json::{Value as Json, json};

use super::view::order_view;
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
        mail::queue(tx, &NewMail { key, to, template, language, data }, cx.now)?;
    }
    Ok(())
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

/// Money came for an order. `problem` says what is odd about it.
pub(crate) fn paid(tx: &mut Tx, cx: Cx<'_>, order: i64, payment: i64, problem: Option<&str>) -> Done<()> {
    tell(tx, cx, order, "paid", &format!(":{payment}"), json!({}))?;
    let (order, _) = about(tx, cx, order)?;
    event(tx, cx, "kPaymentReceived", &order, json!({"payment": payment, "problem": problem}))
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

/// A parcel of an order left.
pub(crate) fn sent(tx: &mut Tx, cx: Cx<'_>, order: i64, shipment: i64) -> Done<()> {
    let parcels = orders::shipments(tx, order)?;
    let parcel = parcels.iter().find(|one| one.id == shipment);
    let more = json!({
        "carrier": parcel.map(|one| &one.carrier),
        "tracking": parcel.map(|one| &one.tracking),
    });
    tell(tx, cx, order, "sent", &format!(":{shipment}"), more)
}

/// Money of an order went back.
pub(crate) fn refunded(tx: &mut Tx, cx: Cx<'_>, order: i64, refund: i64, amount: i64) -> Done<()> {
    let (row, _) = about(tx, cx, order)?;
    let text = super::view::money(amount, &row.currency, &row.language);
    tell(tx, cx, order, "refunded", &format!(":{refund}"), json!({"amount": text}))
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
