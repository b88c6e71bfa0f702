//! Notes of changed rows on PostgreSQL: triggers of each table, one note for each row, with its transaction.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::listen::CHANGES;
use super::session::PostgresSession;
use crate::change_notes::{EVERYTHING, PREFIX, PRUNED, Position, Seen, told_tables};
use crate::schema::{Sets, TableSpec};
use crate::{DbError, Row, Value};

/// The number of the transaction, with the times it came round.
const TRANSACTION: &str = "pg_current_xact_id()::text::bigint";
/// The setting that stops the notes of a transaction.
const SETTING: &str = "shopwright.changes";

impl PostgresSession {
    /// Makes the triggers as this build wants them, where they are not.
    pub(crate) fn install_changes(&mut self) -> Result<(), DbError> {
        let tables = self.table_names()?;
        let there = |name: &str| tables.iter().any(|there| there == name);
        if !there("changes") {
            return Ok(());
        }
        let rows =
            self.rows("select current_schema()::text as name, quote_ident(current_schema()) as quoted", &[])?;
        let schema = rows.first().ok_or_else(|| DbError::sql("the server named no schema"))?;
        let mut script = function(&schema.get::<String>("quoted")?, &schema.get::<String>("name")?);
        for table in told_tables().filter(|table| there(table.name)) {
            script.push_str(&triggers(table));
        }
        let mark = Sha256::digest(&script).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let known = "select 1 as yes from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                     where n.nspname = current_schema() and p.proname = 'shopwright_changed'
                       and obj_description(p.oid, 'pg_proc') = :mark";
        if !self.rows(known, &[("mark", (&mark).into())])?.is_empty() {
            return Ok(());
        }
        // Notes of another server's transactions, out of a dump, would be new for ever.
        let sql = format!("delete from changes where transaction_id > {TRANSACTION}");
        self.run(&sql, &[])?;
        self.script(&script)?;
        self.script(&format!("comment on function shopwright_changed() is '{mark}'"))
    }

    pub(crate) fn pause_changes(&mut self) -> Result<(), DbError> {
        self.script(&format!("set local {SETTING} = 'off'"))
    }

    /// Notes that anything may have changed, and makes notes again.
    pub(crate) fn resume_changes(&mut self) -> Result<(), DbError> {
        self.script(&format!("set local {SETTING} = 'on'"))?;
        if !self.table_names()?.iter().any(|table| table == "changes") {
            return Ok(());
        }
        let sql =
            format!("insert into changes (table_name, transaction_id) values (:everything, {TRANSACTION})");
        self.run(&sql, &[("everything", EVERYTHING.into())])?;
        self.signal(CHANGES, "")
    }

    pub(crate) fn change_position(&mut self) -> Result<Position, DbError> {
        let rows = self.rows("select pg_current_snapshot()::text as seen", &[])?;
        let row = rows.first().ok_or_else(|| DbError::sql("the server named no snapshot"))?;
        Position::parse(&row.get::<String>("seen")?)
    }

    pub(crate) fn changes_since(&mut self, position: &Position, most: usize) -> Result<Vec<Row>, DbError> {
        let Position(Seen::Snapshot { oldest, .. }) = position else {
            return Err(DbError::Parameter("position".to_owned()));
        };
        let oldest = i64::try_from(*oldest).map_err(DbError::sql)?;
        // Who sees the removal saw all that was removed. Who does not may still have seen it all: every transaction
        // older than the oldest open one.
        let sql = format!(
            "select table_name, row_id from changes
             where transaction_id >= :oldest and (table_name <> '{PRUNED}' or row_id >= :oldest)
               and not pg_visible_in_snapshot(transaction_id::text::xid8, cast(cast(:seen as text) as pg_snapshot))
             order by id limit :most"
        );
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.rows(
            &sql,
            &[("oldest", Value::Int(oldest)), ("seen", position.text().into()), ("most", most.into())],
        )
    }

