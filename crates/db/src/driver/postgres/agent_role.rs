//! The login under which agents' statements run, and the views it sees: all tables without their secrets.

use std::fmt::Write;
use std::sync::Arc;

use super::pool::Postgres;
use super::session::PostgresSession;
use crate::driver::purpose::Purpose;
use crate::schema::is_secret;
use crate::{DbError, Row, Value};

/// Name and password of the login; where it is kept.
const PASSWORD: &str = "reader_password";
/// What was made for the login, to see whether it has to be made anew.
const VIEWS: &str = "reader_views";

/// What the schema of the views says of itself.
const OURS: &str = "Made by Shopwright for statements of agents; it is dropped and made anew without asking";

/// Settings of the login's connections: whatever the server's own are, statements mean the same.
const SETTINGS: [&str; 6] = [
    "timezone = 'UTC'",
    "datestyle = 'ISO'",
    "bytea_output = 'hex'",
    "lock_timeout = '20s'",
    "standard_conforming_strings = on",
    "idle_in_transaction_session_timeout = '120s'",
];

/// The login.
pub(super) struct AgentRole {
    pub(super) role: String,
    pub(super) password: String,
    /// The schema of its views.
    pub(super) schema: String,
}

/// Makes the login and its views, where they are missing or the tables have changed.
pub(crate) fn prepare(database: &Arc<Postgres>) -> Result<(), DbError> {
    let mut session = PostgresSession::begin(database, Purpose::Write)?;
    make(&mut session)?;
    session.commit()
}

fn make(tx: &mut PostgresSession) -> Result<(), DbError> {
    tx.lock_for_all_stores("reader")?;
    let (role, schema, of) = names(tx)?;
    let script = script(tx, &role, &schema, &of)?;
    let there = "select 1 as yes from pg_roles r, pg_namespace n where r.rolname = :role and quote_ident(n.nspname) = :schema";
    let is_there = row(tx, there, &[("role", (&role).into()), ("schema", (&schema).into())])?.is_some();
    let password = secret(tx, PASSWORD)?;
    if is_there && password.is_some() && secret(tx, VIEWS)?.as_ref() == Some(&script) {
        return Ok(());
    }
    refuse_foreign(tx, &schema)?;
    let password = password.map_or_else(new_password, Ok)?;
    let has_role =
        row(tx, "select 1 as yes from pg_roles where rolname = :role", &[("role", (&role).into())])?;
    let verb = if has_role.is_some() { "alter" } else { "create" };
    // By default a role may nothing else; to say so once more is a superuser's right.
    tx.script(&format!("{verb} role {role} login password '{password}'"))?;
    tx.script(&script)?;
    keep(tx, PASSWORD, &password)?;
    keep(tx, VIEWS, &script)
}

/// Refuses a schema of somebody else, which would be dropped with all that is in it.
///
/// Ours says so, or, of an earlier build, holds nothing but views named as our
/// tables and the two functions.
fn refuse_foreign(tx: &mut PostgresSession, schema: &str) -> Result<(), DbError> {
    let foreign = row(
        tx,
        "select 1 as yes from pg_namespace n
         where quote_ident(n.nspname) = :schema and coalesce(obj_description(n.oid, 'pg_namespace'), '') <> :ours
           and (exists (select 1 from pg_class c where c.relnamespace = n.oid and (c.relkind <> 'v' or not exists (
                 select 1 from pg_class own join pg_namespace o on o.oid = own.relnamespace
                 where o.nspname = current_schema() and own.relname = c.relname)))
             or exists (select 1 from pg_proc p where p.pronamespace = n.oid and p.proname not in ('lower', 'upper'))
             or exists (select 1 from pg_type t where t.typnamespace = n.oid and t.typrelid = 0 and t.typelem = 0))",
        &[("schema", schema.into()), ("ours", OURS.into())],
    )?;
    match foreign {
        None => Ok(()),
        Some(_) => Err(DbError::sql(format!(
            "the schema {schema} holds what is not Shopwright's, and is needed for agents' statements: move it away"
        ))),
    }
}

