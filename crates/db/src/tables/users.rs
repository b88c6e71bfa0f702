//! People of the store.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use shop::login::{canonical, folded, look};

pub use super::groups::Group;
use crate::{DbError, Row, Tx, groups, options, seconds, tickets};

/// A person.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// Number.
    pub id: i64,
    /// Login.
    pub login: String,
    /// Name.
    pub name: String,
    /// Argon2id hash of the password.
    pub password_hash: String,
    /// Grows with every change of the password.
    pub password_version: i64,
    /// Whether they may not work.
    pub blocked: bool,
    /// Their main group.
    pub main_group: Option<i64>,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("id", &self.id).field("login", &self.login).finish_non_exhaustive()
    }
}

/// What a new person needs.
#[derive(Clone)]
pub struct NewUser {
    /// Login, unique.
    pub login: String,
    /// Name.
    pub name: String,
    /// Argon2id hash of the password.
    pub password_hash: String,
    /// Main group.
    pub main_group: Option<i64>,
    /// When they are added.
    pub now: Timestamp,
}

const SELECT: &str =
    "select id, login, name, password_hash, password_version, blocked, main_group from users";

/// Whether nobody ever worked with this database: it holds no people, or only this one, whom a start that broke off
/// added. A database without tables is such a one. What the start itself wrote stands in the journal as nobody's.
pub fn nobody_worked_but(tx: &mut Tx, login: &str) -> Result<bool, DbError> {
    let tables = tx.table_names()?;
    let is_without = |tx: &mut Tx, table: &str, rows: &str| -> Result<bool, DbError> {
        if !tables.iter().any(|there| there == table) {
            return Ok(true);
        }
        Ok(tx.row(&format!("select 1 as yes from {table} {rows} limit 1"), &[])?.is_none())
    };
    if is_without(tx, "users", "")? {
        return Ok(true);
    }
    let is_alone = all(tx)?.iter().all(|user| user.login == login);
    Ok(is_alone
        && is_without(tx, "tickets", "")?
        && is_without(tx, "orders", "")?
        && is_without(tx, "journal", "where user_id is not null")?)
}

/// The person of this login, in whatever capitals; who has exactly this one comes first.
pub fn by_login(tx: &mut Tx, login: &str) -> Result<Option<User>, DbError> {
    let sql = format!(
        "{SELECT} where login = :login or login_folded = :login_folded
         order by case when login = :login then 0 else 1 end limit 1"
    );
    let params = [("login", canonical(login).into()), ("login_folded", folded(login).into())];
    tx.row(&sql, &params)?.map(|row| user(&row)).transpose()
}

/// The login of somebody that looks like this one, or is the same but for capitals.
///
/// In a writing transaction: nobody is added before its end.
pub fn looks_like(tx: &mut Tx, login: &str) -> Result<Option<String>, DbError> {
    tx.lock("logins")?;
    let wanted = look(login);
    let logins = tx.rows("select login from users order by id", &[])?;
    let logins = logins.iter().map(|row| row.get("login")).collect::<Result<Vec<String>, _>>()?;
    Ok(logins.into_iter().find(|there| look(there) == wanted || folded(there) == folded(login)))
}

/// Folds the logins that are not yet, where nobody else has the same.
pub(crate) fn fold_logins(tx: &mut Tx) -> Result<(), DbError> {
    for row in tx.rows("select id, login from users where login_folded is null order by id", &[])? {
        let (id, login) = (row.get::<i64>("id")?, row.get::<String>("login")?);
        let taken = tx.row(
            "select 1 as yes from users where login_folded = :folded",
            &[("folded", folded(&login).into())],
        )?;
        if taken.is_none() {
            tx.run(
                "update users set login_folded = :folded where id = :id",
                &[("folded", folded(&login).into()), ("id", id.into())],
            )?;
        }
    }
    Ok(())
}

/// The person of this number.
pub fn by_id(tx: &mut Tx, id: i64) -> Result<Option<User>, DbError> {
    let row = tx.row(&format!("{SELECT} where id = :id"), &[("id", id.into())])?;
    row.map(|row| user(&row)).transpose()
}

/// Everybody, by number.
pub fn all(tx: &mut Tx) -> Result<Vec<User>, DbError> {
    tx.rows(&format!("{SELECT} order by id"), &[])?.iter().map(user).collect()
}

