//! Customers' accounts: signing up, in and out, passwords by mail, addresses, the own data, erasing.
//!
//! Whoever signs in gets a new word; the one that the browser came with is worth nothing afterwards.

use std::net::IpAddr;

use db::carts::Shortened;
use db::customer_tokens::{self, Kind};
use db::customers::{self, Customer};
use db::{Db, DbError, Tx, carts, orders, places, sign_in_attempts};
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use shop::address::network;
use shop::text::folded;
use tokio::runtime::Handle;
use zeroize::Zeroizing;

use super::fields::{self, Fields};
use super::view::{order_view, page_url};
use super::{Cx, Done, NotDone, Problem, mails};
use crate::gate::passwords::{HashError, Passwords, hash_password};
use crate::gate::tickets::{hash, new_ticket};

/// A shorter password is guessed.
const SHORTEST: usize = 8;
/// Most addresses of a customer.
const MOST_ADDRESSES: usize = 20;
/// Most orders that an account lists.
const MOST_ORDERS: u32 = 100;

/// Who tries to sign in, from where.
pub(crate) struct Attempt<'a> {
    /// The e-mail address.
    pub(crate) email: &'a str,
    /// The password.
    pub(crate) password: Zeroizing<String>,
    /// Where they call from.
    pub(crate) client: Option<IpAddr>,
    /// The word of the visitor's cart.
    pub(crate) cart: Option<String>,
}

/// Somebody who is signed in from now on.
pub(crate) struct SignedIn {
    /// The word of the session.
    pub(crate) token: String,
    /// What is less in the cart than both carts held.
    pub(crate) shortened: Vec<Shortened>,
}

/// The customer of a session's word.
pub(crate) fn of_session(tx: &mut Tx, token: Option<&str>, cx: Cx<'_>) -> Result<Option<Customer>, DbError> {
    let Some(token) = token.filter(|token| token.len() <= 100) else { return Ok(None) };
    match customer_tokens::customer(tx, Kind::Session, &hash(token), cx.now)? {
        Some(id) => customers::by_id(tx, id),
        None => Ok(None),
    }
}

/// Signs somebody in by their password. Guessing gets slow, and its time says nothing.
pub(crate) fn sign_in(db: &Db, cx: Cx<'_>, passwords: &Passwords, attempt: Attempt<'_>) -> Done<SignedIn> {
    let Attempt { email, password, client, cart } = attempt;
    let (login, address) = counted(email, client);
    take_turn(db, cx, &login, &address)?;
    let found = db.read(|tx| customers::by_email(tx, email))?;
    let known = found.as_ref().filter(|customer| !customer.blocked);
    let right = is_right(passwords, password, known.and_then(|customer| customer.password_hash.clone()))?;
    let Some(customer) = known.filter(|_| right) else { return Err(Problem::of("wrong_password").into()) };
    db.write(|tx| {
        // The password may have been changed while its hash was computed.
        let now_is = customers::by_id(tx, customer.id)?.filter(|now_is| !now_is.blocked);
        if now_is.is_none_or(|now_is| now_is.password_version != customer.password_version) {
            return Err(Problem::of("wrong_password").into());
        }
        sign_in_attempts::clear(tx, &login)?;
        sign_in_attempts::take_back(tx, &address)?;
        let_in(tx, cx, customer.id, cart.as_deref())
    })
}

/// A new account, whose owner is signed in at once. The address is not theirs until they confirm it.
pub(crate) fn sign_up(
    db: &Db,
    cx: Cx<'_>,
    passwords: &Passwords,
    attempt: Attempt<'_>,
    name: &str,
) -> Done<SignedIn> {
    let Attempt { email, password, client, cart } = attempt;
    let email = fields::email(email).ok_or(Problem::field("email", "email"))?;
    // Whoever tries addresses one after the other is as slow as who tries passwords.
    let (_, address) = counted(&email, client);
    take_turn(db, cx, "customer sign-up", &address)?;
    let hashed = hashed(passwords, password)?;
    db.write(|tx| {
        tx.lock(&format!("customer {}", folded(&email)))?;
        if customers::by_email(tx, &email)?.is_some() {
            return Err(Problem::field("email", "taken").into());
        }
        let id = customers::create(tx, &email, name, Some(&hashed), &cx.look.language, cx.now)?;
        let (token, hash) = new_ticket()?;
        customer_tokens::create(tx, id, Kind::Confirm, &hash, cx.now)?;
        let link = link(cx, "account/confirm", &token);
        let data = json!({"link": link, "name": name});
        mails::queue(tx, cx, &format!("customer:{id}:confirm"), &email, "confirm", &cx.look.language, &data)?;
        sign_in_attempts::clear(tx, "customer sign-up")?;
        let_in(tx, cx, id, cart.as_deref())
    })
}

