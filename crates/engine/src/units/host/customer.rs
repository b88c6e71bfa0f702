//! `customer.…`: the account of whoever is signed in.

use sandbox::HostError;
use serde_json::{Value as Json, json};
use zeroize::Zeroizing;

use super::Answer;
use super::arguments::Arguments;
use super::shopping::{
    Word, answer, answer_problems, begin_change, customer, cx, expected, form, give, number, read, word,
    write,
};
use crate::shopping::accounts::{self, Attempt, SignedIn};
use crate::shopping::fields::{self, Fields};
use crate::shopping::{Done, Problem};
use crate::units::run::Run;

/// The calls, by name.
pub(super) fn call(run: &mut Run<'_>, name: &str, args: &Arguments<'_>) -> Option<Answer> {
    let answer = match name {
        "customer.get" => get(run),
        "customer.addresses" => {
            own(run, "customer.addresses", |tx, _, customer| Ok(accounts::addresses(tx, customer)?.into()))
        }
        "customer.export" => own(run, "customer.export", accounts::export),
        "customer.sign_in" => sign_in(run, args),
        "customer.sign_up" => sign_up(run, args),
        "customer.sign_out" => sign_out(run, args),
        "customer.ask_password" => ask_password(run, args),
        "customer.set_password" => set_password(run, args),
        "customer.change_password" => change_password(run, args),
        "customer.confirm" => confirm(run, args),
        "customer.save" => save(run, args),
        "customer.add_address" => add_address(run, args),
        "customer.remove_address" => remove_address(run, args),
        "customer.erase" => erase(run, args),
        _ => return None,
    };
    Some(answer)
}

/// Who is signed in; null for a guest.
fn get(run: &mut Run<'_>) -> Answer {
    own(run, "customer.get", |_, _, customer| {
        Ok(json!({
            "id": customer.id,
            "email": customer.email,
            "name": customer.name,
            "phone": customer.phone,
            "is_confirmed": customer.email_confirmed.is_some(),
        }))
    })
}

