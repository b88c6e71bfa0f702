//! Rows of any declared table, by the names of its columns.
//!
//! Names are checked against `schema`, so that they can come from outside;
//! whether somebody may write the table is the caller's to know.

use jiff::Timestamp;

use crate::schema::{self, TableSpec};
use crate::transfer::{Column, Kind, Table, TableLoader, TransferError};
use crate::{DbError, Tx, Value, micros};

/// Rows of one statement.
const AT_ONCE: usize = 32;

/// The table and its columns, if they are declared.
fn known(table: &str, columns: &[&str]) -> Result<&'static TableSpec, DbError> {
    let spec = schema::table(table).ok_or_else(|| DbError::Parameter(table.to_owned()))?;
    match columns.iter().find(|column| !spec.columns().any(|known| known.name == **column)) {
        Some(column) => Err(DbError::Parameter((*column).to_owned())),
        None => Ok(spec),
    }
}

/// Adds a row; answers its number.
pub fn insert(tx: &mut Tx, table: &str, values: &[(&str, Value)]) -> Result<i64, DbError> {
    let columns: Vec<_> = values.iter().map(|(column, _)| *column).collect();
    let spec = known(table, &columns)?;
    let places: Vec<_> = columns.iter().map(|column| format!(":{column}")).collect();
    let sql = format!(
        "insert into {} ({}) values ({}) returning id",
        spec.name,
        columns.join(", "),
        places.join(", ")
    );
    tx.insert(&sql, values)
}

/// Adds rows: a value for each column, in order.
pub fn insert_many(tx: &mut Tx, table: &str, columns: &[&str], rows: &[Vec<Value>]) -> Result<(), DbError> {
    let spec = known(table, columns)?;
    let names: Vec<Vec<String>> =
        (0..AT_ONCE).map(|at| columns.iter().map(|column| format!("{column}{at}")).collect()).collect();
    for some in rows.chunks(AT_ONCE) {
        let places = names.iter().take(some.len()).map(|names| format!("(:{})", names.join(", :")));
        let places: Vec<_> = places.collect();
        let sql = format!("insert into {} ({}) values {}", spec.name, columns.join(", "), places.join(", "));
        let values = names.iter().zip(some).flat_map(|(names, row)| names.iter().zip(row));
        let values: Vec<_> = values.map(|(name, value)| (name.as_str(), value.clone())).collect();
        tx.run(&sql, &values)?;
    }
    Ok(())
}

/// Adds very many rows with their numbers, in the way that is fastest on each database; the columns must hold `id`.
/// In a transaction of [`crate::Db::bulk_write`] SQLite does not look whether they point to rows that are there.
pub fn load(
    tx: &mut Tx,
    table: &str,
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<Value>>,
) -> Result<u64, TransferError> {
    let spec = known(table, columns)?;
    let id_at = columns.iter().position(|column| *column == "id");
    let id_at = id_at.ok_or_else(|| DbError::Parameter("id".to_owned()))?;
    let table = Table {
        name: spec.name.to_owned(),
        // Kinds are of no account where values are given in their own.
        columns: columns.iter().map(|name| Column { name: (*name).to_owned(), kind: Kind::Text }).collect(),
        key: vec!["id".to_owned()],
        numbered: true,
    };
    let mut last = tx.last_id(&table)?;
    let mut loader = TableLoader::new(tx, &table)?;
    let mut count = 0;
    for row in rows {
        if let Some(Value::Int(id)) = row.get(id_at) {
            last = last.max(*id);
        }
        loader.push(tx, &row)?;
        count += 1;
    }
    loader.finish(tx, last)?;
    Ok(count)
}

/// Changes a row. Of an edited table it must still have this `version`, which grows; whether it had.
pub fn update(
    tx: &mut Tx,
    table: &str,
    id: i64,
    version: Option<i64>,
    values: &[(&str, Value)],
    now: Timestamp,
) -> Result<bool, DbError> {
    let columns: Vec<_> = values.iter().map(|(column, _)| *column).collect();
    let spec = known(table, &columns)?;
    let mut changes: Vec<_> = columns.iter().map(|column| format!("{column} = :{column}")).collect();
    let mut params = values.to_vec();
    params.push(("row_id", id.into()));
    if spec.is_edited {
        changes.push("version = version + 1, changed = :changed_now".to_owned());
        params.push(("changed_now", micros(now).into()));
    }
    let mut sql = format!("update {} set {} where id = :row_id", spec.name, changes.join(", "));
    if let Some(version) = version.filter(|_| spec.is_edited) {
        sql.push_str(" and version = :row_version");
        params.push(("row_version", version.into()));
    }
    Ok(tx.run(&sql, &params)? > 0)
}

/// Whether a table has a row of this number that is not removed.
pub fn is_there(tx: &mut Tx, table: &str, id: i64) -> Result<bool, DbError> {
    let spec = known(table, &[])?;
    let there = if spec.keeps_deleted { " and deleted is null" } else { "" };
    let sql = format!("select 1 as yes from {} where id = :id{there}", spec.name);
    Ok(tx.row(&sql, &[("id", id.into())])?.is_some())
}

/// Removes a row: marks it where the table keeps removed rows. Whether it was there.
pub fn remove(tx: &mut Tx, table: &str, id: i64, now: Timestamp) -> Result<bool, DbError> {
    let spec = known(table, &[])?;
    let count = if spec.keeps_deleted {
        let sql = format!(
            "update {} set deleted = :now, changed = :now, version = version + 1 where id = :id and deleted is null",
            spec.name
        );
        tx.run(&sql, &[("id", id.into()), ("now", micros(now).into())])?
    } else {
        tx.run(&format!("delete from {} where id = :id", spec.name), &[("id", id.into())])?
    };
    Ok(count > 0)
}
