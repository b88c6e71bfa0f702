//! `staff.…` of people: those who work here, customers; and the store's lists of keys with names.

use db::users::NewUser;
use db::{DbError, Tx, customers, groups, registry, rights, rows, translations, users};
use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};
use shop::login;
use wire::text::quoted;

use super::fields::{self, Field, Form, wrong};
use super::{Answer, ORDERS, step};
use crate::shopping::accounts;
use crate::shopping::staff::{StaffDone, StaffError};
use crate::units::host::arguments::Arguments;
use crate::units::run::Run;

/// The rights that the calls ask for.
const USERS: &str = "USERS";
const INSTALLATION: &str = "INSTALLATION";
/// What stands for a password until one is set: no hash verifies against it.
const NO_PASSWORD: &str = "!";

const USER: &[Field] = &[("name", "name", Form::Name(200))];

const CUSTOMER: &[Field] = &[
    ("name", "name", Form::Text(200)),
    ("phone", "phone", Form::Text(50)),
    ("group", "group_id", Form::RowOrNull("customer_groups")),
    ("tax_number", "tax_number", Form::Text(50)),
    ("blocked", "blocked", Form::Truth),
];

/// The calls, by name.
pub(super) fn call(run: &mut Run<'_>, name: &str, args: &Arguments<'_>) -> Option<Answer> {
    Some(match name {
        "staff.save_user" => save_user(run, args),
        "staff.change_customer" => change_customer(run, args),
        "staff.erase_customer" => erase_customer(run, args),
        "staff.save_registry" => save_registry(run, args),
        _ => return None,
    })
}

fn save_user(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (id, given) = (args.int_or_null(0, "user")?, args.fields(1)?);
    let now = run.visit.now;
    step(run, USERS, |tx, _, person| {
        let row = fields::columns(tx, &given, USER, &["login", "blocked", "main_group", "groups"])?;
        let is_administrator = users::is_administrator(tx, person)?;
        let id = match id {
            Some(id) => {
                users::by_id(tx, id)?.ok_or(StaffError::Unknown { what: "person", id })?;
                if !is_administrator && users::is_administrator(tx, id)? {
                    return Err(wrong("only an administrator changes administrators"));
                }
                if given.contains_key("login") {
                    return Err(wrong("a login stays what it is"));
                }
                if !row.is_empty() {
                    rows::update(tx, "users", id, None, &row, now)?;
                }
                id
            }
            None => new_user(tx, &given, now)?,
        };
        // What they have themselves counts as it was before, since they may change themselves.
        let (own, before) = (rights::granted(tx, person)?, users::groups(tx, id)?);
        set_groups(tx, id, &given)?;
        if !is_administrator {
            holds_all(tx, &own, id, &before)?;
        }
        set_blocked(tx, id, &given)?;
        nobody_is_locked_out(tx, person)?;
        Ok(json!({"user": id}))
    })
}

/// A new person, who may sign in once somebody has set a password.
fn new_user(tx: &mut Tx, given: &Map<String, Json>, now: Timestamp) -> StaffDone<i64> {
    let told = fields::text(given, "login")?.ok_or_else(|| wrong("a new person needs a `login`"))?;
    let login = login::parse(told).map_err(|why| wrong(format!("`{}`: {why}", quoted(told, 60))))?;
    let name = fields::text(given, "name")?.ok_or_else(|| wrong("a new person needs a `name`"))?;
    if let Some(there) = users::looks_like(tx, &login)? {
        return Err(wrong(format!("the login `{login}` is taken, or looks like `{there}`")));
    }
    let password_hash = NO_PASSWORD.to_owned();
    let new = NewUser { login, name: name.trim().to_owned(), password_hash, main_group: None, now };
    Ok(users::create(tx, &new)?)
}

fn set_groups(tx: &mut Tx, id: i64, given: &Map<String, Json>) -> StaffDone<()> {
    if given.contains_key("main_group") {
        let group = fields::int(given, "main_group")?;
        if let Some(group) = group
            && groups::by_id(tx, group, "en")?.is_none()
        {
            return Err(StaffError::Unknown { what: "group", id: group });
        }
        users::set_main_group(tx, id, group)?;
    }
    let Some(wanted) = fields::ids(tx, given, "groups", "groups")? else { return Ok(()) };
    for group in users::groups(tx, id)? {
        users::remove_group(tx, id, group)?;
    }
    for group in wanted {
        users::add_group(tx, id, group)?;
    }
    Ok(())
}