    /// Keeps the newest changes; the newest of the others becomes a mark: which transaction removed them, and in
    /// place of a row's number the newest transaction of theirs.
    pub(crate) fn prune_changes(&mut self, kept: i64) -> Result<(), DbError> {
        self.lock(CHANGES, false)?;
        let found = self
            .rows("select id from changes order by id desc limit 1 offset :kept", &[("kept", kept.into())])?;
        let Some(row) = found.first() else { return Ok(()) };
        let of = [("id", Value::Int(row.get("id")?))];
        self.run(
            &format!(
                "update changes set table_name = '{PRUNED}', transaction_id = {TRANSACTION}, row_id =
                   (select max(case when o.table_name = '{PRUNED}' then o.row_id else o.transaction_id end)
                    from changes o where o.id <= :id)
                 where id = :id"
            ),
            &of,
        )?;
        self.run("delete from changes where id < :id", &of)?;
        Ok(())
    }
}

/// The function of all triggers. It writes with its owner's rights: who may change a row need not see the notes.
fn function(schema: &str, name: &str) -> String {
    let channel = format!("shopwright_{name}").replace('\'', "''");
    let signal = super::listen::packed(CHANGES, "");
    format!(
        "create index if not exists changes_transaction on {schema}.changes (transaction_id);
         create or replace function shopwright_changed() returns trigger language plpgsql security definer
         set search_path = pg_catalog as $body$
         declare is_changed boolean;
         begin
           if current_setting('{SETTING}', true) = 'off' then
             return null;
           end if;
           if TG_OP = 'TRUNCATE' then
             insert into {schema}.changes (table_name, transaction_id) values (TG_TABLE_NAME, {TRANSACTION});
           elsif TG_ARGV[0] = 'table' then
             if TG_OP = 'DELETE' then
               insert into {schema}.changes (table_name, transaction_id)
               select TG_TABLE_NAME, {TRANSACTION} from (select 1 from old_rows limit 1) r;
             else
               insert into {schema}.changes (table_name, transaction_id)
               select TG_TABLE_NAME, {TRANSACTION} from (select 1 from new_rows limit 1) r;
             end if;
           elsif TG_OP = 'INSERT' then
             insert into {schema}.changes (table_name, row_id, transaction_id)
             select TG_TABLE_NAME, r.id, {TRANSACTION} from new_rows r;
           elsif TG_OP = 'DELETE' then
             insert into {schema}.changes (table_name, row_id, transaction_id)
             select TG_TABLE_NAME, r.id, {TRANSACTION} from old_rows r;
           else
             insert into {schema}.changes (table_name, row_id, transaction_id)
             select TG_TABLE_NAME, r.id, {TRANSACTION} from (select id from new_rows union select id from old_rows) r;
           end if;
           is_changed := found;
           if TG_NARGS > 1 and TG_OP <> 'TRUNCATE' then
             execute format(
               'insert into {schema}.changes (table_name, row_id, transaction_id)
                select distinct %s, r.%I, {TRANSACTION} from (%s) r where r.%I is not null',
               case TG_ARGV[1] when 'entity' then quote_literal(TG_TABLE_NAME || '.') || ' || r.entity'
                 else quote_literal(TG_TABLE_NAME || '.' || TG_ARGV[1]) end,
               TG_ARGV[TG_NARGS - 1],
               case TG_OP when 'INSERT' then 'select * from new_rows' when 'DELETE' then 'select * from old_rows'
                 else 'select * from new_rows union all select * from old_rows' end,
               TG_ARGV[TG_NARGS - 1]);
           end if;
           if is_changed then
             perform pg_notify('{channel}', '{signal}');
           end if;
           return null;
         end $body$;\n"
    )
}

fn triggers(table: &TableSpec) -> String {
    let what = if table.has_id() { "'rows'" } else { "'table'" };
    // The last word names the column of the set's number.
    let set = match table.sets {
        None => String::new(),
        Some(Sets::Column(column)) => format!(", '{column}'"),
        Some(Sets::Element) => ", 'entity', 'elem_id'".to_owned(),
    };
    let table = table.name;
    let new = "referencing new table as new_rows";
    let old = "referencing old table as old_rows";
    let both = "referencing old table as old_rows new table as new_rows";
    let mut script = String::new();
    for (change, rows) in [("insert", new), ("update", both), ("delete", old), ("truncate", "")] {
        let _ = writeln!(
            script,
            "create or replace trigger {PREFIX}{change} after {change} on \"{table}\" {rows}
             for each statement execute function shopwright_changed({what}{set});"
        );
    }
    script
}
