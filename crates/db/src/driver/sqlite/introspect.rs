//! The tables of a build, read off an empty database in memory that its own migrations made.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::error::error;
use crate::DbError;
use crate::transfer::table::{Column, Kind, Table};

/// The tables that these statements make, each after the tables it points to.
pub(crate) fn tables(script: &str) -> Result<Vec<Table>, DbError> {
    let connection = Connection::open_in_memory().map_err(error)?;
    connection.execute_batch(script).map_err(error)?;
    let names: Vec<String> = list(
        &connection,
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by rowid",
    )?;
    let mut left = names
        .into_iter()
        .map(|name| {
            let points_to = format!(
                "select \"table\" from pragma_foreign_key_list('{name}') where \"table\" <> '{name}'"
            );
            Ok((table(&connection, &name)?, list(&connection, &points_to)?.into_iter().collect()))
        })
        .collect::<Result<Vec<(Table, BTreeSet<String>)>, DbError>>()?;
    let mut ordered: Vec<Table> = Vec::new();
    while !left.is_empty() {
        let is_done = |name: &String| ordered.iter().any(|table| table.name == *name);
        let next = left.iter().position(|(_, points_to)| points_to.iter().all(is_done));
        let next = next.ok_or_else(|| DbError::sql("tables point to each other in a circle"))?;
        ordered.push(left.remove(next).0);
    }
    Ok(ordered)
}

fn list(connection: &Connection, sql: &str) -> Result<Vec<String>, DbError> {
    let mut statement = connection.prepare(sql).map_err(error)?;
    let rows = statement.query_map([], |row| row.get(0)).map_err(error)?;
    rows.collect::<Result<_, _>>().map_err(error)
}

fn table(connection: &Connection, name: &str) -> Result<Table, DbError> {
    let sql = format!("select name, lower(type), pk from pragma_table_info('{name}') order by cid");
    let mut statement = connection.prepare(&sql).map_err(error)?;
    let columns: Vec<(String, String, i64)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .and_then(Iterator::collect)
        .map_err(error)?;
    let mut key: Vec<_> = columns.iter().filter(|(_, _, place)| *place > 0).collect();
    key.sort_by_key(|(_, _, place)| *place);
    if key.is_empty() {
        return Err(DbError::sql(format!("table `{name}` has no primary key")));
    }
    Ok(Table {
        name: name.to_owned(),
        // Of all whole numbers only the `{id}` of the migrations is an `integer` here.
        numbered: matches!(key.as_slice(), [(column, kind, _)] if column == "id" && kind == "integer"),
        key: key.into_iter().map(|(column, ..)| column.clone()).collect(),
        columns: columns
            .into_iter()
            .map(|(name, kind, _)| Ok(Column { kind: kind_of(&kind)?, name }))
            .collect::<Result<_, DbError>>()?,
    })
}

fn kind_of(declared: &str) -> Result<Kind, DbError> {
    Ok(match declared {
        "integer" | "bigint" => Kind::Int,
        "boolean" => Kind::Bool,
        "double precision" => Kind::Real,
        "text" => Kind::Text,
        "blob" => Kind::Bytes,
        other => return Err(DbError::sql(format!("a column of kind `{other}`"))),
    })
}