/// Who is no administrator gives only groups whose rights they have themselves.
fn holds_all(tx: &mut Tx, own: &[String], id: i64, before: &[i64]) -> StaffDone<()> {
    if users::is_administrator(tx, id)? {
        return Err(wrong("only an administrator makes administrators"));
    }
    for group in users::groups(tx, id)?.into_iter().filter(|group| !before.contains(group)) {
        if let Some(command) = rights::of_group(tx, group)?.into_iter().find(|right| !own.contains(right)) {
            return Err(wrong(format!(
                "group {group} has the right {command}, which you do not have yourself"
            )));
        }
    }
    Ok(())
}

fn set_blocked(tx: &mut Tx, id: i64, given: &Map<String, Json>) -> StaffDone<()> {
    match given.get("blocked") {
        None => Ok(()),
        Some(Json::Bool(blocked)) => Ok(users::set_blocked(tx, id, *blocked)?),
        Some(_) => Err(wrong("`blocked` is true or false")),
    }
}

/// Whoever changes people can still do so, and the store keeps an administrator.
fn nobody_is_locked_out(tx: &mut Tx, person: i64) -> StaffDone<()> {
    if users::by_id(tx, person)?.is_none_or(|user| user.blocked) {
        return Err(wrong("nobody blocks themselves"));
    }
    if !rights::is_granted(tx, person, USERS)? {
        return Err(wrong(
            "you would lose the right to change people yourself; somebody else can take it from you",
        ));
    }
    if !users::has_administrator(tx)? {
        return Err(wrong("the store keeps one administrator who may sign in"));
    }
    Ok(())
}

fn change_customer(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (id, given) = (args.int(0, "customer")?, args.fields(1)?);
    let now = run.visit.now;
    step(run, ORDERS, |tx, _, person| {
        customers::by_id(tx, id)?.ok_or(StaffError::Unknown { what: "customer", id })?;
        let mut row = fields::columns(tx, &given, CUSTOMER, &[])?;
        row.push(("author_id", person.into()));
        rows::update(tx, "customers", id, None, &row, now)?;
        Ok(json!({}))
    })
}

fn erase_customer(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (id, now) = (args.int(0, "customer")?, run.visit.now);
    step(run, ORDERS, |tx, _, _| {
        let customer = customers::by_id(tx, id)?.ok_or(StaffError::Unknown { what: "customer", id })?;
        accounts::erase_within(tx, &customer, now)?;
        Ok(json!({}))
    })
}

fn save_registry(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (branch, skey, name) = (args.text(0, "branch")?, args.text(1, "skey")?, args.text(2, "name")?);
    let language = run.visit.settings.config.language.clone();
    let name = name.trim();
    step(run, INSTALLATION, |tx, _, _| {
        let known = registry::values(tx, branch, &language)?;
        if known.is_empty() {
            return Err(wrong(format!("there is no list `{}`", quoted(branch, 60))));
        }
        let is_key = skey.len() <= 40
            && skey.strip_prefix('k').is_some_and(|rest| {
                rest.starts_with(|letter: char| letter.is_ascii_uppercase())
                    && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
            });
        if !is_key || name.is_empty() || name.chars().count() > 100 {
            return Err(wrong("a key is like kGift, and a name has 1 to 100 letters"));
        }
        let (id, is_new) = match registry::id_of(tx, branch, skey)? {
            Some(id) => (id, false),
            None => (registry::create(tx, branch, skey, name)?, true),
        };
        rename(tx, id, &language, name)?;
        Ok(json!({"id": id, "is_new": is_new}))
    })
}

fn rename(tx: &mut Tx, id: i64, language: &str, name: &str) -> Result<(), DbError> {
    registry::rename(tx, id, name)?;
    translations::set(tx, "registry", id, language, name)
}
