//! Values that go into statements and come out of rows, the same for both databases.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use crate::DbError;

/// One value of a statement or a row.
#[derive(Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false. SQLite keeps it as 1 or 0 and gives it back as [`Value::Int`].
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// The kind, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a truth value",
            Self::Int(_) => "a whole number",
            Self::Real(_) => "a number",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
        }
    }
}

/// Kinds only: values may be secrets.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

macro_rules! from {
    ($($type:ty => |$value:ident| $make:expr),* $(,)?) => {
        $(impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $make
            }
        })*
    };
}

from! {
    bool => |value| Self::Bool(value),
    i64 => |value| Self::Int(value),
    i32 => |value| Self::Int(value.into()),
    u32 => |value| Self::Int(value.into()),
    f64 => |value| Self::Real(value),
    &str => |value| Self::Text(value.to_owned()),
    &String => |value| Self::Text(value.clone()),
    String => |value| Self::Text(value),
    &[u8] => |value| Self::Bytes(value.to_vec()),
    Vec<u8> => |value| Self::Bytes(value),
    &[u8; 32] => |value| Self::Bytes(value.to_vec()),
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One row of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub(crate) columns: Arc<[String]>,
    pub(crate) values: Vec<Value>,
}

impl Row {
    /// The value of a column, in the wanted type.
    pub fn get<T: FromValue>(&self, column: &str) -> Result<T, DbError> {
        let wrong =
            |got: &str| DbError::Column { column: column.to_owned(), wanted: T::WANTED, got: got.to_owned() };
        let value = self.value(column).ok_or_else(|| wrong("no such column"))?;
        T::from_value(value).ok_or_else(|| wrong(value.kind()))
    }

    /// The value of a column as it is.
    pub fn value(&self, column: &str) -> Option<&Value> {
        let at = self.columns.iter().position(|name| name == column)?;
        self.values.get(at)
    }

    /// Names of the columns, in order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Values, in the order of the columns.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The values alone.
    pub fn into_values(self) -> Vec<Value> {
        self.values
    }
}

/// A type that a column's value can be read as.
pub trait FromValue: Sized {
    /// The kind, for messages.
    const WANTED: &'static str;
    /// Reads the value; `None` if it is of another kind.
    fn from_value(value: &Value) -> Option<Self>;
}

impl FromValue for i64 {
    const WANTED: &'static str = "a whole number";
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Int(number) => Some(*number),
            Value::Bool(truth) => Some(Self::from(*truth)),
            _ => None,
        }
    }
}

impl FromValue for u64 {
    const WANTED: &'static str = "a whole number not below zero";
    fn from_value(value: &Value) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for bool {
    const WANTED: &'static str = "a truth value";
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(truth) => Some(*truth),
            Value::Int(0) => Some(false),
            Value::Int(1) => Some(true),
            _ => None,
        }
    }
}

impl FromValue for f64 {
    const WANTED: &'static str = "a number";
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Real(number) => Some(*number),
            Value::Int(number) => Some(*number as Self),
            _ => None,
        }
    }
}

impl FromValue for String {
    const WANTED: &'static str = "text";
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromValue for Vec<u8> {
    const WANTED: &'static str = "bytes";
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => Some(bytes.clone()),
            _ => None,
        }
    }
}

impl FromValue for [u8; 32] {
    const WANTED: &'static str = "32 bytes";
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => bytes.as_slice().try_into().ok(),
            _ => None,
        }
    }
}

impl FromValue for Timestamp {
    const WANTED: &'static str = "a time in RFC 3339";
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl FromValue for serde_json::Value {
    const WANTED: &'static str = "JSON";
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => serde_json::from_str(text).ok(),
            _ => None,
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    const WANTED: &'static str = T::WANTED;
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            other => T::from_value(other).map(Some),
        }
    }
}
