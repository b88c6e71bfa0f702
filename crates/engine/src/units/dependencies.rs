//! What a unit's answer was made of, noted while it runs. The cache asks nothing else.

use std::collections::BTreeSet;
use std::fmt;

/// One thing an answer was made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Dependency {
    /// A row, as `products` and its `id`.
    Row(&'static str, i64),
    /// A set of rows, as `category` and the number of the category whose products were listed.
    Set(&'static str, i64),
    /// Any row of a table; `*` is any row of any table.
    Table(String),
    /// A file below the root, which may also be missing.
    File(String),
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row(name, id) | Self::Set(name, id) => write!(f, "{name}:{id}"),
            Self::Table(name) | Self::File(name) => f.write_str(name),
        }
    }
}

/// What an answer was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependencies {
    all: BTreeSet<Dependency>,
    /// The answer may not be shown again: it belongs to one visitor, one moment or one chance.
    is_own: bool,
    /// The answer differs by address and fields of the request.
    is_by_request: bool,
}

impl Dependencies {
    /// Notes that the answer depends on a row.
    pub(crate) fn row(&mut self, table: &'static str, id: i64) {
        self.all.insert(Dependency::Row(table, id));
    }

    /// Notes that the answer depends on which rows belong to a set.
    pub(crate) fn set(&mut self, name: &'static str, id: i64) {
        self.all.insert(Dependency::Set(name, id));
    }

    /// Notes that the answer depends on a table as a whole.
    pub(crate) fn table(&mut self, name: &str) {
        self.all.insert(Dependency::Table(name.to_owned()));
    }

    /// Notes that the answer may depend on any table.
    pub(crate) fn anything(&mut self) {
        self.table("*");
    }

    /// Notes that the answer depends on a file, there or missing; the path is from the root.
    pub(crate) fn file(&mut self, path: impl Into<String>) {
        self.all.insert(Dependency::File(path.into()));
    }

    /// Notes that the answer may not be shown again.
    pub(crate) fn own(&mut self) {
        self.is_own = true;
    }

    /// Notes that the answer differs by address and fields of the request.
    pub(crate) fn request(&mut self) {
        self.is_by_request = true;
    }

    /// Whether the answer differs by address and fields of the request.
    pub(crate) fn is_by_request(&self) -> bool {
        self.is_by_request
    }

    /// Whether the answer may not be shown again.
    pub(crate) fn is_own(&self) -> bool {
        self.is_own
    }

    /// Takes over what a nested unit's answer was made of.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.all.extend(other.all.iter().cloned());
        self.is_own |= other.is_own;
        self.is_by_request |= other.is_by_request;
    }

    /// All, in a fixed order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Dependency> {
        self.all.iter()
    }
}
