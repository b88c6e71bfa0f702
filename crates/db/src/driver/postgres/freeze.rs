//! A schema frozen for writing: a trigger for each table.

use super::error::FROZEN;
use super::session::PostgresSession;
use crate::DbError;
use crate::driver::freeze::{PREFIX, WORDS};

impl PostgresSession {
    pub(crate) fn freeze_triggers(&mut self) -> Result<Vec<String>, DbError> {
        let sql = "select distinct t.tgname as name
                   from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
                   where n.nspname = current_schema() and starts_with(t.tgname::text, :prefix)";
        self.rows(sql, &[("prefix", PREFIX.into())])?.iter().map(|row| row.get("name")).collect()
    }

    pub(crate) fn add_freeze_triggers(&mut self, mark: &str, tables: &[String]) -> Result<(), DbError> {
        let all: Vec<_> = tables.iter().map(|table| format!("\"{table}\"")).collect();
        // All at once, before anything is changed: who writes is waited for here.
        self.script(&format!("lock table {} in share row exclusive mode", all.join(", ")))?;
        self.script(&format!(
            "create or replace function shopwright_closed() returns trigger language plpgsql
             as 'begin raise exception ''{WORDS}'' using errcode = ''{FROZEN}''; end'"
        ))?;
        for table in &all {
            self.script(&format!(
                "create trigger \"{mark}\" before insert or update or delete or truncate on {table}
                 for each statement execute function shopwright_closed()"
            ))?;
        }
        Ok(())
    }

    pub(crate) fn unfreeze_writes(&mut self) -> Result<(), DbError> {
        let triggers = self.freeze_triggers()?;
        if triggers.is_empty() {
            return Ok(());
        }
        for trigger in triggers {
            let sql =
                "select quote_ident(c.relname) as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
                       join pg_namespace n on n.oid = c.relnamespace
                       where n.nspname = current_schema() and t.tgname = :trigger";
            for table in self.rows(sql, &[("trigger", (&trigger).into())])? {
                self.script(&format!("drop trigger \"{trigger}\" on {}", table.get::<String>("name")?))?;
            }
        }
        self.script("drop function shopwright_closed()")
    }

    pub(crate) fn table_names(&mut self) -> Result<Vec<String>, DbError> {
        let sql = "select table_name as name from information_schema.tables
                   where table_schema = current_schema() and table_type = 'BASE TABLE'";
        self.rows(sql, &[])?.iter().map(|row| row.get("name")).collect()
    }
}