/// Adds a person; a login that is taken, in whatever capitals, is a [`DbError::Conflict`].
pub fn create(tx: &mut Tx, new: &NewUser) -> Result<i64, DbError> {
    tx.insert(
        "insert into users (login, login_folded, name, password_hash, main_group, created)
         values (:login, :login_folded, :name, :password_hash, :main_group, :created) returning id",
        &[
            ("login", canonical(&new.login).into()),
            ("login_folded", folded(&new.login).into()),
            ("name", (&new.name).into()),
            ("password_hash", (&new.password_hash).into()),
            ("main_group", new.main_group.into()),
            ("created", seconds(new.now).into()),
        ],
    )
}

/// Changes the password: everybody signed in with the old one is signed out.
pub fn set_password(tx: &mut Tx, id: i64, hash: &str) -> Result<(), DbError> {
    tx.run(
        "update users set password_hash = :hash, password_version = password_version + 1 where id = :id",
        &[("hash", hash.into()), ("id", id.into())],
    )?;
    Ok(())
}

/// Blocks a person, which also ends their tickets for good, or lets them work again.
pub fn set_blocked(tx: &mut Tx, id: i64, blocked: bool) -> Result<(), DbError> {
    tx.run(
        "update users set blocked = :blocked where id = :id",
        &[("blocked", blocked.into()), ("id", id.into())],
    )?;
    if blocked {
        tickets::end_of_user(tx, id)?;
    }
    Ok(())
}

/// Changes a person's main group.
pub fn set_main_group(tx: &mut Tx, id: i64, group: Option<i64>) -> Result<(), DbError> {
    tx.run(
        "update users set main_group = :group_id where id = :id",
        &[("group_id", group.into()), ("id", id.into())],
    )?;
    Ok(())
}

/// Adds a person to an additional group.
pub fn add_group(tx: &mut Tx, id: i64, group: i64) -> Result<(), DbError> {
    tx.run(
        "insert into user_groups (user_id, group_id) values (:id, :group_id) on conflict do nothing",
        &[("id", id.into()), ("group_id", group.into())],
    )?;
    Ok(())
}

/// Takes a person out of an additional group.
pub fn remove_group(tx: &mut Tx, id: i64, group: i64) -> Result<(), DbError> {
    tx.run(
        "delete from user_groups where user_id = :id and group_id = :group_id",
        &[("id", id.into()), ("group_id", group.into())],
    )?;
    Ok(())
}

/// Numbers of a person's groups, the main one first.
pub fn groups(tx: &mut Tx, id: i64) -> Result<Vec<i64>, DbError> {
    let rows = tx.rows(
        "select main_group as group_id, 0 as place from users where id = :id and main_group is not null
         union
         select a.group_id, 1 as place from user_groups a join users u on u.id = a.user_id
         where u.id = :id and (u.main_group is null or u.main_group <> a.group_id)
         order by place, group_id",
        &[("id", id.into())],
    )?;
    rows.iter().map(|row| row.get("group_id")).collect()
}

/// Whether a person belongs to the administrators, by main or additional group.
pub fn is_administrator(tx: &mut Tx, id: i64) -> Result<bool, DbError> {
    let row = tx.row(
        "select 1 as yes from groups g where g.skey = :skey and (
           g.id = (select main_group from users where id = :id)
           or g.id in (select group_id from user_groups where user_id = :id))",
        &[("skey", groups::ADMIN.into()), ("id", id.into())],
    )?;
    Ok(row.is_some())
}

/// Whether the store has an administrator who may sign in.
pub fn has_administrator(tx: &mut Tx) -> Result<bool, DbError> {
    let row = tx.row(
        "select 1 as yes from groups g join users u on u.main_group = g.id
           or u.id in (select user_id from user_groups where group_id = g.id)
         where g.skey = :skey and not u.blocked limit 1",
        &[("skey", groups::ADMIN.into())],
    )?;
    Ok(row.is_some())
}

/// A group in a language.
pub fn group(tx: &mut Tx, group: i64, language: &str) -> Result<Option<Group>, DbError> {
    groups::by_id(tx, group, language)
}

/// Options of a person that have a key and a value.
pub fn options(tx: &mut Tx, id: i64) -> Result<BTreeMap<String, String>, DbError> {
    options::of_user(tx, id)
}

/// Options of a group that have a key and a value.
pub fn group_options(tx: &mut Tx, group: i64) -> Result<BTreeMap<String, String>, DbError> {
    options::of_group(tx, group)
}

fn user(row: &Row) -> Result<User, DbError> {
    Ok(User {
        id: row.get("id")?,
        login: row.get("login")?,
        name: row.get("name")?,
        password_hash: row.get("password_hash")?,
        password_version: row.get("password_version")?,
        blocked: row.get("blocked")?,
        main_group: row.get("main_group")?,
    })
}
