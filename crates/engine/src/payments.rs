//! Payments: what carries them out, and how their answers reach the order.
//!
//! A row is committed before a provider is asked, the provider is asked outside of
//! any transaction, and what it answers is written after. What got no answer is
//! asked again by a job. A new provider is one file here and one line of the registry.

mod by_hand;
pub(crate) mod notices;
mod provider;
mod registry;
pub(crate) mod sites;
pub(crate) mod test;

use db::payments::{self as rows, Outcome, Payment};
use db::refunds::{self, Refund};
use db::{Db, Tx, orders, places};
use jiff::Timestamp;
use serde_json::Value as Json;

use crate::shopping::{Cx, Done, NotDone, Problem, mails};

pub(crate) use provider::{Call, Given, Notice, Provider, ProviderError, Started};
pub(crate) use registry::{provider, settings};

fn method_settings(db: &Db, payment: &Payment) -> Done<Json> {
    let Some(method) = payment.method_id else { return Ok(Json::Null) };
    let row = db.read(|tx| places::provider(tx, method))?;
    Ok(row.map_or(Json::Null, |(_, text)| settings(&text)))
}

/// A provider and what it is told.
fn with_call<T>(
    db: &Db,
    payment: &Payment,
    now: Timestamp,
    work: impl FnOnce(&dyn Provider, &Call<'_>) -> T,
) -> Done<T> {
    let provider = provider(&payment.provider)
        .ok_or_else(|| NotDone::Broke(format!("no provider `{}`", payment.provider)))?;
    let settings = method_settings(db, payment)?;
    Ok(work(provider, &Call { db, settings, payment, now }))
}

/// Begins a payment whose row is committed; where the shopper goes on.
pub(crate) fn start(db: &Db, cx: Cx<'_>, payment: i64) -> Done<Option<String>> {
    let payment = db.read(|tx| rows::by_id(tx, payment))?.ok_or(Problem::of("unknown"))?;
    let started = with_call(db, &payment, cx.now, |provider, call| provider.start(call))?;
    let (outcome, url) = match started {
        Ok(Started::Waiting) => return Ok(None),
        Ok(Started::Redirect { url, provider_ref }) => {
            let open =
                Outcome { state: "kOpen".to_owned(), provider_ref: Some(provider_ref), ..Outcome::default() };
            (open, Some(url))
        }
        Err(error) => (failed(&error), None),
    };
    db.write(|tx| apply(tx, cx, payment.id, &outcome))?;
    Ok(url)
}

/// What is written of a call that did not work.
fn failed(error: &ProviderError) -> Outcome {
    let (state, words) = match error {
        ProviderError::Refused(words) => ("kFailed", words),
        ProviderError::NoAnswer(words) => ("kUnknown", words),
    };
    Outcome { state: state.to_owned(), error: words.chars().take(500).collect(), ..Outcome::default() }
}

/// Writes an outcome down, and what follows of it. What is older than what is known already changes nothing.
pub(crate) fn apply(tx: &mut Tx, cx: Cx<'_>, payment: i64, outcome: &Outcome) -> Done<()> {
    rows::hold_order(tx, payment)?;
    let was = rows::by_id(tx, payment)?.ok_or(Problem::of("unknown"))?;
    if !is_news(&was, outcome) {
        return Ok(());
    }
    rows::answered(tx, payment, outcome, cx.now)?;
    match outcome.state.as_str() {
        "kPaid" if was.captured < outcome.captured => {
            let order = orders::by_id(tx, was.order_id)?.ok_or(Problem::of("unknown"))?;
            let problem = odd(&order);
            mails::paid(tx, cx, was.order_id, payment, outcome.captured - was.captured, problem)
        }
        "kFailed" | "kVoid" if was.state != outcome.state => {
            mails::payment_failed(tx, cx, was.order_id, payment)?;
            mails::pay(tx, cx, was.order_id)
        }
        _ => Ok(()),
    }
}

/// What is odd about money that came for an order.
pub(crate) fn odd(order: &orders::Order) -> Option<&'static str> {
    match order.base.as_str() {
        "kCancel" => Some("paid_after_cancel"),
        _ if order.pay == "kOver" => Some("paid_twice"),
        _ if order.paid < order.total => Some("paid_in_part"),
        _ => None,
    }
}