/// The login, if [`prepare`] could make it.
pub(super) fn find(tx: &mut PostgresSession) -> Result<Option<AgentRole>, DbError> {
    let (role, schema, _) = names(tx)?;
    Ok(secret(tx, PASSWORD)?.map(|password| AgentRole { role, password, schema }))
}

/// Names of the role, of the schema of its views, and of the store's schema; quoted where that is needed.
fn names(tx: &mut PostgresSession) -> Result<(String, String, String), DbError> {
    let row = row(
        tx,
        "select 'shopwright_' || left(md5(current_database() || '.' || current_schema()), 16) as role,
           quote_ident(current_schema() || '_read') as schema, quote_ident(current_schema()) as own",
        &[],
    )?;
    let row = row.ok_or_else(|| DbError::sql("the server named no schema"))?;
    Ok((row.get("role")?, row.get("schema")?, row.get("own")?))
}

fn script(tx: &mut PostgresSession, role: &str, schema: &str, own: &str) -> Result<String, DbError> {
    let rows = tx.rows(
        "select table_name as tab, column_name as col from information_schema.columns
         where table_schema = current_schema() order by table_name, ordinal_position",
        &[],
    )?;
    let columns = rows
        .iter()
        .map(|row| Ok((row.get("tab")?, row.get("col")?)))
        .collect::<Result<Vec<(String, String)>, DbError>>()?;
    let mut script = format!(
        "drop schema if exists {schema} cascade;\ncreate schema {schema};\ncomment on schema {schema} is '{OURS}';\n"
    );
    for table in columns.chunk_by(|one, next| one.0 == next.0) {
        let name = &table[0].0;
        let open = table.iter().filter(|(table, column)| !is_secret(table, column));
        let open: Vec<_> = open.map(|(_, column)| format!("\"{column}\"")).collect();
        if !open.is_empty() {
            let _ = writeln!(
                script,
                "create view {schema}.\"{name}\" as select {} from {own}.\"{name}\";",
                open.join(", ")
            );
        }
    }
    // With the order of code points, as our columns have it, the server's own know only Latin letters.
    for change in ["lower", "upper"] {
        let _ = writeln!(
            script,
            "create function {schema}.{change}(text) returns text language sql immutable strict parallel safe
             as 'select pg_catalog.{change}($1 collate \"und-x-icu\") collate \"C\"';"
        );
    }
    // As the connections ask for themselves; a pooler in between may not hand that on.
    for setting in SETTINGS {
        let _ = writeln!(script, "alter role {role} set {setting};");
    }
    let _ = writeln!(script, "alter role {role} set search_path = {schema}, pg_catalog;");
    let _ = writeln!(script, "grant usage on schema {schema} to {role};");
    let _ = writeln!(script, "grant select on all tables in schema {schema} to {role};");
    Ok(script)
}

/// The first row of a statement.
fn row(tx: &mut PostgresSession, sql: &str, params: &[(&str, Value)]) -> Result<Option<Row>, DbError> {
    Ok(tx.rows(sql, params)?.into_iter().next())
}

fn secret(tx: &mut PostgresSession, skey: &str) -> Result<Option<String>, DbError> {
    let row = row(tx, "select value from secrets where skey = :skey", &[("skey", skey.into())])?;
    row.map(|row| row.get("value")).transpose()
}

fn keep(tx: &mut PostgresSession, skey: &str, value: &str) -> Result<(), DbError> {
    tx.run(
        "insert into secrets (skey, value) values (:skey, :value)
         on conflict (skey) do update set value = excluded.value",
        &[("skey", skey.into()), ("value", value.into())],
    )?;
    Ok(())
}

/// Hexadecimal, so that it needs no quoting.
fn new_password() -> Result<String, DbError> {
    let mut bytes = [0u8; 24];
    getrandom::fill(&mut bytes).map_err(DbError::sql)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
