//! The journal on PostgreSQL: a trigger for each row, and settings of the transaction that tell it the entry.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::session::PostgresSession;
use crate::driver::purpose::Purpose;
use crate::journal_entry::{Entry, LARGE, PREFIX};
use crate::schema::{self, TableSpec};
use crate::{DbError, micros};

/// The setting that stops the journal of a transaction.
const OFF: &str = "shopwright.journal";
/// The setting that keeps the number of its entry, once there is a change.
const ENTRY: &str = "shopwright.entry";

/// Triggers of a table.
const TRIGGERS: i64 = 4;

impl PostgresSession {
    /// Makes the triggers as this build wants them, where they are not.
    pub(crate) fn install_journal(&mut self) -> Result<(), DbError> {
        let tables = self.table_names()?;
        let there = |name: &str| tables.iter().any(|there| there == name);
        if !there("journal_context") {
            return Ok(());
        }
        let rows = self.rows("select quote_ident(current_schema()) as quoted", &[])?;
        let schema = rows.first().ok_or_else(|| DbError::sql("the server named no schema"))?;
        let mut script = functions(&schema.get::<String>("quoted")?);
        let mut count = 0;
        for table in schema::journalled().filter(|table| there(table.name)) {
            script.push_str(&triggers(table));
            count += TRIGGERS;
        }
        let mark = Sha256::digest(&script).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let known = "select 1 as yes from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                     where n.nspname = current_schema() and p.proname = 'shopwright_journalled'
                       and obj_description(p.oid, 'pg_proc') = :mark and :count =
                         (select count(*) from pg_trigger t join pg_class c on c.oid = t.tgrelid
                          where c.relnamespace = n.oid and t.tgfoid = p.oid)";
        if !self.rows(known, &[("mark", (&mark).into()), ("count", count.into())])?.is_empty() {
            return Ok(());
        }
        self.script(&script)?;
        self.script(&format!("comment on function shopwright_journalled() is '{mark}'"))
    }

    /// Journals nothing of what this transaction changes from here on.
    pub(crate) fn skip_journal(&mut self) -> Result<(), DbError> {
        self.script(&format!("set local {OFF} = 'off'"))
    }

    /// Says who wrote this transaction's entry, if there are changes; without one it is the store's.
    pub(crate) fn keep_entry(&mut self, entry: Option<&Entry>) -> Result<(), DbError> {
        let Some(entry) = entry else { return Ok(()) };
        if self.purpose() == Purpose::Read {
            return Ok(());
        }
        let sql = format!(
            "update journal set time = :time, actor = :actor, user_id = :user_id, princ_id = :princ_id,
               command = :command, tool = :tool, application = :application, topic = :topic, event = :event, key = :key
             where id = cast(nullif(current_setting('{ENTRY}', true), '') as bigint)"
        );
        self.run(
            &sql,
            &[
                ("time", micros(entry.time).into()),
                ("actor", entry.actor.word().into()),
                ("user_id", entry.user_id.into()),
                ("princ_id", entry.princ_id.into()),
                ("command", (&entry.command).into()),
                ("tool", (&entry.tool).into()),
                ("application", (&entry.application).into()),
                ("topic", (&entry.topic).into()),
                ("event", entry.event.into()),
                ("key", entry.key.clone().into()),
            ],
        )?;
        Ok(())
    }
}

/// The functions of all triggers. They write with their owner's rights: who may change a row writes no journal.
fn functions(schema: &str) -> String {
    let kept = |row: &str| format!("{schema}.shopwright_journal_kept({row}, entry)::text");
    let (kept_before, kept_after) = (kept("before_row"), kept("after_row"));
    format!(
        "create or replace function shopwright_journal_kept(fields jsonb, entry bigint) returns jsonb
         language plpgsql security definer set search_path = pg_catalog as $body$
         declare field record; hash text;
         begin
           if octet_length(fields::text) <= {LARGE} then
             return fields;
           end if;
           for field in select e.key, e.value::text as value from jsonb_each(fields) e
             where octet_length(e.value::text) > {LARGE} loop
             hash := encode(sha256(convert_to(field.value, 'UTF8')), 'hex');
             insert into {schema}.journal_values as v (hash, journal_id, value) values (hash, entry, field.value)
               on conflict on constraint journal_values_pkey do update
               set journal_id = greatest(v.journal_id, excluded.journal_id);
             fields := jsonb_set(fields, array[field.key],
               jsonb_build_object('hash', hash, 'size', octet_length(field.value)));
           end loop;
           return fields;
         end $body$;
         create or replace function shopwright_journalled() returns trigger language plpgsql security definer
         set search_path = pg_catalog as $body$
         declare
           entry bigint; before_row jsonb; after_row jsonb; secret text; number bigint;
           columns text[] := string_to_array(TG_ARGV[1], ',');
         begin
           if current_setting('{OFF}', true) = 'off' then
             return null;
           end if;
           if TG_OP = 'TRUNCATE' then
             execute format('delete from %I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME);
             return null;
           end if;
           if TG_OP <> 'INSERT' then before_row := to_jsonb(old); end if;
           if TG_OP <> 'DELETE' then after_row := to_jsonb(new); end if;
           if TG_OP = 'UPDATE' and before_row = after_row then
             return null;
           end if;
           if TG_ARGV[0] = 'rows' then
             number := coalesce(before_row, after_row) ->> 'id';
           end if;
           if TG_OP = 'UPDATE' and TG_ARGV[0] = 'rows' then
             select jsonb_object_agg(b.key, b.value), jsonb_object_agg(b.key, a.value) into before_row, after_row
             from jsonb_each(before_row) b join jsonb_each(after_row) a on a.key = b.key
             where a.value is distinct from b.value;
           end if;
           foreach secret in array columns loop
             if before_row -> secret <> 'null' then
               before_row := before_row || jsonb_build_object(secret, jsonb_build_object('changed', true));
             end if;
             if after_row -> secret <> 'null' then
               after_row := after_row || jsonb_build_object(secret, jsonb_build_object('changed', true));
             end if;
           end loop;
           entry := nullif(current_setting('{ENTRY}', true), '')::bigint;
           if entry is null then
             insert into {schema}.journal (time, actor, command)
             values (to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), 'store', '')
             returning id into entry;
             perform set_config('{ENTRY}', entry::text, true);
           end if;
           insert into {schema}.journal_changes (journal_id, table_name, row_id, before, after)
           values (entry, TG_TABLE_NAME, coalesce(number, 0), {kept_before}, {kept_after});
           return null;
         end $body$;\n"
    )
}

fn triggers(table: &TableSpec) -> String {
    let what = if table.has_id() { "rows" } else { "table" };
    let secrets: Vec<_> =
        table.columns().map(|column| column.name).filter(|column| table.is_secret(column)).collect();
    let (name, secrets) = (table.name, secrets.join(","));
    let mut script = String::new();
    for change in ["insert", "update", "delete"] {
        let _ = writeln!(
            script,
            "create or replace trigger {PREFIX}{change} after {change} on \"{name}\"
             for each row execute function shopwright_journalled('{what}', '{secrets}');"
        );
    }
    let _ = writeln!(
        script,
        "create or replace trigger {PREFIX}truncate before truncate on \"{name}\"
         for each statement execute function shopwright_journalled('{what}', '{secrets}');"
    );
    script
}
