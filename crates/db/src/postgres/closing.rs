//! A schema closed for writing: a trigger for each table.

use super::PostgresSession;
use crate::DbError;
use crate::closing::{PREFIX, WORDS};

/// The state by which the refusal of a closed database is known.
pub(super) const STATE: &str = "SW001";

impl PostgresSession {
    pub(crate) fn closing_triggers(&mut self) -> Result<Vec<String>, DbError> {
        let sql = "select distinct t.tgname as name
                   from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
                   where n.nspname = current_schema() and starts_with(t.tgname::text, :prefix)";
        self.rows(sql, &[("prefix", PREFIX.into())])?.iter().map(|row| row.get("name")).collect()
    }

    pub(crate) fn add_closing_triggers(&mut self, mark: &str, tables: &[String]) -> Result<(), DbError> {
        let all: Vec<_> = tables.iter().map(|table| format!("\"{table}\"")).collect();
        // All at once, before anything is changed: who writes is waited for here.
        self.script(&format!("lock table {} in share row exclusive mode", all.join(", ")))?;
        self.script(&format!(
            "create or replace function shopwright_closed() returns trigger language plpgsql
             as 'begin raise exception ''{WORDS}'' using errcode = ''{STATE}''; end'"
        ))?;
        for table in &all {
            self.script(&format!(
                "create trigger \"{mark}\" before insert or update or delete or truncate on {table}
                 for each statement execute function shopwright_closed()"
            ))?;
        }
        Ok(())
    }

    pub(crate) fn reopen(&mut self) -> Result<(), DbError> {
        let triggers = self.closing_triggers()?;
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