/// Whether an outcome tells more than is known: messages may come twice and in any order.
fn is_news(was: &Payment, outcome: &Outcome) -> bool {
    let rank = |state: &str| match state {
        "kUnknown" => 1,
        "kOpen" => 2,
        "kFailed" | "kVoid" => 3,
        "kHeld" => 4,
        "kPaid" => 5,
        _ => 0,
    };
    let is_same = was.state == outcome.state
        && was.captured >= outcome.captured
        && (outcome.provider_ref.is_none() || was.provider_ref == outcome.provider_ref);
    // A payment that failed may be found paid after all; never the other way round.
    !is_same
        && (rank(&outcome.state) >= rank(&was.state) || (was.state == "kOpen" && outcome.state == "kUnknown"))
}

/// Asks what became of a payment, and writes it down.
pub(crate) fn ask(db: &Db, cx: Cx<'_>, payment: &Payment) -> Done<()> {
    match with_call(db, payment, cx.now, |provider, call| provider.status(call))? {
        Ok(Some(outcome)) => db.write(|tx| apply(tx, cx, payment.id, &outcome)),
        // Still open, or still no answer: later.
        Ok(None) | Err(_) => Ok(db.write(|tx| rows::put_off(tx, payment.id, cx.now))?),
    }
}

/// Takes what was authorised.
pub(crate) fn capture(db: &Db, cx: Cx<'_>, payment: &Payment) -> Done<()> {
    let done = with_call(db, payment, cx.now, |provider, call| provider.capture(call))?;
    let outcome = done.unwrap_or_else(|error| failed(&error));
    db.write(|tx| apply(tx, cx, payment.id, &outcome))
}

/// Lets go of what was authorised or begun.
pub(crate) fn void(db: &Db, cx: Cx<'_>, payment: &Payment) -> Done<()> {
    let done = with_call(db, payment, cx.now, |provider, call| provider.void(call))?;
    let outcome = done.unwrap_or_else(|error| failed(&error));
    db.write(|tx| apply(tx, cx, payment.id, &outcome))
}

/// Makes a refund whose row is committed, and writes down what came of it.
pub(crate) fn refund(db: &Db, cx: Cx<'_>, refund: &Refund) -> Done<()> {
    let payment = db.read(|tx| rows::by_id(tx, refund.payment_id))?.ok_or(Problem::of("unknown"))?;
    let answered = with_call(db, &payment, cx.now, |provider, call| provider.refund(call, refund))?;
    let words = |words: &str| words.chars().take(500).collect::<String>();
    db.write(|tx| {
        match &answered {
            Ok(Given::Sent(number)) => {
                if refunds::answered(tx, refund.id, "kDone", Some(number), "", cx.now)? {
                    mails::refunded(tx, cx, payment.order_id, refund, mails::Money::Sent)?;
                }
            }
            Ok(Given::ByPeople) => {
                if refunds::leave_to_people(tx, refund.id, cx.now)? {
                    mails::refunded(tx, cx, payment.order_id, refund, mails::Money::Promised)?;
                    mails::refund_due(tx, cx, payment.order_id, refund)?;
                }
            }
            Err(ProviderError::Refused(cause)) => {
                if refunds::answered(tx, refund.id, "kFailed", None, &words(cause), cx.now)? {
                    mails::refund_failed(tx, cx, payment.order_id, refund)?;
                }
            }
            Err(ProviderError::NoAnswer(cause)) => {
                refunds::answered(tx, refund.id, "kUnknown", None, &words(cause), cx.now)?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payment(state: &str, captured: i64) -> Payment {
        Payment {
            id: 1,
            order_id: 1,
            method_id: None,
            provider: "test".to_owned(),
            amount: 100,
            currency: "EUR".to_owned(),
            state: state.to_owned(),
            captured,
            refunded: 0,
            provider_ref: Some("r".to_owned()),
            key: "k".to_owned(),
            error: String::new(),
        }
    }

    fn outcome(state: &str, captured: i64) -> Outcome {
        Outcome { state: state.to_owned(), captured, ..Outcome::default() }
    }

    #[test]
    fn what_is_older_or_known_changes_nothing() {
        assert!(is_news(&payment("kOpen", 0), &outcome("kPaid", 100)));
        assert!(is_news(&payment("kFailed", 0), &outcome("kPaid", 100)));
        assert!(is_news(&payment("kUnknown", 0), &outcome("kFailed", 0)));
        assert!(!is_news(&payment("kPaid", 100), &outcome("kPaid", 100)));
        for late in ["kFailed", "kVoid", "kOpen", "kUnknown", "kHeld"] {
            assert!(!is_news(&payment("kPaid", 100), &outcome(late, 0)), "{late}");
        }
        assert!(!is_news(&payment("kFailed", 0), &outcome("kUnknown", 0)));
    }
}
