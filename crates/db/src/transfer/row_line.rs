//! A row as a line of JSON: a list of its values, bytes in hexadecimal, numbers with a fraction as strings.
//!
//! There is one line for a row and one row for a line, so sums over lines compare rows.

use std::fmt::Write as _;

use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use super::table::{Kind, Table};
use crate::Value;

/// What a table holds, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSum {
    /// How many rows.
    pub rows: u64,
    /// The largest number that a row ever had; 0 where the database does not number the rows.
    pub last_id: i64,
    /// SHA-256 over the lines of all rows.
    pub sha256: [u8; 32],
}

impl TableSum {
    /// The SHA-256 in hexadecimal.
    pub fn hex(&self) -> String {
        hex(&self.sha256)
    }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Adds up lines.
#[derive(Default)]
pub struct Summing {
    rows: u64,
    digest: Sha256,
}

impl Summing {
    /// Adds a line, with its end.
    pub fn add(&mut self, line: &[u8]) {
        self.rows += 1;
        self.digest.update(line);
    }

    /// Lines so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The sum of all lines.
    pub fn finish(self, last_id: i64) -> TableSum {
        TableSum { rows: self.rows, last_id, sha256: self.digest.finalize().into() }
    }
}

/// Appends the line of a row whose values fit their columns.
pub fn write(values: &[Value], line: &mut Vec<u8>) {
    line.push(b'[');
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        write_value(value, line);
    }
    line.extend_from_slice(b"]\n");
}

fn write_value(value: &Value, line: &mut Vec<u8>) {
    match value {
        Value::Null => line.extend_from_slice(b"null"),
        Value::Bool(truth) => line.extend_from_slice(if *truth { b"true" } else { b"false" }),
        Value::Int(number) => line.extend_from_slice(number.to_string().as_bytes()),
        Value::Real(number) => line.extend_from_slice(format!("\"{number:?}\"").as_bytes()),
        // Writing a string to memory cannot fail.
        Value::Text(text) => drop(serde_json::to_writer(line, text)),
        Value::Bytes(bytes) => line.extend_from_slice(format!("\"{}\"", hex(bytes)).as_bytes()),
    }
}

/// Reads the line of a row, with its end; else what is wrong with it.
pub fn parse(line: &[u8], table: &Table) -> Result<Vec<Value>, &'static str> {
    let cells: Vec<Json> = serde_json::from_slice(line).map_err(|_| "no list of values in JSON")?;
    if cells.len() != table.columns.len() {
        return Err("another number of values than the table has columns");
    }
    let values = cells.into_iter().zip(&table.columns).map(|(cell, column)| value(cell, column.kind));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    let mut again = Vec::with_capacity(line.len());
    write(&values, &mut again);
    if again == line { Ok(values) } else { Err("not in the form in which it is written") }
}

fn value(cell: Json, kind: Kind) -> Result<Value, &'static str> {
    match (kind, cell) {
        (_, Json::Null) => Ok(Value::Null),
        (Kind::Bool, Json::Bool(truth)) => Ok(Value::Bool(truth)),
        (Kind::Int, Json::Number(number)) => number.as_i64().map(Value::Int).ok_or("no whole number"),
        (Kind::Text, Json::String(text)) => Ok(Value::Text(text)),
        (Kind::Real, Json::String(text)) => text.parse().map(Value::Real).map_err(|_| "no number"),
        (Kind::Bytes, Json::String(text)) => bytes(&text).map(Value::Bytes).ok_or("no bytes"),
        _ => Err("a value of another kind than its column"),
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|digit| digit.try_into().ok())).collect();
    let digits = digits?;
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some(high << 4 | low),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests;