/// A new session, and the visitor's cart brought over.
fn let_in(tx: &mut Tx, cx: Cx<'_>, customer: i64, cart: Option<&str>) -> Done<SignedIn> {
    let (token, word) = new_ticket()?;
    customer_tokens::create(tx, customer, Kind::Session, &word, cx.now)?;
    let guest = match cart {
        Some(cart) => carts::by_token(tx, &hash(cart))?,
        None => None,
    };
    let guest = guest.filter(|cart| cart.state == "kOpen" && cart.customer_id.is_none());
    let shortened = match guest {
        Some(guest) => carts::sign_in(tx, guest.id, customer, cx.now)?.1,
        None => Vec::new(),
    };
    Ok(SignedIn { token, shortened })
}

/// Ends a session.
pub(crate) fn sign_out(tx: &mut Tx, token: &str) -> Done<()> {
    customer_tokens::remove(tx, &hash(token))?;
    Ok(())
}

/// Sends a link for a new password, if there is such a customer. Whoever asks does not learn whether there is.
pub(crate) fn ask_password(db: &Db, cx: Cx<'_>, email: &str, client: Option<IpAddr>) -> Done<()> {
    let (login, address) = counted(email, client);
    take_turn(db, cx, &format!("mail to {login}"), &address)?;
    db.write(|tx| {
        let found = customers::by_email(tx, email)?.filter(|customer| !customer.blocked);
        let Some(customer) = found else { return Ok(()) };
        let (token, hash) = new_ticket()?;
        let id = customer_tokens::create(tx, customer.id, Kind::Password, &hash, cx.now)?;
        let data = json!({"link": link(cx, "account/password", &token), "name": customer.name});
        let key = format!("customer:{}:password:{id}", customer.id);
        mails::queue(tx, cx, &key, &customer.email, "password", &cx.look.language, &data)
    })
}

/// Sets a new password by the word of a mail, once; other sessions end. The address is proven too.
pub(crate) fn set_password(
    db: &Db,
    cx: Cx<'_>,
    passwords: &Passwords,
    token: &str,
    password: Zeroizing<String>,
    cart: Option<&str>,
) -> Done<SignedIn> {
    let word = hash(token);
    // Nobody hashes a password for a word that is none.
    if db.read(|tx| customer_tokens::customer(tx, Kind::Password, &word, cx.now))?.is_none() {
        return Err(Problem::of("old_link").into());
    }
    let hashed = hashed(passwords, password)?;
    db.write(|tx| {
        let customer = customer_tokens::take(tx, Kind::Password, &word, cx.now)?;
        let customer = customer.ok_or(Problem::of("old_link"))?;
        customers::set_password(tx, customer, &hashed, cx.now)?;
        customer_tokens::remove_all(tx, customer)?;
        customers::confirm_email(tx, customer, cx.now)?;
        let_in(tx, cx, customer, cart)
    })
}

/// Changes the password of somebody who is signed in and knows the old one; they get a new session.
pub(crate) fn change_password(
    db: &Db,
    cx: Cx<'_>,
    passwords: &Passwords,
    customer: &Customer,
    attempt: Attempt<'_>,
    new: Zeroizing<String>,
) -> Done<SignedIn> {
    check_own(db, cx, passwords, customer, attempt)?;
    let hashed = hashed(passwords, new)?;
    db.write(|tx| {
        customers::set_password(tx, customer.id, &hashed, cx.now)?;
        customer_tokens::remove_all(tx, customer.id)?;
        let_in(tx, cx, customer.id, None)
    })
}

/// The address is theirs: orders that they placed as guests join the account. How many.
pub(crate) fn confirm(tx: &mut Tx, cx: Cx<'_>, token: &str) -> Done<u64> {
    let customer = customer_tokens::take(tx, Kind::Confirm, &hash(token), cx.now)?;
    let customer = customer.ok_or(Problem::of("old_link"))?;
    Ok(customers::confirm_email(tx, customer, cx.now)?)
}

/// Everything that the store knows of a customer, for themselves.
pub(crate) fn export(tx: &mut Tx, cx: Cx<'_>, customer: &Customer) -> Done<Json> {
    Ok(json!({
        "email": customer.email,
        "name": customer.name,
        "phone": customer.phone,
        "language": customer.language,
        "tax_number": customer.tax_number,
        "email_confirmed": customer.email_confirmed,
        "addresses": addresses(tx, customer)?,
        "orders": orders_of(tx, cx, customer)?,
    }))
}

/// Erases a customer who proved to be one.
pub(crate) fn erase(
    db: &Db,
    cx: Cx<'_>,
    passwords: &Passwords,
    customer: &Customer,
    attempt: Attempt<'_>,
) -> Done<()> {
    check_own(db, cx, passwords, customer, attempt)?;
    db.write(|tx| Ok(erase_within(tx, customer, cx.now)?))
}

