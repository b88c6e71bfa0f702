//! Carrying out a statement of an agent on either database.

use serde_json::Value as Json;

use super::answer::{Limits, SelectError, Table};
use crate::database::Driver;
use crate::{Db, Value};

/// Carries out one statement that reads. Names of `params` stand in it as `:name`.
pub fn select(db: &Db, sql: &str, params: &[(String, Json)], limits: &Limits) -> Result<Table, SelectError> {
    if sql.contains('\0') {
        return Err(SelectError::Wrong("a zero byte".to_owned()));
    }
    let params = params
        .iter()
        .map(|(name, value)| Ok((name.as_str(), scalar(name, value)?)))
        .collect::<Result<Vec<_>, SelectError>>()?;
    match &db.driver {
        Driver::Sqlite(sqlite) => sqlite.agent_select(sql, &params, limits),
        Driver::Postgres(postgres) => postgres.agent_select(sql, &params, limits),
    }
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
