//! Groups of people.

use crate::{DbError, Row, Tx};

/// Key of the administrators' group.
pub const ADMIN: &str = "ADMIN";

/// A group in the store's language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Number.
    pub id: i64,
    /// Key, where the owner gave it one.
    pub skey: Option<String>,
    /// Name.
    pub name: String,
}

const SELECT: &str = "select g.id, g.skey, coalesce(n.name, g.name) as name from groups g
    left join names n on n.entity = 'groups' and n.elem_id = g.id and n.language = :language";

/// The group of this number.
pub fn by_id(tx: &mut Tx, id: i64, language: &str) -> Result<Option<Group>, DbError> {
    let params = [("id", id.into()), ("language", language.into())];
    tx.row(&format!("{SELECT} where g.id = :id"), &params)?.map(|row| group(&row)).transpose()
}

/// The group of this key.
pub fn by_skey(tx: &mut Tx, skey: &str, language: &str) -> Result<Option<Group>, DbError> {
    let params = [("skey", skey.into()), ("language", language.into())];
    tx.row(&format!("{SELECT} where g.skey = :skey"), &params)?.map(|row| group(&row)).transpose()
}

/// All groups, in the owner's order.
pub fn all(tx: &mut Tx, language: &str) -> Result<Vec<Group>, DbError> {
    let params = [("language", language.into())];
    tx.rows(&format!("{SELECT} order by g.position, g.id"), &params)?.iter().map(group).collect()
}

/// Adds a group at the end; a key that is taken is a [`DbError::Conflict`].
pub fn create(tx: &mut Tx, skey: Option<&str>, name: &str) -> Result<i64, DbError> {
    tx.insert(
        "insert into groups (skey, name, position)
         values (:skey, :name, (select coalesce(max(position), 0) + 1 from groups)) returning id",
        &[("skey", skey.into()), ("name", name.into())],
    )
}

fn group(row: &Row) -> Result<Group, DbError> {
    Ok(Group { id: row.get("id")?, skey: row.get("skey")?, name: row.get("name")? })
}
