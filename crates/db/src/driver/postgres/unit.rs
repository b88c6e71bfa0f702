//! Statements of units on PostgreSQL within a transaction that writes.
//!
//! Names mean the views without secrets while a unit's statement runs, and the server's own
//! plan of it tells which tables it reads and changes; what is not the store's is refused.

use std::time::Duration;

use deadpool_postgres::Object;
use serde_json::Value as Json;
use tokio_postgres::types::Type;

use super::agent::{Call, failure, places};
use super::agent_role;
use super::guard::{Guarded, guard, guard_as, plain};
use super::lex::{Piece, pieces};
use super::parameters::number_but;
use super::session::{PostgresSession, references};
use crate::agent_sql::answer::{Limits, SelectError, Table};
use crate::{DbError, Value};

impl PostgresSession {
    /// One statement that reads, which sees what this transaction wrote.
    pub(crate) fn unit_select(
        &mut self,
        sql: &str,
        params: &[(&str, Value)],
        limits: &Limits,
    ) -> Result<Table, SelectError> {
        let guarded = guard(sql)?;
        self.as_unit(&guarded, params, limits, &[], |call, client, scope| {
            Box::pin(async move {
                call.refuse_functions(client).await?;
                plan(client, call, scope).await?;
                call.run(client).await
            })
        })
    }

    /// One statement that changes rows of these tables; how many.
    pub(crate) fn unit_execute(
        &mut self,
        sql: &str,
        params: &[(&str, Value)],
        writes: &[String],
        time: Duration,
    ) -> Result<u64, SelectError> {
        let guarded = guard_as(sql, &["insert", "update", "delete"])?;
        let limits = Limits { time, ..Limits::default() };
        self.as_unit(&guarded, params, &limits, writes, |call, client, scope| {
            Box::pin(async move {
                call.refuse_functions(client).await?;
                plan(client, call, scope).await?;
                let statement = call.prepare(client, call.sql).await?;
                if !statement.columns().is_empty() {
                    return Err(SelectError::Forbidden("this one is of another kind".to_owned()));
                }
                let done = client.execute(&statement, &references(call.values)).await;
                done.map_err(|cause| failure(cause, call.limits.time))
            })
        })
    }

    /// One statement that inserts rows of these tables and returns their numbers.
    pub(crate) fn unit_returning(
        &mut self,
        sql: &str,
        params: &[(&str, Value)],
        writes: &[String],
        time: Duration,
    ) -> Result<Vec<i64>, SelectError> {
        let guarded = guard_as(sql, &["insert"])?;
        let limits = Limits { time, ..Limits::default() };
        self.as_unit(&guarded, params, &limits, writes, |call, client, scope| {
            Box::pin(async move {
                let failed = |cause| failure(cause, call.limits.time);
                call.refuse_functions(client).await?;
                plan(client, call, scope).await?;
                let statement = call.prepare(client, call.sql).await?;
                if statement.columns().len() != 1 {
                    return Err(SelectError::Forbidden("this one is of another kind".to_owned()));
                }
                let rows = client.query(&statement, &references(call.values)).await.map_err(failed)?;
                rows.iter().map(|row| row.try_get(0).map_err(failed)).collect()
            })
        })
    }

    /// How the server goes about a statement that may change rows.
    pub(crate) fn unit_plan(
        &mut self,
        sql: &str,
        params: &[(&str, Value)],
        time: Duration,
    ) -> Result<Vec<String>, SelectError> {
        let guarded = guard_as(sql, &["select", "with", "values", "insert", "update", "delete"])?;
        let limits = Limits { time, ..Limits::default() };
        self.as_unit(&guarded, params, &limits, &[], |call, client, _| Box::pin(call.plan(client)))
    }

