//! A database file frozen for writing: a trigger for each table and each kind of change.

use super::session::SqliteSession;
use crate::DbError;
use crate::driver::freeze::{PREFIX, WORDS};

impl SqliteSession {
    pub(crate) fn freeze_triggers(&mut self) -> Result<Vec<String>, DbError> {
        let sql =
            "select name from sqlite_master where type = 'trigger' and substr(name, 1, :length) = :prefix";
        let length = PREFIX.len() as i64;
        let rows = self.rows(sql, &[("length", length.into()), ("prefix", PREFIX.into())])?;
        rows.iter().map(|row| row.get("name")).collect()
    }

    pub(crate) fn add_freeze_triggers(&mut self, mark: &str, tables: &[String]) -> Result<(), DbError> {
        for table in tables {
            for change in ["insert", "update", "delete"] {
                self.script(&format!(
                    "create trigger \"{mark}_{change}_{table}\" before {change} on \"{table}\"
                     begin select raise(abort, '{WORDS}'); end"
                ))?;
            }
        }
        Ok(())
    }

    pub(crate) fn unfreeze_writes(&mut self) -> Result<(), DbError> {
        for trigger in self.freeze_triggers()? {
            self.script(&format!("drop trigger \"{trigger}\""))?;
        }
        Ok(())
    }

    pub(crate) fn table_names(&mut self) -> Result<Vec<String>, DbError> {
        let sql = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'";
        self.rows(sql, &[])?.iter().map(|row| row.get("name")).collect()
    }
}
