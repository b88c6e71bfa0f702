//! The tables of a build, read off its migrations.

use super::table::Table;
use crate::driver::sqlite::introspect;
use crate::{DbError, Dialect, migrate};

/// The tables of this build, each after the tables it points to.
pub fn tables() -> Result<Vec<Table>, DbError> {
    tables_of(newest_step())
}

/// The tables as they were after this many steps of migration.
pub fn tables_of(step: i64) -> Result<Vec<Table>, DbError> {
    let mut tables = introspect::tables(&migrate::script(step, Dialect::Sqlite))?;
    // They are a database's own, and of the moment.
    tables.retain(|table| !["changes", "jobs", "journal_context"].contains(&table.name.as_str()));
    Ok(tables)
}

/// Forms of the columns of this build's tables.
pub(crate) fn shapes() -> Result<crate::column_form::Shapes, DbError> {
    introspect::shapes(&migrate::script(newest_step(), Dialect::Sqlite))
}

/// How many steps of migration this build has.
pub fn newest_step() -> i64 {
    migrate::newest()
}
