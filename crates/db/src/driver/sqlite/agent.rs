//! Agents' statements on SQLite: connections that can only read, and only what is no secret.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, Statement};
use serde_json::Value as Json;

use super::agent_connection::AgentConnection;
use super::error::error;
use super::pool::{Sqlite, hold};
use super::{connect, functions, session};
use crate::agent_sql::answer::{Collected, Limits, SelectError, Table};
use crate::agent_sql::functions::is_allowed;
use crate::agent_sql::json;
use crate::schema::{self, is_secret};
use crate::{DbError, Value};

/// Connections that are kept open.
const KEPT: usize = 4;
/// Steps of the statement between two looks at the clock. No step takes long: see `functions.rs` and the limits.
pub(super) const STEPS: i32 = 50;

/// Statements of one pool: all see the file of the moment of the first.
pub(crate) struct SqliteReader {
    database: Arc<Sqlite>,
    /// `None` only after the end.
    lent: Option<AgentConnection>,
}

impl SqliteReader {
    pub(crate) fn begin(database: &Arc<Sqlite>) -> Result<Self, SelectError> {
        let kept = hold(&database.agents).pop();
        let lent = match kept {
            Some(lent) => lent,
            None => open(&database.path)?,
        };
        lent.own("begin")?;
        Ok(Self { database: Arc::clone(database), lent: Some(lent) })
    }

    /// One statement.
    pub(crate) fn select(
        &mut self,
        sql: &str,
        params: &[(&str, Value)],
        limits: &Limits,
    ) -> Result<Table, SelectError> {
        self.within(limits.time, |connection| run(connection, sql, params, limits))
    }

    /// How the database would go about a statement, in its own words.
    pub(crate) fn plan(
        &mut self,
        sql: &str,
        params: &[(&str, Value)],
        time: Duration,
    ) -> Result<Vec<String>, SelectError> {
        self.within(time, |connection| plan(connection, sql, params, time))
    }

    fn within<T>(
        &mut self,
        time: Duration,
        work: impl FnOnce(&Connection) -> Result<T, SelectError>,
    ) -> Result<T, SelectError> {
        let lent = self.lent.as_mut().ok_or_else(|| DbError::sql("the transaction has ended"))?;
        let end = Instant::now() + time;
        lent.connection.progress_handler(STEPS, Some(move || Instant::now() > end)).map_err(error)?;
        let done = work(&lent.connection);
        lent.connection.progress_handler(0, None::<fn() -> bool>).map_err(error)?;
        done
    }
}

impl Drop for SqliteReader {
    fn drop(&mut self) {
        let Some(lent) = self.lent.take() else { return };
        // One that cannot end its transaction is not used again.
        if !lent.connection.is_autocommit() && lent.own("rollback").is_err() {
            return;
        }
        let mut kept = hold(&self.database.agents);
        if kept.len() < KEPT {
            kept.push(lent);
        }
    }
}

/// The steps of SQLite's plan of a statement.
pub(super) fn plan(
    connection: &Connection,
    sql: &str,
    params: &[(&str, Value)],
    time: Duration,
) -> Result<Vec<String>, SelectError> {
    let failed = |cause| failure(cause, time);
    let mut statement = connection.prepare(&format!("explain query plan {sql}")).map_err(failed)?;
    session::bind(&mut statement, params)?;
    let mut rows = statement.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        lines.push(row.get::<_, String>("detail").map_err(failed)?);
    }
    Ok(lines)
}

fn open(path: &std::path::Path) -> Result<AgentConnection, DbError> {
    let mut connection = connect::agent(path)?;
    functions::add(&connection).map_err(error)?;
    let (views, hidden) = views(&connection)?;
    connection.execute_batch(&views).map_err(error)?;
    connection.pragma_update(None, "query_only", true).map_err(error)?;
    connect::set_limits(&connection)?;
    let is_own = Arc::new(AtomicBool::new(false));
    let own = Arc::clone(&is_own);
    connection
        .authorizer(Some(move |context: AuthContext<'_>| {
            let is_ours =
                matches!(context.action, AuthAction::Transaction { .. }) && own.load(Ordering::SeqCst);
            if is_ours { Authorization::Allow } else { authorize(&context, &hidden) }
        }))
        .map_err(error)?;
    Ok(AgentConnection { connection, is_own })
}

