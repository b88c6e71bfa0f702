//! A list of rows as every tool answers it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Rows of a list: the names once, then the cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Table {
    /// Names of the columns, in the order of the cells.
    pub columns: Vec<String>,
    /// One list of cells for each row.
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// A table of these columns and rows.
    pub fn new<const N: usize>(columns: [&str; N], rows: impl IntoIterator<Item = [Value; N]>) -> Self {
        Self { columns: columns.map(str::to_owned).to_vec(), rows: rows.into_iter().map(Vec::from).collect() }
    }
}
