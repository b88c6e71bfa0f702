//! Statements of units on SQLite within a transaction that writes: an authorizer decides what each may touch.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::agent::{STEPS, failure, is_internal, text_bytes, to_json, truths};
use super::error::error;
use super::session::{SqliteSession, bind};
use crate::agent_sql::answer::{Collected, Limits, SelectError, Table};
use crate::agent_sql::functions::is_allowed;
use crate::schema::{self, is_secret};
use crate::{DbError, Value};

impl SqliteSession {
    /// One statement that reads, which sees what this transaction wrote.
    pub(crate) fn unit_select(
        &mut self,
        sql: &str,
        params: &[(&str, Value)],
        limits: &Limits,
    ) -> Result<Table, SelectError> {
        self.as_unit(&[], limits.time, |connection, hidden| {
            let failed = |cause| failure(cause, limits.time);
            let mut statement = connection.prepare(sql).map_err(failed)?;
            if !statement.readonly() || statement.is_explain() != 0 || statement.column_count() == 0 {
                return Err(SelectError::Forbidden("this one is of another kind".to_owned()));
            }
            bind(&mut statement, params).map_err(parameter)?;
            let truths = truths(&statement);
            // A secret reads as nothing, and its column is left out, as it is where nothing was written yet.
            let hidden = hidden.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let shown: Vec<usize> = statement
                .columns_with_metadata()
                .enumerate()
                .filter(|(_, column)| {
                    column.origin_name().is_some() || !hidden.iter().any(|name| name == column.name())
                })
                .map(|(at, _)| at)
                .collect();
            let names = statement.column_names().enumerate();
            let names = names.filter(|(at, _)| shown.contains(at)).map(|(_, name)| name.to_owned()).collect();
            let mut collected = Collected::new(names, limits);
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next().map_err(failed)? {
                let values = shown.iter().map(|at| {
                    let value = row.get_ref(*at).map_err(failed)?;
                    if text_bytes(value) > limits.value {
                        return Err(SelectError::TooLarge);
                    }
                    Ok(to_json(value, truths.get(*at).copied().unwrap_or_default()))
                });
                collected.push(values.collect::<Result<_, _>>()?)?;
            }
            Ok(collected.finish())
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
        self.as_unit(writes, time, |connection, _| {
            let mut statement = connection.prepare(sql).map_err(|cause| failure(cause, time))?;
            if statement.readonly() || statement.is_explain() != 0 || statement.column_count() != 0 {
                return Err(SelectError::Forbidden("this one is of another kind".to_owned()));
            }
            bind(&mut statement, params).map_err(parameter)?;
            statement.raw_execute().map(|rows| rows as u64).map_err(|cause| failure(cause, time))
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
        self.as_unit(writes, time, |connection, _| {
            let failed = |cause| failure(cause, time);
            let mut statement = connection.prepare(sql).map_err(failed)?;
            if statement.readonly() || statement.is_explain() != 0 || statement.column_count() != 1 {
                return Err(SelectError::Forbidden("this one is of another kind".to_owned()));
            }
            bind(&mut statement, params).map_err(parameter)?;
            let mut rows = statement.raw_query();
            let mut ids = Vec::new();
            while let Some(row) = rows.next().map_err(failed)? {
                ids.push(row.get(0).map_err(failed)?);
            }
            Ok(ids)
        })
    }

    /// How SQLite goes about a statement that may change rows of these tables.
    pub(crate) fn unit_plan(
        &mut self,
        sql: &str,
        params: &[(&str, Value)],
        writes: &[String],
        time: Duration,
    ) -> Result<Vec<String>, SelectError> {
        self.as_unit(writes, time, |connection, _| super::agent::plan(connection, sql, params, time))
    }

    /// Does something under the authorizer and the clock, which the engine's own statements are not under.
    fn as_unit<T>(
        &mut self,
        writes: &[String],
        time: Duration,
        work: impl FnOnce(&Connection, &Mutex<Vec<String>>) -> Result<T, SelectError>,
    ) -> Result<T, SelectError> {
        if !writes.is_empty() {
            self.tell_entry()?;
        }
        let connection = self.connection_mut()?;
        let end = Instant::now() + time;
        connection.progress_handler(STEPS, Some(move || Instant::now() > end)).map_err(error)?;
        let (writes, unknown) = (writes.to_vec(), undeclared(connection)?);
        let hidden: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&hidden);
        connection
            .authorizer(Some(move |context: AuthContext<'_>| authorize(&context, (&writes, &unknown), &told)))
            .map_err(error)?;
        let done = work(connection, &hidden);
        connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>).map_err(error)?;
        connection.progress_handler(0, None::<fn() -> bool>).map_err(error)?;
        done
    }
}

/// Tables that nobody declared, the owner's left out: a newer build may have made them for its secrets.
fn undeclared(connection: &Connection) -> Result<Vec<String>, DbError> {
    let sql = "select name from sqlite_master where type = 'table'";
    let mut statement = connection.prepare_cached(sql).map_err(error)?;
    let names = statement.query_map([], |row| row.get::<_, String>(0)).map_err(error)?;
    let names = names.collect::<Result<Vec<_>, _>>().map_err(error)?;
    Ok(names.into_iter().filter(|name| schema::table(name).is_none() && is_secret(name, "")).collect())
}

/// What a statement may touch. Names of secrets that it meets are noted in `hidden`.
fn authorize(
    context: &AuthContext<'_>,
    (writes, unknown): (&[String], &[String]),
    hidden: &Mutex<Vec<String>>,
) -> Authorization {
    // What our own triggers do is not the statement's doing.
    let is_trigger = context.accessor.is_some();
    let may_write = |table: &str| is_trigger || writes.iter().any(|name| name.eq_ignore_ascii_case(table));
    let allowed = match context.action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Function { function_name } => is_trigger || is_allowed(function_name),
        AuthAction::Read { table_name, .. } if is_internal(table_name) => false,
        // Rows are counted and no column is named. The name may be one of the statement's own: `with x as (…)`.
        AuthAction::Read { table_name, column_name: "" } if schema::table(table_name).is_none() => {
            is_trigger || !unknown.iter().any(|name| name.eq_ignore_ascii_case(table_name))
        }
        AuthAction::Read { table_name, column_name } => {
            // A secret in a table that is read otherwise reads as nothing.
            if !is_trigger && !is_secret(table_name, "") && is_secret(table_name, column_name) {
                hidden.lock().unwrap_or_else(PoisonError::into_inner).push(column_name.to_owned());
                return Authorization::Ignore;
            }
            is_trigger || !is_secret(table_name, "")
        }
        AuthAction::Insert { table_name } | AuthAction::Delete { table_name } => may_write(table_name),
        AuthAction::Update { table_name, .. } => may_write(table_name),
        _ => false,
    };
    if allowed { Authorization::Allow } else { Authorization::Deny }
}

fn parameter(cause: DbError) -> SelectError {
    match cause {
        DbError::Parameter(name) => SelectError::Parameter(name.trim_start_matches(':').to_owned()),
        other => SelectError::Db(other),
    }
}
