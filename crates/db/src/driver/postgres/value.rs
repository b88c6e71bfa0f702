//! Values on their way to and from PostgreSQL.

use std::error::Error;
use std::sync::Arc;

use bytes::BytesMut;
use tokio_postgres::types::{Format, FromSql, IsNull, ToSql, Type};

use crate::{DbError, Row, Value};

/// A value sent as text: the server reads it by the type that the statement gives the place.
#[derive(Debug)]
pub(super) struct Sent<'a>(pub(super) &'a Value);

impl ToSql for Sent<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self.0 {
            Value::Null => return Ok(IsNull::Yes),
            Value::Bool(truth) if *ty == Type::BOOL => {
                out.extend_from_slice(if *truth { b"t" } else { b"f" })
            }
            Value::Bool(truth) => out.extend_from_slice(if *truth { b"1" } else { b"0" }),
            Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Value::Real(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Value::Text(text) => {
                // The server's own words for it name neither the column nor the value.
                if text.contains('\0') {
                    return Err("text with a zero byte".into());
                }
                out.extend_from_slice(text.as_bytes());
            }
            Value::Bytes(bytes) => {
                out.extend_from_slice(b"\\x");
                for byte in bytes {
                    out.extend_from_slice(&[hex(byte >> 4), hex(byte & 15)]);
                }
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn to_sql_checked(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        self.to_sql(ty, out)
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }
}

fn hex(digit: u8) -> u8 {
    if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }
}

/// A row in the house's form.
pub(super) fn row(row: &tokio_postgres::Row, columns: &Arc<[String]>) -> Result<Row, DbError> {
    Ok(Row { columns: Arc::clone(columns), values: values(row)? })
}

/// The values of a row.
pub(super) fn values(row: &tokio_postgres::Row) -> Result<Vec<Value>, DbError> {
    let value = |at| row.try_get::<_, Got>(at).map(|got| got.0).map_err(super::error::error);
    (0..row.len()).map(value).collect()
}

struct Got(Value);

impl<'a> FromSql<'a> for Got {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *ty {
            Type::BOOL => Value::Bool(bool::from_sql(ty, raw)?),
            Type::INT2 => Value::Int(i16::from_sql(ty, raw)?.into()),
            Type::INT4 => Value::Int(i32::from_sql(ty, raw)?.into()),
            Type::INT8 => Value::Int(i64::from_sql(ty, raw)?),
            Type::FLOAT4 => Value::Real(f32::from_sql(ty, raw)?.into()),
            Type::FLOAT8 => Value::Real(f64::from_sql(ty, raw)?),
            Type::BYTEA => Value::Bytes(raw.to_vec()),
            // A column of no other type is in the house's tables; what else comes must be cast in the statement.
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::BPCHAR | Type::UNKNOWN => {
                Value::Text(String::from_sql(ty, raw)?)
            }
            Type::VOID => Value::Null,
            _ => return Err(format!("a column of type {ty} is not read without a cast").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
