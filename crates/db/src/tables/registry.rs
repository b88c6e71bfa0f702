//! Lists of keys with names that the owner may extend: kinds of notes, states of tasks, keys of events.

use crate::{DbError, Tx};

/// Keys and names of a list, in order.
pub fn values(tx: &mut Tx, branch: &str, language: &str) -> Result<Vec<(String, String)>, DbError> {
    let rows = tx.rows(
        "select r.skey, coalesce(n.name, r.name) as name from registry r
         left join names n on n.entity = 'registry' and n.elem_id = r.id and n.language = :language
         where r.branch = :branch order by r.position, r.id",
        &[("branch", branch.into()), ("language", language.into())],
    )?;
    rows.iter().map(|row| Ok((row.get("skey")?, row.get("name")?))).collect()
}

/// Whether a list has this key.
pub fn has(tx: &mut Tx, branch: &str, skey: &str) -> Result<bool, DbError> {
    let row = tx.row(
        "select 1 as yes from registry where branch = :branch and skey = :skey",
        &[("branch", branch.into()), ("skey", skey.into())],
    )?;
    Ok(row.is_some())
}

/// The row of a key.
pub fn id_of(tx: &mut Tx, branch: &str, skey: &str) -> Result<Option<i64>, DbError> {
    let row = tx.row(
        "select id from registry where branch = :branch and skey = :skey",
        &[("branch", branch.into()), ("skey", skey.into())],
    )?;
    row.map(|row| row.get("id")).transpose()
}

/// Gives a key another name, for languages that have none of their own.
pub fn rename(tx: &mut Tx, id: i64, name: &str) -> Result<(), DbError> {
    tx.run("update registry set name = :name where id = :id", &[("id", id.into()), ("name", name.into())])?;
    Ok(())
}

/// Adds a key at the end of a list; one that is there is a [`DbError::Conflict`].
pub fn create(tx: &mut Tx, branch: &str, skey: &str, name: &str) -> Result<i64, DbError> {
    tx.insert(
        "insert into registry (branch, skey, name, position) values (:branch, :skey, :name,
         (select coalesce(max(position), 0) + 1 from registry where branch = :branch)) returning id",
        &[("branch", branch.into()), ("skey", skey.into()), ("name", name.into())],
    )
}