/// Reads for whoever is signed in; null for a guest.
fn own(
    run: &mut Run<'_>,
    call: &str,
    f: impl FnOnce(&mut db::Tx, crate::shopping::Cx<'_>, &db::customers::Customer) -> Done<Json>,
) -> Answer {
    let (cx, session) = (cx(run), word(run, Word::Session));
    read(run, call, |tx| match customer(tx, session.as_deref(), cx)? {
        Some(customer) => f(tx, cx, &customer),
        None => Ok(Json::Null),
    })
}

fn password(args: &Arguments<'_>, at: usize) -> Zeroizing<String> {
    Zeroizing::new(args.value(at).as_text().unwrap_or_default().to_owned())
}

fn attempt<'a>(run: &Run<'_>, email: &'a str, password: Zeroizing<String>) -> Attempt<'a> {
    Attempt { email, password, client: run.visit.client, cart: word(run, Word::Cart) }
}

/// A new session for whoever proved who they are; what they came with is worth nothing any more.
fn let_in(run: &mut Run<'_>, call: &str, done: Done<SignedIn>) -> Answer {
    let done = expected(call, done)?;
    if let Ok(signed_in) = &done {
        if let Some(old) = word(run, Word::Session) {
            let _ = write(run, call, |tx| accounts::sign_out(tx, &old))?;
        }
        give(run, Word::Session, Some(&signed_in.token));
        if word(run, Word::Cart).is_some() {
            give(run, Word::Cart, None);
        }
    }
    answer(done.map(|signed_in| {
        let shortened: Vec<Json> = signed_in
            .shortened
            .iter()
            .map(|one| json!({"variant": one.variant_id, "wanted": one.wanted, "got": one.got}))
            .collect();
        json!({"shortened": shortened})
    }))
}

fn sign_in(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let email = args.text_or(0, "email", "")?.to_owned();
    let attempt = attempt(run, &email, password(args, 1));
    let done = accounts::sign_in(&run.units.db.clone(), cx(run), &run.units.passwords, attempt);
    let_in(run, "customer.sign_in", done)
}

fn sign_up(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let form = form(args, 0)?;
    let text = |name: &str| form.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let (email, password) = (text("email"), Zeroizing::new(text("password")));
    let attempt = attempt(run, &email, password);
    let name = fields::line(&form, "name");
    let done = accounts::sign_up(&run.units.db.clone(), cx(run), &run.units.passwords, attempt, &name);
    let_in(run, "customer.sign_up", done)
}

fn sign_out(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    if let Some(session) = word(run, Word::Session) {
        let _ = write(run, "customer.sign_out", |tx| accounts::sign_out(tx, &session))?;
    }
    give(run, Word::Session, None);
    give(run, Word::Cart, None);
    answer(Ok(json!({})))
}

fn ask_password(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let email = args.text_or(0, "email", "")?.to_owned();
    let done = accounts::ask_password(&run.units.db.clone(), cx(run), &email, run.visit.client);
    answer(expected("customer.ask_password", done)?.map(|()| json!({})))
}

fn set_password(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let token = args.text_or(0, "token", "")?.to_owned();
    let cart = word(run, Word::Cart);
    let done = accounts::set_password(
        &run.units.db.clone(),
        cx(run),
        &run.units.passwords,
        &token,
        password(args, 1),
        cart.as_deref(),
    );
    let_in(run, "customer.set_password", done)
}

/// Whoever is signed in, for what only they may do.
fn signed_in(run: &mut Run<'_>) -> Result<Option<db::customers::Customer>, HostError> {
    let (cx, session) = (cx(run), word(run, Word::Session));
    let db = run.units.db.clone();
    let found = db.read(|tx| customer(tx, session.as_deref(), cx)).map_err(crate::shopping::NotDone::from);
    Ok(expected("customer", found)?.unwrap_or(None))
}

fn change_password(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let Some(customer) = signed_in(run)? else { return answer(Err(Problem::of("signed_out"))) };
    let attempt = attempt(run, &customer.email, password(args, 0));
    let done = accounts::change_password(
        &run.units.db.clone(),
        cx(run),
        &run.units.passwords,
        &customer,
        attempt,
        password(args, 1),
    );
    let_in(run, "customer.change_password", done)
}

fn confirm(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let token = args.text_or(0, "token", "")?.to_owned();
    let cx = cx(run);
    let done = write(run, "customer.confirm", |tx| accounts::confirm(tx, cx, &token))?;
    answer(done.map(|joined| json!({"orders": joined})))
}

fn save(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let form: Fields = form(args, 0)?;
    let Some(customer) = signed_in(run)? else { return answer(Err(Problem::of("signed_out"))) };
    let now = run.visit.now;
    let done = write(run, "customer.save", |tx| {
        let (name, phone) = (fields::line(&form, "name"), fields::line(&form, "phone"));
        Ok(db::customers::set_profile(tx, customer.id, &name, &phone, now)?)
    })?;
    answer(done.map(|()| json!({})))
}

fn add_address(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let form = form(args, 0)?;
    let Some(customer) = signed_in(run)? else { return answer_problems(Err(Problem::of("signed_out"))) };
    let cx = cx(run);
    answer_problems(write(run, "customer.add_address", |tx| accounts::add_address(tx, cx, &customer, &form))?)
}

fn remove_address(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let id = number(args, 0);
    let Some(customer) = signed_in(run)? else { return answer(Err(Problem::of("signed_out"))) };
    let now = run.visit.now;
    let done = write(run, "customer.remove_address", |tx| {
        Ok(db::customers::remove_address(tx, customer.id, id, now)?)
    })?;
    match done {
        Ok(true) => answer(Ok(json!({}))),
        Ok(false) => answer(Err(Problem::of("unknown"))),
        Err(problem) => answer(Err(problem)),
    }
}

fn erase(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    begin_change(run, args)?;
    let Some(customer) = signed_in(run)? else { return answer(Err(Problem::of("signed_out"))) };
    let attempt = attempt(run, &customer.email, password(args, 0));
    let done = accounts::erase(&run.units.db.clone(), cx(run), &run.units.passwords, &customer, attempt);
    let done = expected("customer.erase", done)?;
    if done.is_ok() {
        give(run, Word::Session, None);
        give(run, Word::Cart, None);
    }
    answer(done.map(|()| json!({})))
}
