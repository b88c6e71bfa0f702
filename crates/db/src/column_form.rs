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

impl Form {
    /// The word for a column's key: the primary key's, unique by itself, or the first of another key.
    pub(crate) fn key_of(is_primary: bool, is_unique: bool, is_first: bool) -> &'static str {
        match (is_primary, is_unique, is_first) {
            (true, ..) => "PRI",
            (false, true, _) => "UNI",
            (false, false, true) => "MUL",
            _ => "",
        }
    }
}

/// Forms of the columns of tables, in their order.
pub(crate) type Shapes = BTreeMap<String, Vec<(String, Form)>>;
