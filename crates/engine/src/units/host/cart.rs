//! `cart.…`: what the visitor wants to buy.

use sandbox::Value;
use serde_json::{Value as Json, json};

use super::Answer;
use super::arguments::Arguments;
use super::shopping::{Word, answer, begin_change, customer, cx, give, number, read, word, write};
use crate::shopping::{basis, carts, view};
use crate::units::run::Run;

/// The calls, by name.
pub(super) fn call(run: &mut Run<'_>, name: &str, args: &Arguments<'_>) -> Option<Answer> {
    let answer = match name {
        "cart.get" => get(run),
        "cart.count" => count(run),
        "cart.add" => add(run, args),
        "cart.set" => set(run, args),
        "cart.coupon" => coupon(run, args, true),
        "cart.remove_coupon" => coupon(run, args, false),
        _ => return None,
    };
    Some(answer)
}

/// The cart with its sums; an empty one where there is none.
fn get(run: &mut Run<'_>) -> Answer {
    let (cx, token, session) = (cx(run), word(run, Word::Cart), word(run, Word::Session));
    let found = read(run, "cart.get", |tx| {
        let customer = customer(tx, session.as_deref(), cx)?;
        match carts::find(tx, token.as_deref(), customer.as_ref())? {
            Some(cart) => {
                let priced = basis::price(tx, cx, cart, customer.as_ref())?;
                view::cart_view(tx, cx, &priced)
            }
            None => Ok(Json::Null),
        }
    })?;
    Ok(match found {
        Value::Null => crate::units::values::from_json(
            json!({"id": null, "lines": [], "count": 0, "can_order": false, "coupons": [], "sums": null}),
        ),
        found => found,
    })
}

fn count(run: &mut Run<'_>) -> Answer {
    let (cx, token, session) = (cx(run), word(run, Word::Cart), word(run, Word::Session));
    read(run, "cart.count", |tx| {
        let customer = customer(tx, session.as_deref(), cx)?;
        let cart = carts::find(tx, token.as_deref(), customer.as_ref())?;
        Ok(carts::count(tx, cart.as_ref())?.into())
    })
}

/// Adds so many of a variant; the first begins the cart.
fn add(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let (variant, quantity) =
        (number(args, 0), if *args.value(1) == Value::Null { 1 } else { number(args, 1) });
    let (cx, token, session) = (cx(run), word(run, Word::Cart), word(run, Word::Session));
    let done = write(run, "cart.add", |tx| {
        let customer = customer(tx, session.as_deref(), cx)?;
        let (cart, new) = carts::open(tx, cx, token.as_deref(), customer.as_ref())?;
        carts::add(tx, cx, &cart, customer.as_ref(), variant, quantity)?;
        Ok(new)
    })?;
    if let Ok(Some(token)) = &done {
        give(run, Word::Cart, Some(token));
    }
    answer(done.map(|_| json!({})))
}

/// Sets how many a line of the own cart holds.
fn set(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let (line, quantity) = (number(args, 0), number(args, 1));
    let (cx, token, session) = (cx(run), word(run, Word::Cart), word(run, Word::Session));
    let done = write(run, "cart.set", |tx| {
        let customer = customer(tx, session.as_deref(), cx)?;
        let cart = carts::find(tx, token.as_deref(), customer.as_ref())?;
        let cart = cart.ok_or(crate::shopping::Problem::of("unknown"))?;
        carts::set(tx, cx, &cart, customer.as_ref(), line, quantity)?;
        Ok(json!({}))
    })?;
    answer(done)
}

fn coupon(run: &mut Run<'_>, args: &Arguments<'_>, adds: bool) -> Answer {
    begin_change(run, args)?;
    let code = args.text_or(0, "code", "")?.to_owned();
    let (cx, token, session) = (cx(run), word(run, Word::Cart), word(run, Word::Session));
    let done = write(run, "cart.coupon", |tx| {
        let customer = customer(tx, session.as_deref(), cx)?;
        let cart = carts::find(tx, token.as_deref(), customer.as_ref())?;
        let cart = cart.ok_or(crate::shopping::Problem::of("unknown"))?;
        if adds {
            carts::add_coupon(tx, cx, &cart, &code)?;
        } else {
            carts::remove_coupon(tx, cx, &cart, &code)?;
        }
        Ok(json!({}))
    })?;
    answer(done)
}
