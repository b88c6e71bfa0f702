//! Names of the store's things in its languages. A table's own `name` stands in where a language has none.

use crate::{DbError, Tx};

/// Gives a row a name in a language, or changes it.
pub fn set(tx: &mut Tx, entity: &str, elem_id: i64, language: &str, name: &str) -> Result<(), DbError> {
    tx.run(
        "insert into names (entity, elem_id, language, name) values (:entity, :elem_id, :language, :name)
         on conflict (entity, elem_id, language) do update set name = excluded.name",
        &[
            ("entity", entity.into()),
            ("elem_id", elem_id.into()),
            ("language", language.into()),
            ("name", name.into()),
        ],
    )?;
    Ok(())
}

/// Gives a row a name in a language that has none yet.
pub fn add(tx: &mut Tx, entity: &str, elem_id: i64, language: &str, name: &str) -> Result<(), DbError> {
    tx.run(
        "insert into names (entity, elem_id, language, name) values (:entity, :elem_id, :language, :name)
         on conflict (entity, elem_id, language) do nothing",
        &[
            ("entity", entity.into()),
            ("elem_id", elem_id.into()),
            ("language", language.into()),
            ("name", name.into()),
        ],
    )?;
    Ok(())
}

/// Forgets the names of a row that is removed.
pub fn remove(tx: &mut Tx, entity: &str, elem_id: i64) -> Result<(), DbError> {
    tx.run(
        "delete from names where entity = :entity and elem_id = :elem_id",
        &[("entity", entity.into()), ("elem_id", elem_id.into())],
    )?;
    Ok(())
}
