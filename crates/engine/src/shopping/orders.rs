//! Orders as shoppers see them: by the word in the address of the page, never by number.

use db::carts::Cart;
use db::customers::Customer;
use db::orders::{self, Order};
use db::{Tx, payments as rows, places};
use shop::order::Mover;

use super::fields::{self, Fields};
use super::order_page::{can_cancel, can_pay, can_return};
use super::{Cx, Done, NotDone, Problem, carts, mails};
use crate::gate::tickets::hash;

/// The order of a word.
pub(crate) fn find(tx: &mut Tx, token: &str) -> Done<Order> {
    if token.len() > 100 {
        return Err(Problem::of("unknown").into());
    }
    Ok(orders::by_token(tx, &hash(token))?.ok_or(Problem::of("unknown"))?)
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

/// Notes that a shopper wants to give goods back, and tells the store; staff agrees or not. The form's
/// `quantity_<line>` says how many of a line, `reason` why.
pub(crate) fn ask_return(tx: &mut Tx, cx: Cx<'_>, token: &str, form: &Fields) -> Done<()> {
    let order = find(tx, token)?;
    tx.lock_row("orders", order.id)?;
    if !can_return(tx, &order)? {
        return Err(Problem::of("not_now").into());
    }
    let text = fields::comment(form, "reason");
    let mut parts: Vec<(i64, i64, &str)> = Vec::new();
    for line in orders::lines(tx, order.id)? {
        let typed = fields::line(form, &format!("quantity_{}", line.id));
        if typed.is_empty() || typed == "0" {
            continue;
        }
        let quantity = typed.parse().map_err(|_| Problem::of("unknown"))?;
        parts.push((line.id, quantity, ""));
    }
    if parts.is_empty() {
        return Err(Problem::field("return", "nothing_chosen").into());
    }
    let id = orders::request_return(tx, order.id, &parts, &text, cx.now)?;
    mails::return_asked(tx, cx, order.id, id, &text)
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
