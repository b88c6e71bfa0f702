//! Statements of units: `select`, `one`, `value` read on connections that can do no more; `execute`, `insert` and
//! `transaction` change the tables that the manifest names, all of a run or nothing.

use std::time::{Duration, Instant};

use db::agent_sql::{Limits, Reads, SelectError, Table, reads, select as agent_select};
use db::{DbError, Tx};
use sandbox::{HostError, Value};

use super::Answer;
use super::arguments::Arguments;
use crate::units::run::Run;
use crate::units::values;
use crate::units::visit::Audience;
use crate::units::writing::{PERSONS_TIME, VISITORS_TIME, Writing};

/// Longest time of one statement.
const LONGEST: Duration = Duration::from_secs(10);
/// The part of a transaction that `shop.transaction` is.
const PART: &str = "part";

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
    match reads(sql, params.iter().map(|(_, value)| value)) {
        Reads::Tables(tables) => tables.into_iter().for_each(|table| run.dependencies().table(table)),
        Reads::More => run.dependencies().own(),
    }
    let left = run.deadline.saturating_duration_since(Instant::now());
    let started = Instant::now();
    let answer = match &run.writing {
        Some(writing) => {
            let limits = Limits { time: left.min(LONGEST).min(writing.left()), ..Limits::default() };
            writing.with(|tx| tx.unit_select(sql, &params, &limits)).ok_or_else(time_was_up)?
        }
        None => {
            let limits = Limits { time: left.min(LONGEST), ..Limits::default() };
            agent_select(&run.units.db, sql, &params, &limits)
        }
    };
    let rows = answer.as_ref().map_or(0, |table| table.rows.len());
    run.note_query(sql, rows, started.elapsed());
    answer.map_err(|error| told(&error))
}

/// One statement that changes rows; how many it changed.
pub(super) fn execute(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let sql = args.text(0, "sql")?;
    let params = args.params(1)?;
    let writes = run.writes();
    let rows = write(run, sql, |tx, time| {
        let rows = tx.unit_execute(sql, &params, &writes, time)?;
        Ok((i64::try_from(rows).unwrap_or(i64::MAX), rows as usize))
    })?;
    Ok(rows.into())
}

/// New rows; their numbers.
pub(super) fn insert(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let table = args.text(0, "table")?;
    let rows = match args.value(1) {
        Value::List(rows) => rows.as_slice(),
        row @ Value::Map(_) => std::slice::from_ref(row),
        _ => return Err(args.wrong("`rows` is an object of values by column, or a list of such")),
    };
    let rows = rows
        .iter()
        .map(|row| match row {
            Value::Map(fields) => {
                Ok(fields.iter().map(|(name, value)| (name.clone(), values::to_json(value))).collect())
            }
            _ => Err(args.wrong("a row is an object of values by column")),
        })
        .collect::<Result<Vec<Vec<_>>, HostError>>()?;
    let writes = run.writes();
    let ids = write(run, &format!("insert into {}", wire::text::quoted(table, 60)), |tx, _| {
        let ids = tx.unit_insert(table, &rows, &writes)?;
        let count = ids.len();
        Ok((ids, count))
    })?;
    Ok(Value::List(ids.into_iter().map(Value::Int).collect()))
}

/// Begins the part of the transaction that a `shop.transaction` is.
pub(super) fn begin(run: &mut Run<'_>) -> Answer {
    within(run, |tx, _| Ok(tx.mark(PART)?))?;
    Ok(Value::Null)
}

/// Ends it, and takes it back where the function threw.
pub(super) fn end(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let is_kept = *args.value(0) == Value::Bool(true);
    within(run, |tx, _| Ok(tx.end_mark(PART, is_kept)?))?;
    Ok(Value::Null)
}

fn write<T>(
    run: &mut Run<'_>,
    sql: &str,
    work: impl FnOnce(&mut Tx, Duration) -> Result<(T, usize), SelectError>,
) -> Result<T, HostError> {
    if !run.count_query() {
        return Err(too_many());
    }
    let started = Instant::now();
    let (done, rows) = within(run, work)?;
    run.note_query(sql, rows, started.elapsed());
    Ok(done)
}

/// Does something in the run's transaction, which it begins where it is not begun.
fn within<T>(
    run: &mut Run<'_>,
    work: impl FnOnce(&mut Tx, Duration) -> Result<T, SelectError>,
) -> Result<T, HostError> {
    let is_visitor = run.visit.audience == Audience::Visitor;
    // Browsers, search engines and previews follow links by themselves.
    if is_visitor && run.visit.method != "POST" {
        let words = "a visitor's GET changes nothing: what changes something is a form with POST";
        return Err(HostError::new("READ_ONLY", words));
    }
    run.dependencies().own();
    if run.writing.is_none() {
        let time = if is_visitor { VISITORS_TIME } else { PERSONS_TIME };
        let begun = Writing::begin(&run.units.db, time * run.units.patience);
        run.writing = Some(begun.map_err(|error| told(&SelectError::Db(error)))?);
    }
    let Some(writing) = &run.writing else { return Err(time_was_up()) };
    let left = writing.left().min(run.deadline.saturating_duration_since(Instant::now()));
    let done = writing.with(|tx| work(tx, left)).ok_or_else(time_was_up)?;
    done.map_err(|error| told(&error))
}

/// A transaction that is over takes the whole run with it: half of it would stay undone.
pub(crate) fn time_was_up() -> HostError {
    HostError::fatal("LIMIT", "over the limit: time of a transaction")
}

/// One query more than the unit may make ends it.
pub(super) fn too_many() -> HostError {
    HostError::fatal("LIMIT", "over the limit: queries")
}

fn told(error: &SelectError) -> HostError {
    match error {
        SelectError::Db(DbError::Busy) => HostError::new("BUSY", DbError::Busy.to_string()),
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
