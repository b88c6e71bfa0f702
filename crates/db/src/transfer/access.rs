//! What moving, backups and the write freeze ask of the drivers.

use super::error::TransferError;
use super::table::Table;
use crate::database::Driver;
use crate::driver::postgres::CopyIn;
use crate::driver::purpose::Purpose;
use crate::transaction::Session;
use crate::{Db, DbError, Tx, Value, migrate};

impl Db {
    /// Changes all tables in one transaction, which may take long; links between rows are looked at
    /// by [`crate::transfer::check_links`].
    pub fn bulk_write<T, E: From<DbError>>(&self, f: impl FnOnce(&mut Tx) -> Result<T, E>) -> Result<T, E> {
        self.within(Purpose::Bulk, f)
    }

    /// Whether there is a database file; a server's database is taken to be there.
    pub fn is_there(&self) -> Result<bool, DbError> {
        match &self.driver {
            Driver::Sqlite(sqlite) => sqlite.is_there(),
            Driver::Postgres(_) => Ok(true),
        }
    }

    /// Like [`Db::migrate`], but no further than to this step: for rows of an older build.
    pub fn migrate_to(&self, step: i64) -> Result<(), DbError> {
        if let Driver::Sqlite(sqlite) = &self.driver {
            sqlite.prepare_file()?;
        }
        self.write(|tx| migrate::run_to(tx, self.dialect(), step))
    }

    /// Whether the database can be read from end to end. A server looks after its own.
    pub fn is_sound(&self) -> Result<bool, DbError> {
        match self.driver {
            Driver::Postgres(_) => {
                self.read(|tx| Ok::<_, DbError>(tx.row("select 1 as one", &[])?.is_some()))
            }
            Driver::Sqlite(_) => self.read(|tx| match tx.row("pragma quick_check(1)", &[])? {
                Some(row) => Ok(row.get::<String>("quick_check")? == "ok"),
                None => Ok::<_, DbError>(false),
            }),
        }
    }
}

impl Tx {
    pub(crate) fn each(
        &mut self,
        sql: &str,
        take: &mut dyn FnMut(&mut Vec<Value>) -> Result<(), TransferError>,
    ) -> Result<(), TransferError> {
        match &mut self.session {
            Session::Sqlite(session) => session.each(sql, take),
            Session::Postgres(session) => session.each(sql, take),
        }
    }

    /// The server's way to take many rows; `None` where rows are inserted one by one.
    pub(crate) fn copy_in(&mut self, table: &Table) -> Result<Option<CopyIn>, DbError> {
        match &mut self.session {
            Session::Sqlite(_) => Ok(None),
            Session::Postgres(session) => session.copy_in(table).map(Some),
        }
    }

    pub(crate) fn insert_row(&mut self, sql: &str, values: &[Value]) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.insert_row(sql, values),
            Session::Postgres(_) => Err(DbError::sql("rows are copied here")),
        }
    }

    pub(crate) fn clear(&mut self, tables: &[Table]) -> Result<(), DbError> {
        let filters: Vec<_> = tables.iter().map(Table::moving).collect();
        let tables: Vec<_> = tables.iter().zip(filters.iter().map(String::as_str)).collect();
        match &mut self.session {
            Session::Sqlite(session) => session.clear(&tables),
            Session::Postgres(session) => session.clear(&tables),
        }
    }

    pub(crate) fn last_id(&mut self, table: &Table) -> Result<i64, DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.last_id(table),
            Session::Postgres(session) => session.last_id(table),
        }
    }

    pub(crate) fn set_last_id(&mut self, table: &Table, last: i64) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.set_last_id(table, last),
            Session::Postgres(session) => session.set_last_id(table, last),
        }
    }

    pub(crate) fn check_links(&mut self) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.check_links(),
            // The server has looked at every row it took.
            Session::Postgres(_) => Ok(()),
        }
    }

    pub(crate) fn table_names(&mut self) -> Result<Vec<String>, DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.table_names(),
            Session::Postgres(session) => session.table_names(),
        }
    }

    pub(crate) fn freeze_triggers(&mut self) -> Result<Vec<String>, DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.freeze_triggers(),
            Session::Postgres(session) => session.freeze_triggers(),
        }
    }

    pub(crate) fn add_freeze_triggers(&mut self, mark: &str, tables: &[String]) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.add_freeze_triggers(mark, tables),
            Session::Postgres(session) => session.add_freeze_triggers(mark, tables),
        }
    }

    /// Lets a frozen database be written again, from the end of this transaction on.
    pub fn unfreeze_writes(&mut self) -> Result<(), DbError> {
        match &mut self.session {
            Session::Sqlite(session) => session.unfreeze_writes(),
            Session::Postgres(session) => session.unfreeze_writes(),
        }
    }
}
