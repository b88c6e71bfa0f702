//! `checkout.…` and `orders.…`: from the cart to an order, and what becomes of it.

use db::Tx;
use serde_json::{Value as Json, json};

use super::Answer;
use super::arguments::Arguments;
use super::shopping::{
    Word, answer, answer_problems, begin_change, customer, cx, expected, form, give, read, word, write,
};
use crate::payments;
use crate::shopping::fields::Fields;
use crate::shopping::{Done, Problem, accounts, basis, carts, checkout, orders, view};
use crate::units::run::Run;

/// The calls, by name.
pub(super) fn call(run: &mut Run<'_>, name: &str, args: &Arguments<'_>) -> Option<Answer> {
    let answer = match name {
        "checkout.get" => get(run),
        "checkout.countries" => countries(run),
        "checkout.contact" => step(run, args, checkout::set_contact),
        "checkout.methods" => step(run, args, checkout::set_methods),
        "checkout.place" => place(run, args),
        "orders.get" => order(run, args),
        "orders.list" => list(run),
        "orders.cancel" => cancel(run, args),
        "orders.pay" => pay(run, args),
        "orders.repeat" => repeat(run, args),
        "orders.ask_return" => ask_return(run, args),
        _ => return None,
    };
    Some(answer)
}

/// Everything that the steps show; null where nothing lies in the cart.
fn get(run: &mut Run<'_>) -> Answer {
    let (cx, token, session) = (cx(run), word(run, Word::Cart), word(run, Word::Session));
    with_sites(run, "checkout.get", |tx| {
        let customer = customer(tx, session.as_deref(), cx)?;
        let Some(cart) = carts::find(tx, token.as_deref(), customer.as_ref())? else { return Ok(Json::Null) };
        let priced = basis::price(tx, cx, cart, customer.as_ref())?;
        if priced.lines.is_empty() {
            return Ok(Json::Null);
        }
        let countries = checkout::countries(tx, cx)?;
        let mut told = view::checkout_view(tx, cx, &priced, &countries)?;
        if let (Json::Object(told), Some(customer)) = (&mut told, &customer) {
            told.insert("customer".to_owned(), json!({"email": customer.email, "name": customer.name}));
            told.insert("addresses".to_owned(), accounts::addresses(tx, customer)?.into());
        }
        Ok(told)
    })
}

/// Reads for a page that may lead to payment providers, and notes to which.
fn with_sites(run: &mut Run<'_>, call: &str, f: impl FnOnce(&mut Tx) -> Done<Json>) -> Answer {
    let mut sites = Vec::new();
    let answer = read(run, call, |tx| {
        sites = payments::sites::offered(tx)?;
        f(tx)
    });
    run.reply.sites = sites;
    answer
}

/// Countries that the shop sends to.
fn countries(run: &mut Run<'_>) -> Answer {
    let cx = cx(run);
    read(run, "checkout.countries", |tx| {
        let countries = checkout::countries(tx, cx)?;
        Ok(view::country_views(&countries).into())
    })
}

type Step = fn(
    &mut db::Tx,
    crate::shopping::Cx<'_>,
    &db::carts::Cart,
    Option<&db::customers::Customer>,
    &Fields,
) -> Done<Vec<Problem>>;

/// Keeps what a step asks for, or tells everything that is wrong with it.
fn step(run: &mut Run<'_>, args: &Arguments<'_>, keep: Step) -> Answer {
    begin_change(run, args)?;
    let fields = form(args, 0)?;
    let (cx, token, session) = (cx(run), word(run, Word::Cart), word(run, Word::Session));
    let done = write(run, "checkout", |tx| {
        let customer = customer(tx, session.as_deref(), cx)?;
        let cart = carts::find(tx, token.as_deref(), customer.as_ref())?.ok_or(Problem::of("changed"))?;
        keep(tx, cx, &cart, customer.as_ref(), &fields)
    })?;
    answer_problems(done)
}

