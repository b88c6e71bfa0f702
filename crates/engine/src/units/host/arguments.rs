//! The arguments of a host call, read one by one.

use sandbox::{HostError, Value};
use serde_json::{Map, Value as Json};

use crate::units::values;

/// The arguments of a call.
pub(super) struct Arguments<'a> {
    call: &'a str,
    values: Vec<Value>,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(call: &'a str, values: Vec<Value>) -> Self {
        Self { call, values }
    }

    /// A wrong argument, in words.
    pub(super) fn wrong(&self, words: &str) -> HostError {
        HostError::new("ARGUMENT", format!("shop.{}(): {words}", self.call))
    }

    pub(super) fn value(&self, at: usize) -> &Value {
        self.values.get(at).unwrap_or(&Value::Null)
    }

    /// A text that must be there.
    pub(super) fn text(&self, at: usize, name: &str) -> Result<&str, HostError> {
        self.value(at).as_text().ok_or_else(|| self.wrong(&format!("`{name}` is a text")))
    }

    /// A text that may be missing.
    pub(super) fn text_or<'b>(
        &'b self,
        at: usize,
        name: &str,
        default: &'b str,
    ) -> Result<&'b str, HostError> {
        if *self.value(at) == Value::Null { Ok(default) } else { self.text(at, name) }
    }

    /// A whole number that must be there.
    pub(super) fn int(&self, at: usize, name: &str) -> Result<i64, HostError> {
        int(self.value(at)).ok_or_else(|| self.wrong(&format!("`{name}` is a whole number")))
    }

    /// A whole number, or null.
    pub(super) fn int_or_null(&self, at: usize, name: &str) -> Result<Option<i64>, HostError> {
        if *self.value(at) == Value::Null { Ok(None) } else { self.int(at, name).map(Some) }
    }

    /// An argument as JSON.
    pub(super) fn json(&self, at: usize) -> Json {
        values::to_json(self.value(at))
    }

    /// An object of fields.
    pub(super) fn fields(&self, at: usize) -> Result<Map<String, Json>, HostError> {
        match self.json(at) {
            Json::Object(fields) => Ok(fields),
            _ => Err(self.wrong("`fields` is an object of values by name")),
        }
    }

    /// A field of the options in an argument.
    pub(super) fn option(&self, at: usize, field: &str) -> Option<&Value> {
        self.value(at).get(field).filter(|value| **value != Value::Null)
    }

    /// A whole number among the options.
    pub(super) fn int_option(&self, at: usize, field: &str) -> Result<Option<i64>, HostError> {
        let Some(value) = self.option(at, field) else { return Ok(None) };
        int(value).map(Some).ok_or_else(|| self.wrong(&format!("`{field}` is a whole number")))
    }

    /// A text among the options.
    pub(super) fn text_option(&self, at: usize, field: &str) -> Result<Option<&str>, HostError> {
        let Some(value) = self.option(at, field) else { return Ok(None) };
        value.as_text().map(Some).ok_or_else(|| self.wrong(&format!("`{field}` is a text")))
    }

    /// Named parameters of a statement.
    pub(super) fn params(&self, at: usize) -> Result<Vec<(String, Json)>, HostError> {
        match self.value(at) {
            Value::Null => Ok(Vec::new()),
            Value::Map(fields) => {
                Ok(fields.iter().map(|(name, value)| (name.clone(), values::to_json(value))).collect())
            }
            _ => Err(self.wrong("`params` is an object of values by name")),
        }
    }
}

/// A whole number, however the script holds it; a text of digits counts, since fields of forms are texts.
pub(super) fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i64),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}
