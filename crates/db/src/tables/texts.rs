//! Translations of names and texts, and the texts that only search engines show. A row's own columns stand in where a
//! language has none.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::id_list::Ids;
use crate::{DbError, Tx, micros, rows};

/// A column of a row in the language `:language`, for a statement that has the row under `alias`.
pub(crate) fn translated(alias: &str, entity: &str, field: &str) -> String {
    translated_as(alias, entity, field, field)
}

/// Like [`translated`], under another name.
pub(crate) fn translated_as(alias: &str, entity: &str, field: &str, name: &str) -> String {
    format!(
        "coalesce((select texts.value from texts where texts.entity = '{entity}' and texts.elem_id = {alias}.id
           and texts.language = :language and texts.field = '{field}'), {alias}.{field}) as {name}"
    )
}

/// Sets a text of a row in a language; the empty text removes it.
pub fn set(
    tx: &mut Tx,
    entity: &str,
    elem_id: i64,
    language: &str,
    field: &str,
    value: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    let mut params = vec![
        ("entity", entity.into()),
        ("elem_id", elem_id.into()),
        ("language", language.into()),
        ("field", field.into()),
    ];
    if value.is_empty() {
        let sql = "delete from texts
                   where entity = :entity and elem_id = :elem_id and language = :language and field = :field";
        tx.run(sql, &params)?;
        return Ok(());
    }
    params.extend([("value", value.into()), ("now", micros(now).into())]);
    tx.run(
        "insert into texts (entity, elem_id, language, field, value, created, changed)
         values (:entity, :elem_id, :language, :field, :value, :now, :now)
         on conflict (entity, elem_id, language, field)
         do update set value = excluded.value, changed = excluded.changed, version = texts.version + 1",
        &params,
    )?;
    Ok(())
}

/// Adds texts that are not there yet: row, language, field, text.
pub fn add_many(
    tx: &mut Tx,
    entity: &str,
    texts: &[(i64, &str, &str, &str)],
    now: Timestamp,
) -> Result<(), DbError> {
    let now = micros(now);
    let values = texts.iter().map(|(id, language, field, value)| {
        vec![
            entity.into(),
            (*id).into(),
            (*language).into(),
            (*field).into(),
            (*value).into(),
            (&now).into(),
            (&now).into(),
        ]
    });
    let values: Vec<_> = values.collect();
    let columns = ["entity", "elem_id", "language", "field", "value", "created", "changed"];
    rows::insert_many(tx, "texts", &columns, &values)
}

/// All texts of rows in a language, by row and field.
pub fn of(
    tx: &mut Tx,
    entity: &str,
    ids: &[i64],
    language: &str,
) -> Result<HashMap<(i64, String), String>, DbError> {
    let ids = Ids::new("id", ids);
    let sql = format!(
        "select elem_id, field, value from texts
         where entity = :entity and language = :language and elem_id in {}",
        ids.places()
    );
    let rows = tx.rows(&sql, &ids.with(&[("entity", entity.into()), ("language", language.into())]))?;
    rows.iter().map(|row| Ok(((row.get("elem_id")?, row.get("field")?), row.get("value")?))).collect()
}
