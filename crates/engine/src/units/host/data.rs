//! `select`, `one`, `value`: statements of a unit that read, on connections that can do no more.

use std::time::{Duration, Instant};

use db::agent_sql::{Limits, SelectError, Table, select as agent_select};
use sandbox::{HostError, Value};

use super::Answer;
use super::arguments::Arguments;
use crate::units::run::Run;
use crate::units::values;

/// Longest time of one statement.
const LONGEST: Duration = Duration::from_secs(10);

/// All rows, as objects.
pub(super) fn select(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let Table { columns, rows } = table(run, args)?;
    let row = |row: Vec<serde_json::Value>| {
        Value::Map(columns.iter().cloned().zip(row.into_iter().map(values::from_json)).collect())
    };
    Ok(Value::List(rows.into_iter().map(row).collect()))
}

/// The first row.
pub(super) fn one(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let Table { columns, rows } = table(run, args)?;
    let Some(row) = rows.into_iter().next() else { return Ok(Value::Null) };
    Ok(Value::Map(columns.into_iter().zip(row.into_iter().map(values::from_json)).collect()))
}

/// The first value of the first row.
pub(super) fn value(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let first = table(run, args)?.rows.into_iter().next().and_then(|row| row.into_iter().next());
    Ok(first.map_or(Value::Null, values::from_json))
}

fn table(run: &mut Run<'_>, args: &Arguments<'_>) -> Result<Table, HostError> {
    let sql = args.text(0, "sql")?;
    let params = args.params(1)?;
    if !run.count_query() {
        return Err(too_many());
    }
    // Which tables a statement reads is not told yet: its answer depends on all of them.
    run.dependencies().anything();
    let left = run.deadline.saturating_duration_since(Instant::now());
    let limits = Limits { time: left.min(LONGEST), ..Limits::default() };
    let started = Instant::now();
    let answer = agent_select(&run.units.db, sql, &params, &limits);
    let rows = answer.as_ref().map_or(0, |table| table.rows.len());
    run.note_query(sql, rows, started.elapsed());
    answer.map_err(|error| told(&error))
}

/// One query more than the unit may make ends it.
pub(super) fn too_many() -> HostError {
    HostError::fatal("LIMIT", "over the limit: queries")
}

fn told(error: &SelectError) -> HostError {
    match error {
        // The database's own trouble is for the log, not for scripts.
        SelectError::Db(cause) => {
            tracing::error!(cause = ?cause, "A unit's statement failed");
            HostError::new("DATABASE", "the database cannot be used")
        }
        SelectError::TooLong(_) | SelectError::TooLarge | SelectError::TooManyRows(_) => {
            HostError::new("LIMIT", error.to_string())
        }
        _ => HostError::new("SQL", error.to_string()),
    }
}
