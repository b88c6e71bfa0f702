//! The tables of a build, read off an empty database in memory that its own migrations made.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::error::error;
use crate::DbError;
use crate::column_form::{Form, Shapes};
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

/// Forms of the columns of the tables that these statements make.
pub(crate) fn shapes(script: &str) -> Result<Shapes, DbError> {
    let connection = Connection::open_in_memory().map_err(error)?;
    connection.execute_batch(script).map_err(error)?;
    let names: Vec<String> = list(
        &connection,
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
    )?;
    names.into_iter().map(|name| Ok((name.clone(), shape(&connection, &name)?))).collect()
}

/// Forms of a table's columns.
pub(crate) fn shape(connection: &Connection, table: &str) -> Result<Vec<(String, Form)>, DbError> {
    let sql = "select c.name, lower(c.type), c.pk > 0, c.\"notnull\" = 0 and c.pk = 0,
           (select f.\"table\" from pragma_foreign_key_list(:table) f where f.\"from\" = c.name limit 1),
           exists (select 1 from pragma_index_list(:table) l where l.\"unique\" and not l.partial
             and (select count(*) from pragma_index_info(l.name)) = 1
             and exists (select 1 from pragma_index_info(l.name) i where i.name = c.name)),
           exists (select 1 from pragma_index_list(:table) l join pragma_index_info(l.name) i
             where i.seqno = 0 and i.name = c.name)
         from pragma_table_info(:table) c order by c.cid";
    let mut statement = connection.prepare(sql).map_err(error)?;
    let forms = statement.query_map([table], |row| {
        let (name, kind): (String, String) = (row.get(0)?, row.get(1)?);
        let (is_key, is_nullable): (bool, bool) = (row.get(2)?, row.get(3)?);
        let (is_unique, is_first): (bool, bool) = (row.get(5)?, row.get(6)?);
        let key = Form::key_of(is_key, is_unique, is_first);
        let kind = kind_of(&kind).map_or(kind, |kind| kind.word().to_owned());
        Ok((name, Form { kind, key, is_nullable, points_to: row.get(4)? }))
    });
    forms.and_then(Iterator::collect).map_err(error)
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