/// Erases a customer in a transaction of somebody else's.
pub(crate) fn erase_within(tx: &mut Tx, customer: &Customer, now: Timestamp) -> Result<(), DbError> {
    customers::erase(tx, customer.id, now)?;
    // Tries are counted by the address.
    let (login, _) = counted(&customer.email, None);
    sign_in_attempts::clear(tx, &login)?;
    sign_in_attempts::clear(tx, &format!("mail to {login}"))
}

/// Orders of a customer, the newest first.
pub(crate) fn orders_of(tx: &mut Tx, cx: Cx<'_>, customer: &Customer) -> Done<Vec<Json>> {
    let found = orders::of_customer(tx, customer.id, MOST_ORDERS)?;
    found.iter().map(|order| order_view(tx, cx, order)).collect()
}

/// Addresses of a customer.
pub(crate) fn addresses(tx: &mut Tx, customer: &Customer) -> Done<Vec<Json>> {
    let found = customers::addresses(tx, customer.id)?;
    let told = found.iter().map(|address| {
        let mut told = fields::address_json(address);
        if let Json::Object(told) = &mut told {
            told.insert("id".to_owned(), address.id.into());
        }
        told
    });
    Ok(told.collect())
}

/// Keeps a new address, or says what is wrong with it.
pub(crate) fn add_address(tx: &mut Tx, cx: Cx<'_>, customer: &Customer, form: &Fields) -> Done<Vec<Problem>> {
    let countries = places::countries(tx, false, &cx.look.language)?;
    let (address, mut problems) = fields::address(form, &countries);
    if customers::addresses(tx, customer.id)?.len() >= MOST_ADDRESSES {
        problems.push(Problem::of("too_many_addresses"));
    }
    if problems.is_empty() {
        customers::add_address(tx, customer.id, &address, cx.now)?;
    }
    Ok(problems)
}

fn link(cx: Cx<'_>, page: &str, token: &str) -> String {
    format!("{}?token={token}", page_url(cx, &cx.look.language, page))
}

/// Whoever works on an account that is signed in knows its password.
fn check_own(
    db: &Db,
    cx: Cx<'_>,
    passwords: &Passwords,
    customer: &Customer,
    attempt: Attempt<'_>,
) -> Done<()> {
    let (login, address) = counted(&customer.email, attempt.client);
    take_turn(db, cx, &login, &address)?;
    if !is_right(passwords, attempt.password, customer.password_hash.clone())? {
        return Err(Problem::field("password", "wrong_password").into());
    }
    db.write(|tx| {
        sign_in_attempts::clear(tx, &login)?;
        Ok(sign_in_attempts::take_back(tx, &address)?)
    })
}

/// A login and an address as tries are counted: customers apart from the store's people.
fn counted(email: &str, client: Option<IpAddr>) -> (String, String) {
    let email: String = folded(email).chars().filter(|letter| *letter != '\0').take(200).collect();
    let address = match client.map(network) {
        Some(IpAddr::V6(network)) => format!("customer {network}/64"),
        Some(v4) => format!("customer {v4}"),
        None => "customer".to_owned(),
    };
    (format!("customer {email}"), address)
}

/// Counts a try before it is made; one that would have to wait is refused, since a page does not wait.
fn take_turn(db: &Db, cx: Cx<'_>, login: &str, address: &str) -> Done<()> {
    let turn = db.write(|tx| sign_in_attempts::take_turn(tx, login, address, cx.now))?;
    match turn {
        Some(turn) if turn <= cx.now => Ok(()),
        _ => Err(Problem::of("too_many_attempts").into()),
    }
}

fn is_right(passwords: &Passwords, password: Zeroizing<String>, hash: Option<String>) -> Done<bool> {
    let checked = Handle::current().block_on(async { passwords.turn().await?.fits(password, hash).await });
    checked.map_err(|_| NotDone::Broke("a password could not be checked".to_owned()))
}

fn hashed(passwords: &Passwords, password: Zeroizing<String>) -> Done<String> {
    if password.chars().count() < SHORTEST {
        return Err(
            Problem { value: Some(SHORTEST as i64), ..Problem::field("password", "short_password") }.into()
        );
    }
    let turn = Handle::current().block_on(passwords.turn());
    let _turn = turn.map_err(|_| NotDone::Broke("a password could not be hashed".to_owned()))?;
    hash_password(&password).map_err(|error| match error {
        HashError::TooLong | HashError::Empty => Problem::field("password", "long_password").into(),
        HashError::Broke => NotDone::Broke(error.to_string()),
    })
}
