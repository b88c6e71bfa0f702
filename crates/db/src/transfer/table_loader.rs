//! Rows into an empty database.

use super::error::TransferError;
use super::table::Table;
use crate::driver::postgres::CopyIn;
use crate::{DbError, Tx, Value};

/// Removes every row of these tables that moves; tables that point to them must be among them.
pub fn clear(tx: &mut Tx, tables: &[Table]) -> Result<(), DbError> {
    tx.pause_changes()?;
    tx.clear(tables)
}

/// Whether every row points to rows that are there, once all tables are filled.
pub fn check_links(tx: &mut Tx) -> Result<(), DbError> {
    tx.check_links()
}

/// A table that is being filled, in a transaction of [`crate::Db::bulk_write`]; one at a time.
pub struct TableLoader<'a> {
    table: &'a Table,
    way: Way,
}

enum Way {
    Copy(CopyIn),
    Insert(String),
}

impl<'a> TableLoader<'a> {
    /// Begins to fill an empty table.
    pub fn new(tx: &mut Tx, table: &'a Table) -> Result<Self, DbError> {
        let way = match tx.copy_in(table)? {
            Some(copy) => Way::Copy(copy),
            None => Way::Insert(table.insert()),
        };
        Ok(Self { table, way })
    }

    /// Adds a row: a value for each column, in order.
    pub fn push(&mut self, tx: &mut Tx, values: &[Value]) -> Result<(), TransferError> {
        match &mut self.way {
            Way::Insert(sql) => tx.insert_row(sql, values)?,
            Way::Copy(copy) => {
                let has_zero = |value: &Value| matches!(value, Value::Text(text) if text.contains('\0'));
                if let Some(at) = values.iter().position(has_zero) {
                    return Err(TransferError::Value {
                        table: self.table.name.clone(),
                        row: self.table.row_words(values),
                        column: self.table.columns.get(at).map(|c| c.name.clone()).unwrap_or_default(),
                        what: "text with a zero byte, which PostgreSQL does not take",
                    });
                }
                copy.push(values)?;
            }
        }
        Ok(())
    }

    /// All rows are there. Numbers up to `last_id` are not given again.
    pub fn finish(self, tx: &mut Tx, last_id: i64) -> Result<(), DbError> {
        if let Way::Copy(copy) = self.way {
            copy.finish()?;
        }
        if self.table.numbered { tx.set_last_id(self.table, last_id) } else { Ok(()) }
    }
}