/// Places the order, begins its payment and sends the visitor on: to the provider, else to the order's page.
fn place(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let fields = form(args, 0)?;
    let text = |name: &str| fields.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let (seen, number) = (text("seen"), text("cart").parse::<i64>().ok());
    let (cx, token, session) = (cx(run), word(run, Word::Cart), word(run, Word::Session));
    let done = write(run, "checkout.place", |tx| {
        let customer = customer(tx, session.as_deref(), cx)?;
        if let Some(placed) = checkout::earlier(tx, token.as_deref(), customer.as_ref(), number)? {
            return Ok(placed);
        }
        let cart = carts::find(tx, token.as_deref(), customer.as_ref())?.ok_or(Problem::of("changed"))?;
        checkout::place(tx, cx, &cart, customer.as_ref(), &seen)
    })?;
    let placed = match done {
        Ok(placed) => placed,
        Err(problem) => {
            see_anew(run, &problem)?;
            return answer(Err(problem));
        }
    };
    let page = view::page_path(cx, &cx.look.language, &format!("order/{}", placed.token));
    let url = match placed.payment {
        Some(payment) => begin_payment(run, payment)?,
        None => None,
    };
    go(run, url.unwrap_or_else(|| page.clone()));
    answer(Ok(json!({"token": placed.token, "url": page})))
}

/// Of what changed the visitor is told, and then it is what they saw.
fn see_anew(run: &mut Run<'_>, problem: &Problem) -> Result<(), sandbox::HostError> {
    if problem.code != "changed" {
        return Ok(());
    }
    let (cx, token, session) = (cx(run), word(run, Word::Cart), word(run, Word::Session));
    let _ = write(run, "checkout.place", |tx| {
        let customer = customer(tx, session.as_deref(), cx)?;
        match carts::find(tx, token.as_deref(), customer.as_ref())? {
            Some(cart) => carts::see_all(tx, cx, &cart, customer.as_ref()),
            None => Ok(()),
        }
    })?;
    Ok(())
}

/// The order stands: a payment that does not begin now is begun from its page.
fn begin_payment(run: &mut Run<'_>, payment: i64) -> Result<Option<String>, sandbox::HostError> {
    let cx = cx(run);
    let db = run.units.db.clone();
    Ok(expected("checkout.place", payments::start(&db, cx, payment))?.unwrap_or(None))
}

/// Sends the visitor on. Only the engine sends them to a payment provider.
fn go(run: &mut Run<'_>, url: String) {
    run.reply.location = Some(url);
    run.reply.status = Some(303);
}

/// The order of a word; null where there is none.
fn order(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let token = args.text(0, "token")?.to_owned();
    let cx = cx(run);
    with_sites(run, "orders.get", |tx| {
        let order = orders::find(tx, &token)?;
        view::order_view(tx, cx, &order)
    })
}

/// Orders of whoever is signed in; null for a guest.
fn list(run: &mut Run<'_>) -> Answer {
    let (cx, session) = (cx(run), word(run, Word::Session));
    read(run, "orders.list", |tx| match customer(tx, session.as_deref(), cx)? {
        Some(customer) => Ok(accounts::orders_of(tx, cx, &customer)?.into()),
        None => Ok(Json::Null),
    })
}

fn cancel(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let token = args.text(0, "token")?.to_owned();
    let cx = cx(run);
    let done = write(run, "orders.cancel", |tx| orders::cancel(tx, cx, &token))?;
    answer(done.map(|()| json!({})))
}

/// Begins a payment anew and sends the visitor to its provider.
fn pay(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let token = args.text(0, "token")?.to_owned();
    let cx = cx(run);
    let payment = match write(run, "orders.pay", |tx| orders::payment(tx, cx, &token))? {
        Ok(payment) => payment,
        Err(problem) => return answer(Err(problem)),
    };
    match begin_payment(run, payment)? {
        Some(url) => {
            go(run, url);
            answer(Ok(json!({})))
        }
        None => answer(Err(Problem::of("not_now"))),
    }
}

/// Asks the store to take goods back.
fn ask_return(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let (token, fields) = (args.text(0, "token")?.to_owned(), form(args, 1)?);
    let cx = cx(run);
    let done = write(run, "orders.ask_return", |tx| orders::ask_return(tx, cx, &token, &fields))?;
    answer(done.map(|()| json!({})))
}

/// Puts what an order held into the cart.
fn repeat(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let order = args.text(0, "token")?.to_owned();
    let (cx, token, session) = (cx(run), word(run, Word::Cart), word(run, Word::Session));
    let done = write(run, "orders.repeat", |tx| {
        let customer = customer(tx, session.as_deref(), cx)?;
        let (cart, new) = carts::open(tx, cx, token.as_deref(), customer.as_ref())?;
        let left_out = orders::repeat(tx, cx, &order, &cart, customer.as_ref())?;
        Ok((left_out, new))
    })?;
    if let Ok((_, Some(token))) = &done {
        give(run, Word::Cart, Some(token));
    }
    answer(done.map(|(left_out, _)| json!({"left_out": left_out})))
}
