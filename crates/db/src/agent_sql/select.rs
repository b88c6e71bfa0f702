//! Carrying out a statement of an agent on either database.

use std::time::Duration;

use serde_json::Value as Json;

use super::answer::{Limits, SelectError, Table};
use crate::database::Driver;
use crate::driver::postgres::PostgresReader;
use crate::driver::sqlite::SqliteReader;
use crate::{Db, Value};

/// Carries out one statement that reads. Names of `params` stand in it as `:name`.
pub fn select(db: &Db, sql: &str, params: &[(String, Json)], limits: &Limits) -> Result<Table, SelectError> {
    Reader::begin(db, limits.time)?.select(sql, params, limits)
}

/// Statements that read, all of them the database of one moment.
pub struct Reader {
    session: Session,
}

enum Session {
    Sqlite(SqliteReader),
    Postgres(PostgresReader),
}

impl Reader {
    /// Begins to read, for at most so long.
    pub fn begin(db: &Db, time: Duration) -> Result<Self, SelectError> {
        let session = match &db.driver {
            Driver::Sqlite(sqlite) => Session::Sqlite(SqliteReader::begin(sqlite)?),
            Driver::Postgres(postgres) => Session::Postgres(PostgresReader::begin(postgres, time)?),
        };
        Ok(Self { session })
    }

    /// Carries out one statement that reads.
    pub fn select(
        &mut self,
        sql: &str,
        params: &[(String, Json)],
        limits: &Limits,
    ) -> Result<Table, SelectError> {
        let params = checked(sql, params)?;
        match &mut self.session {
            Session::Sqlite(session) => session.select(sql, &params, limits),
            Session::Postgres(session) => session.select(sql, &params, limits),
        }
    }

    /// How the database goes about a statement that reads, line by line in its own words.
    pub fn plan(
        &mut self,
        sql: &str,
        params: &[(String, Json)],
        time: Duration,
    ) -> Result<Vec<String>, SelectError> {
        let params = checked(sql, params)?;
        match &mut self.session {
            Session::Sqlite(session) => session.plan(sql, &params, time),
            Session::Postgres(session) => session.plan(sql, &params, time),
        }
    }
}

/// The values of a statement without a zero byte, which no database takes.
fn checked<'a>(sql: &str, params: &'a [(String, Json)]) -> Result<Vec<(&'a str, Value)>, SelectError> {
    if sql.contains('\0') {
        return Err(SelectError::Wrong("a zero byte".to_owned()));
    }
    params.iter().map(|(name, value)| Ok((name.as_str(), scalar(name, value)?))).collect()
}

pub(super) fn scalar(name: &str, value: &Json) -> Result<Value, SelectError> {
    Ok(match value {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Int(whole),
            (None, Some(real)) => Value::Real(real),
            (None, None) => return Err(SelectError::Parameter(name.to_owned())),
        },
        Json::String(text) if text.contains('\0') => return Err(SelectError::Parameter(name.to_owned())),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(_) | Json::Object(_) => return Err(SelectError::Parameter(name.to_owned())),
    })
}

/// Values of cells: a list or an object is kept as its JSON.
pub(super) fn cell(name: &str, value: &Json) -> Result<Value, SelectError> {
    match value {
        Json::Array(_) | Json::Object(_) => Ok(Value::Text(value.to_string())),
        other => scalar(name, other),
    }
}