/// Views over the tables, without the secrets, and the tables that are secrets as a whole. Views stand before the
/// tables, as all that is temporary does.
fn views(connection: &Connection) -> Result<(String, Vec<String>), DbError> {
    let sql = "select m.name, c.name from sqlite_master m join pragma_table_info(m.name) c
               where m.type = 'table' and m.name not like 'sqlite_%' order by m.name, c.cid";
    let mut statement = connection.prepare(sql).map_err(error)?;
    let columns = statement
        .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(error)?;
    let (mut script, mut hidden) = (String::new(), Vec::new());
    for table in columns.chunk_by(|one, next| one.0 == next.0) {
        let name = &table[0].0;
        let open: Vec<_> = table
            .iter()
            .filter(|(table, column)| !is_secret(table, column))
            .map(|c| format!("\"{}\"", c.1))
            .collect();
        if open.is_empty() {
            hidden.push(name.clone());
        } else {
            script +=
                &format!("create temp view \"{name}\" as select {} from main.\"{name}\";\n", open.join(", "));
        }
    }
    Ok((script, hidden))
}

fn authorize(context: &AuthContext<'_>, hidden: &[String]) -> Authorization {
    let allowed = match context.action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Function { function_name } => is_allowed(function_name),
        // Rows are counted and no column is named. The name may be one of the statement's own: `with x as (…)`.
        AuthAction::Read { table_name, column_name: "" } if schema::table(table_name).is_none() => {
            !is_internal(table_name) && !hidden.iter().any(|name| name.eq_ignore_ascii_case(table_name))
        }
        AuthAction::Read { table_name, column_name } => {
            !is_secret(table_name, column_name) && !is_internal(table_name)
        }
        _ => false,
    };
    if allowed { Authorization::Allow } else { Authorization::Deny }
}

/// Whether SQLite keeps it for itself.
pub(super) fn is_internal(table: &str) -> bool {
    table.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"))
}

fn run(
    connection: &Connection,
    sql: &str,
    params: &[(&str, Value)],
    limits: &Limits,
) -> Result<Table, SelectError> {
    let failed = |cause| failure(cause, limits.time);
    let mut statement = connection.prepare(sql).map_err(failed)?;
    if !statement.readonly() || statement.is_explain() != 0 || statement.column_count() == 0 {
        return Err(SelectError::Forbidden("this one is of another kind".to_owned()));
    }
    session::bind(&mut statement, params).map_err(|cause| match cause {
        DbError::Parameter(name) => SelectError::Parameter(name.trim_start_matches(':').to_owned()),
        other => SelectError::Db(other),
    })?;
    let truths = truths(&statement);
    let mut collected = Collected::new(statement.column_names().map(str::to_owned).collect(), limits);
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(failed)? {
        let values = truths.iter().enumerate().map(|(at, truth)| {
            let value = row.get_ref(at).map_err(failed)?;
            if text_bytes(value) > limits.value {
                return Err(SelectError::TooLarge);
            }
            Ok(to_json(value, *truth))
        });
        collected.push(values.collect::<Result<_, _>>()?)?;
    }
    Ok(collected.finish())
}

pub(super) fn text_bytes(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        _ => 0,
    }
}

/// Which columns hold true and false, which are 1 and 0 here.
pub(super) fn truths(statement: &Statement<'_>) -> Vec<bool> {
    let is_truth = |kind: &str| kind.eq_ignore_ascii_case("boolean");
    statement.columns().map(|column| column.decl_type().is_some_and(is_truth)).collect()
}

pub(super) fn to_json(value: ValueRef<'_>, truth: bool) -> Json {
    match value {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(number @ (0 | 1)) if truth => Json::Bool(number == 1),
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => json::number(number),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
        ValueRef::Blob(bytes) => json::bytes(bytes),
    }
}

pub(super) fn failure(cause: rusqlite::Error, time: Duration) -> SelectError {
    use rusqlite::Error as E;
    let words = |cause: &E| match cause {
        E::SqliteFailure(_, Some(words)) | E::SqlInputError { msg: words, .. } => words.clone(),
        other => other.to_string(),
    };
    match (&cause, cause.sqlite_error_code()) {
        (E::MultipleStatement, _) => SelectError::Forbidden("a second one follows".to_owned()),
        (_, Some(ErrorCode::OperationInterrupted)) => SelectError::TooLong(time),
        (_, Some(ErrorCode::TooBig | ErrorCode::OutOfMemory)) => SelectError::TooLarge,
        (
            _,
            Some(
                ErrorCode::AuthorizationForStatementDenied
                | ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied,
            ),
        ) => SelectError::Forbidden(words(&cause)),
        (_, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::CannotOpen)) => {
            SelectError::Db(error(cause))
        }
        (_, Some(ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) => {
            SelectError::Db(error(cause))
        }
        _ => SelectError::Wrong(words(&cause)),
    }
}
