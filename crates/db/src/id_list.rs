//! Lists of numbers in statements.

use crate::Value;

/// A list for `in (…)`: its places and its values.
///
/// The list is filled up to a power of two by repeating its last number, so
/// that lists of all lengths make only a few different statements to prepare.
pub(crate) struct Ids {
    names: Vec<String>,
    ids: Vec<i64>,
}

/// The longest list of one statement.
pub(crate) const MOST: usize = 1024;

impl Ids {
    /// At most [`MOST`] numbers, callers cut longer lists; places are called after `name`.
    pub(crate) fn new(name: &str, ids: &[i64]) -> Self {
        let mut filled = ids.to_vec();
        if let Some(last) = ids.last() {
            filled.resize(ids.len().next_power_of_two(), *last);
        }
        Self { names: (0..filled.len()).map(|at| format!("{name}{at}")).collect(), ids: filled }
    }

    /// `(:name0, :name1, …)`; `(null)`, which holds nothing, for an empty list.
    pub(crate) fn places(&self) -> String {
        if self.names.is_empty() {
            return "(null)".to_owned();
        }
        let places: Vec<_> = self.names.iter().map(|name| format!(":{name}")).collect();
        format!("({})", places.join(", "))
    }

    /// The values, beside others.
    pub(crate) fn with<'a>(&'a self, others: &[(&'a str, Value)]) -> Vec<(&'a str, Value)> {
        let ids = self.names.iter().zip(&self.ids).map(|(name, id)| (name.as_str(), Value::Int(*id)));
        others.iter().cloned().chain(ids).collect()
    }
}
