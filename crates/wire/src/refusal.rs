//! What a refusal is: a row of the catalogue with its values filled in.

use std::fmt;

use crate::refusal_row::{Row, Speaker};

/// An expected no: a row of the catalogue with its values.
///
/// It does not implement [`std::error::Error`] on purpose: `?` on a library's
/// error makes a [`crate::Fault`], `?` on a refusal keeps it a refusal.
#[derive(Clone, PartialEq, Eq)]
pub struct Refusal {
    name: String,
    head: String,
    row: Option<&'static Row>,
}

impl Refusal {
    pub(crate) fn new(row: &'static Row, rest: &str) -> Self {
        let beginning = row.printed();
        let mut head = String::with_capacity(beginning.len() + rest.len());
        head.push_str(beginning);
        head.push_str(rest);
        Self { name: row.name.to_owned(), head, row: Some(row) }
    }

    pub(crate) fn unknown(name: &str, head: &str) -> Self {
        Self { name: name.to_owned(), head: head.to_owned(), row: None }
    }

    pub(crate) fn with_head(row: &'static Row, head: &str) -> Self {
        Self { name: row.name.to_owned(), head: head.to_owned(), row: Some(row) }
    }

    /// Name of the catalogue's row.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is wrong, without the advice: this is what travels on the wire.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// The catalogue's row, unless a newer engine said it.
    pub fn row(&self) -> Option<&'static Row> {
        self.row
    }

    /// The whole text for a reader: what is wrong, then how to go on.
    ///
    /// A store's code stands alone on the first line, so that it can be compared.
    pub fn text(&self) -> String {
        match self.row() {
            Some(row) if row.mend.is_empty() => self.head.clone(),
            Some(row) if row.speaker == Speaker::Store => format!("{}\n{}", self.head, row.mend),
            Some(row) => format!("{} {}", self.head, row.mend),
            None => self.head.clone(),
        }
    }
}

impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Refusal({}: {})", self.name, self.head)
    }
}
