//! Numbers for rows that are made many at a time: free ones, those behind keys, those of counters.

use std::collections::BTreeMap;

use crate::{DbError, Tx, schema, transfer};

/// The first number of each table that no row ever had.
pub fn first_free(tx: &mut Tx) -> Result<BTreeMap<String, i64>, DbError> {
    let mut free = BTreeMap::new();
    for table in transfer::tables()?.into_iter().filter(|table| table.numbered) {
        let last = tx.last_id(&table)?;
        free.insert(table.name, last + 1);
    }
    Ok(free)
}

/// Numbers by `skey`, of a table that has such a column.
pub fn by_key(tx: &mut Tx, table: &str) -> Result<BTreeMap<String, i64>, DbError> {
    let spec = schema::table(table).filter(|spec| spec.columns().any(|column| column.name == "skey"));
    let spec = spec.ok_or_else(|| DbError::Parameter(table.to_owned()))?;
    let rows = tx.rows(&format!("select skey, id from {} where skey is not null", spec.name), &[])?;
    rows.iter().map(|row| Ok((row.get("skey")?, row.get("id")?))).collect()
}

/// Whether a table has no rows, removed ones counted.
pub fn is_empty(tx: &mut Tx, table: &str) -> Result<bool, DbError> {
    let spec = schema::table(table).ok_or_else(|| DbError::Parameter(table.to_owned()))?;
    Ok(tx.row(&format!("select 1 as there from {} limit 1", spec.name), &[])?.is_none())
}

/// How many rows a table has, removed ones counted.
pub fn count(tx: &mut Tx, table: &str) -> Result<i64, DbError> {
    let spec = schema::table(table).ok_or_else(|| DbError::Parameter(table.to_owned()))?;
    let row = tx.row(&format!("select count(*) as n from {}", spec.name), &[])?;
    row.map_or(Ok(0), |row| row.get("n"))
}

/// Takes so many numbers of a counter; the first of them.
pub fn take(tx: &mut Tx, counter: &str, count: i64) -> Result<i64, DbError> {
    let row = tx.row(
        "update counters set next = next + :count where skey = :skey returning next - :count as first",
        &[("skey", counter.into()), ("count", count.into())],
    )?;
    row.ok_or_else(|| DbError::Dangling(format!("there is no counter `{counter}`")))?.get("first")
}