    /// Does something while names mean the views, and takes back what a failure left.
    fn as_unit<T>(
        &mut self,
        guarded: &Guarded<'_>,
        params: &[(&str, Value)],
        limits: &Limits,
        writes: &[String],
        work: impl for<'a> FnOnce(&'a Call<'a>, &'a Object, &'a Scope<'a>) -> Work<'a, T>,
    ) -> Result<T, SelectError> {
        let Some(login) = agent_role::find(self)? else {
            return Err(SelectError::NotReady("the engine's own login may not make it".to_owned()));
        };
        let names = self.rows(
            "select current_schema()::text as own, current_setting('search_path') as path,
               current_setting('statement_timeout') as time",
            &[],
        )?;
        let names = names.first().ok_or_else(|| DbError::sql("the server named no schema"))?;
        let own: String = names.get("own")?;
        refuse_schemas(guarded.sql, &own)?;
        let is_nothing =
            |name: &str| params.iter().any(|(known, value)| *known == name && *value == Value::Null);
        let numbered = number_but(guarded.sql, is_nothing);
        let values = places(guarded.sql, &numbered, params).map_err(SelectError::Parameter)?;
        let call = Call { sql: &numbered.sql, values: &values, unknown: &guarded.unknown, limits };
        let scope = Scope { own: &own, writes };
        let time = limits.time.as_millis().max(1);
        let schema = &login.schema;
        self.script(&format!(
            "savepoint unit; set local search_path = {schema}, pg_catalog; set local statement_timeout = {time};
             savepoint own"
        ))?;
        let client = self.client()?;
        let done = self.database().wait(async { Ok(work(&call, client, &scope).await) })?;
        let end =
            if done.is_ok() { "release savepoint unit" } else { "rollback to unit; release savepoint unit" };
        self.script(end)?;
        // Taken back with the savepoint, or put back here.
        let (path, timeout): (String, String) = (names.get("path")?, names.get("time")?);
        let put_back =
            "select set_config('search_path', :path, true), set_config('statement_timeout', :time, true)";
        self.rows(put_back, &[("path", path.into()), ("time", timeout.into())])?;
        done
    }
}

/// The store's schema, and the tables that may be changed.
struct Scope<'a> {
    own: &'a str,
    writes: &'a [String],
}

type Work<'a, T> = std::pin::Pin<Box<dyn Future<Output = Result<T, SelectError>> + 'a>>;

/// The views are found without a schema; with one, a name could lead past them.
fn refuse_schemas(sql: &str, own: &str) -> Result<(), SelectError> {
    for piece in pieces(sql) {
        let is_name = matches!(piece, Piece::Word(_) | Piece::Quoted(_));
        if is_name && plain(&piece) == own {
            return Err(SelectError::Forbidden(format!("tables are named without the schema `{own}`")));
        }
    }
    Ok(())
}

/// Asks the server what the statement would touch: only the store's tables, and of them only `writes` are changed.
async fn plan(client: &Object, call: &Call<'_>, scope: &Scope<'_>) -> Result<(), SelectError> {
    let failed = |cause| failure(cause, call.limits.time);
    let statement = call.prepare(client, &format!("explain (verbose, format json) {}", call.sql)).await?;
    let row = client.query_one(&statement, &references(call.values)).await.map_err(failed)?;
    let text: String = match row.columns().first().map(|column| column.type_().clone()) {
        Some(Type::JSON) => row.try_get::<_, Json>(0).map_err(failed)?.to_string(),
        _ => row.try_get(0).map_err(failed)?,
    };
    let plan: Json = serde_json::from_str(&text).map_err(DbError::sql)?;
    check(&plan, scope)
}

fn check(node: &Json, scope: &Scope<'_>) -> Result<(), SelectError> {
    match node {
        Json::Array(nodes) => nodes.iter().try_for_each(|node| check(node, scope)),
        Json::Object(fields) => {
            let text = |name: &str| fields.get(name).and_then(Json::as_str);
            if text("Node Type") == Some("LockRows") {
                return Err(SelectError::Forbidden("rows are not held by a statement that reads".to_owned()));
            }
            if let Some(table) = text("Relation Name") {
                if text("Schema") != Some(scope.own) {
                    return Err(SelectError::Forbidden(format!("`{table}` is no table of the store")));
                }
                let is_change = text("Node Type") == Some("ModifyTable");
                if is_change && !scope.writes.iter().any(|name| name == table) {
                    return Err(SelectError::Forbidden(format!("not authorized to change {table}")));
                }
            }
            fields.values().try_for_each(|node| check(node, scope))
        }
        _ => Ok(()),
    }
}
