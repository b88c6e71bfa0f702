//! Values on their way between scripts, templates, JSON and the database.

use minijinja::value::ValueKind;
use sandbox::Value;
use serde_json::{Number, Value as Json};

/// Whole numbers of this size on are no longer exact as numbers of a script.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A value for a template.
pub(crate) fn to_template(value: &Value) -> minijinja::Value {
    match value {
        Value::Null => minijinja::Value::from(()),
        Value::Bool(truth) => (*truth).into(),
        Value::Int(number) => (*number).into(),
        // A script has one kind of number: what is whole is written so.
        Value::Float(number) if number.fract() == 0.0 && number.abs() < EXACT => (*number as i64).into(),
        Value::Float(number) => (*number).into(),
        Value::Text(text) => text.as_str().into(),
        Value::Bytes(bytes) => minijinja::Value::from_bytes(bytes.clone()),
        Value::List(list) => list.iter().map(to_template).collect(),
        Value::Map(map) => {
            minijinja::Value::from_pairs(map.iter().map(|(name, value)| (name.as_str(), to_template(value))))
        }
    }
}

/// A template's value for a script.
pub(crate) fn from_template(value: &minijinja::Value) -> Value {
    match value.kind() {
        ValueKind::Bool => value.is_true().into(),
        ValueKind::Number => match (value.as_i64(), f64::try_from(value.clone())) {
            (Some(number), _) if value.is_integer() => number.into(),
            (_, Ok(number)) => Value::Float(number),
            (_, Err(_)) => Value::Null,
        },
        ValueKind::String => value.as_str().map_or_else(|| value.to_string(), str::to_owned).into(),
        ValueKind::Bytes => value.as_bytes().map_or(Value::Null, |bytes| Value::Bytes(bytes.to_vec())),
        ValueKind::Seq | ValueKind::Iterable => {
            Value::List(value.try_iter().into_iter().flatten().map(|item| from_template(&item)).collect())
        }
        ValueKind::Map => {
            let names = value.try_iter().into_iter().flatten();
            let pairs = names.map(|name| {
                let field = value.get_item(&name).unwrap_or_default();
                (name.to_string(), from_template(&field))
            });
            Value::Map(pairs.collect())
        }
        _ => Value::Null,
    }
}

/// A value as JSON; bytes are no part of it.
pub(crate) fn to_json(value: &Value) -> Json {
    match value {
        Value::Null | Value::Bytes(_) => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(number) => Json::Number((*number).into()),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < EXACT => {
            Json::Number((*number as i64).into())
        }
        Value::Float(number) => Number::from_f64(*number).map_or(Json::Null, Json::Number),
        Value::Text(text) => Json::String(text.clone()),
        Value::List(list) => Json::Array(list.iter().map(to_json).collect()),
        Value::Map(map) => {
            Json::Object(map.iter().map(|(name, value)| (name.clone(), to_json(value))).collect())
        }
    }
}

/// JSON as a value.
pub(crate) fn from_json(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(truth),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Int(whole),
            (None, Some(real)) => Value::Float(real),
            (None, None) => Value::Null,
        },
        Json::String(text) => Value::Text(text),
        Json::Array(list) => Value::List(list.into_iter().map(from_json).collect()),
        Json::Object(map) => {
            Value::Map(map.into_iter().map(|(name, value)| (name, from_json(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_come_back_as_they_went() {
        let data = json!({"a": [1, 2.5, null, true, "<é>"], "b": {"n": 9_007_199_254_740_993_i64}});
        let value = from_json(data.clone());
        assert_eq!(to_json(&value), data);
        assert_eq!(to_json(&from_template(&to_template(&value))), data);
    }

    #[test]
    fn a_scripts_whole_number_has_no_fraction() {
        assert_eq!(to_template(&Value::Float(3.0)).to_string(), "3");
        assert_eq!(to_json(&Value::Float(3.0)), json!(3));
        assert_eq!(to_json(&Value::Float(f64::NAN)), Json::Null);
    }
}
