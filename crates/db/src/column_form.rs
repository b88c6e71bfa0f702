//! What a column is in the database, whatever it means.

use std::collections::BTreeMap;

/// A column's form in the database.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) kind: String,
    pub(crate) key: &'static str,
    pub(crate) is_nullable: bool,
    pub(crate) points_to: Option<String>,
}

/// Forms of the columns of tables, in their order.
pub(crate) type Shapes = BTreeMap<String, Vec<(String, Form)>>;
