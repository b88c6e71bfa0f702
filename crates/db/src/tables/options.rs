//! Options that the owner sets for people and groups: free text, or one value of a list.

use std::collections::BTreeMap;

use crate::{DbError, Tx, Value};

/// Whom an option is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// People.
    User,
    /// Groups.
    Group,
}

impl Scope {
    fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Group => "group",
        }
    }
}

/// What an option is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Number of a value of the option's list.
    Listed(i64),
    /// Free text.
    Text(String),
}

/// Adds an option; only options with a key are told to agents.
pub fn create(tx: &mut Tx, scope: Scope, skey: Option<&str>, name: &str) -> Result<i64, DbError> {
    tx.insert(
        "insert into options (target, skey, name, position)
         values (:target, :skey, :name, (select coalesce(max(position), 0) + 1 from options)) returning id",
        &[("target", scope.as_str().into()), ("skey", skey.into()), ("name", name.into())],
    )
}

/// Adds a value to an option's list.
pub fn create_value(tx: &mut Tx, option: i64, skey: Option<&str>, name: &str) -> Result<i64, DbError> {
    tx.insert(
        "insert into option_values (option_id, skey, name, position)
         values (:option_id, :skey, :name, (select coalesce(max(position), 0) + 1 from option_values)) returning id",
        &[("option_id", option.into()), ("skey", skey.into()), ("name", name.into())],
    )
}

/// Sets an option of a person.
pub fn set_for_user(tx: &mut Tx, user: i64, option: i64, setting: &Setting) -> Result<(), DbError> {
    set(tx, "user", user, option, setting)
}

/// Sets an option of a group.
pub fn set_for_group(tx: &mut Tx, group: i64, option: i64, setting: &Setting) -> Result<(), DbError> {
    set(tx, "group", group, option, setting)
}

fn set(tx: &mut Tx, owner: &str, owner_id: i64, option: i64, setting: &Setting) -> Result<(), DbError> {
    let (listed, text) = match setting {
        Setting::Listed(id) => (Value::Int(*id), Value::Null),
        Setting::Text(text) => (Value::Null, text.into()),
    };
    tx.run(
        &format!(
            "insert into {owner}_options ({owner}_id, option_id, value_id, value)
             values (:owner_id, :option_id, :value_id, :value)
             on conflict ({owner}_id, option_id) do update set value_id = excluded.value_id, value = excluded.value"
        ),
        &[("owner_id", owner_id.into()), ("option_id", option.into()), ("value_id", listed), ("value", text)],
    )?;
    Ok(())
}

/// Options of a person that have a key and a value.
pub fn of_user(tx: &mut Tx, user: i64) -> Result<BTreeMap<String, String>, DbError> {
    of(tx, "user", user)
}

/// Options of a group that have a key and a value.
pub fn of_group(tx: &mut Tx, group: i64) -> Result<BTreeMap<String, String>, DbError> {
    of(tx, "group", group)
}

/// A listed value comes as its key, as its name where it has none; free text as it is.
fn of(tx: &mut Tx, owner: &str, owner_id: i64) -> Result<BTreeMap<String, String>, DbError> {
    let rows = tx.rows(
        &format!(
            "select o.skey, coalesce(nullif(v.skey, ''), v.name, s.value) as value
             from {owner}_options s join options o on o.id = s.option_id
             left join option_values v on v.id = s.value_id
             where s.{owner}_id = :owner_id and o.target = :target and o.skey <> ''"
        ),
        &[("owner_id", owner_id.into()), ("target", owner.into())],
    )?;
    let mut options = BTreeMap::new();
    for row in rows {
        if let Some(value) = row.get::<Option<String>>("value")? {
            options.insert(row.get("skey")?, value);
        }
    }
    Ok(options)
}
