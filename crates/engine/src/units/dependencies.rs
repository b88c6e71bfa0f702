//! What a unit's answer was made of, noted while it runs. The cache asks nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use db::borders::Borders;
use db::changes::is_told;
use jiff::Timestamp;

use super::stamp::Stamp;
use super::visit::{Audience, Visit};

/// One thing an answer was made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Dependency {
    /// A row, as `products` and its number; or a set of rows, as `variants.product_id` and the product's number.
    Row(&'static str, i64),
    /// Any row of a table, or of its sets by one column.
    Table(String),
    /// A file below the root, which may also be missing; or a folder of templates.
    File(String),
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row(name, id) => write!(f, "{name}:{id}"),
            Self::Table(name) | Self::File(name) => f.write_str(name),
        }
    }
}

/// What an answer was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependencies {
    all: BTreeSet<Dependency>,
    /// What its files looked like when they were read.
    files: BTreeMap<String, Option<Stamp>>,
    /// When something it was chosen by began or ended last.
    last: Option<Timestamp>,
    /// When something it was chosen by begins or ends next.
    next: Option<Timestamp>,
    uses_templates: bool,
    /// The answer may not be shown again: it belongs to one visitor, one moment or one chance.
    is_own: bool,
    /// The answer differs by address and fields of the request.
    is_by_request: bool,
    /// The answer differs by who asks; it is the same for all who come without a cookie.
    is_by_visitor: bool,
    /// The answer came with a status or headers of the page.
    has_reply: bool,
}

impl Dependencies {
    /// Notes that the answer depends on a row.
    pub(crate) fn row(&mut self, table: &'static str, id: i64) {
        self.must_be_told(table);
        self.all.insert(Dependency::Row(table, id));
    }

    /// Notes that the answer depends on which rows belong together: `variants.product_id` of a product,
    /// `texts.products` of a product. Which sets are told says [`db::schema::TableSpec::sets`].
    pub(crate) fn set(&mut self, name: &'static str, id: i64) {
        self.must_be_told(name);
        self.all.insert(Dependency::Row(name, id));
    }

    /// Notes that the answer depends on a table as a whole, or on all sets of one name.
    pub(crate) fn table(&mut self, name: &str) {
        self.must_be_told(name);
        self.all.insert(Dependency::Table(name.to_owned()));
    }

    /// An answer that depends on what nobody is told of cannot be kept.
    fn must_be_told(&mut self, name: &str) {
        if !is_told(name) {
            self.own();
        }
    }

    /// Notes that the answer depends on a file, there or missing, as it was when it was read; the path is from the
    /// root.
    pub(crate) fn file(&mut self, path: &str, stamp: Option<Stamp>) {
        self.all.insert(Dependency::File(path.to_owned()));
        self.files.insert(path.to_owned(), stamp);
    }

    /// Notes that the answer depends on the page's templates, which lie in these folders.
    pub(crate) fn templates(&mut self, folders: [String; 2]) {
        self.uses_templates = true;
        self.all.extend(folders.map(Dependency::File));
    }

    /// Notes between which moments the answer was chosen.
    pub(crate) fn borders(&mut self, borders: &Borders) {
        self.last = self.last.max(borders.last);
        self.next = earlier(self.next, borders.next);
    }

    /// Notes that the answer holds up to this moment only.
    pub(crate) fn until(&mut self, moment: Timestamp) {
        self.next = earlier(self.next, Some(moment));
    }

    /// Notes that the answer may not be shown again.
    pub(crate) fn own(&mut self) {
        self.is_own = true;
    }

    /// Notes that the answer differs by address and fields of the request.
    pub(crate) fn request(&mut self) {
        self.is_by_request = true;
    }

    /// Notes that the answer differs by who asks, and by nothing but their cookies.
    pub(crate) fn visitor(&mut self) {
        self.is_by_visitor = true;
    }

    /// Notes that the answer came with a status or headers of the page.
    pub(crate) fn reply(&mut self) {
        self.has_reply = true;
    }

    /// Whether the answer differs by address and fields of the request.
    pub(crate) fn is_by_request(&self) -> bool {
        self.is_by_request
    }

    /// Whether the answer is only this visitor's.
    pub(crate) fn is_own(&self) -> bool {
        self.is_own || self.is_by_visitor
    }

    /// Whether the answer came with a status or headers of the page.
    pub(crate) fn has_reply(&self) -> bool {
        self.has_reply
    }

    /// Whether templates were used.
    pub(crate) fn uses_templates(&self) -> bool {
        self.uses_templates
    }

    /// Whether the answer may be shown to the next one who asks like this visitor.
    pub(crate) fn can_be_kept(&self, visit: &Visit) -> bool {
        visit.audience == Audience::Visitor
            && !self.is_own
            && (!self.is_by_visitor || visit.is_anonymous())
            && (!self.is_by_request || visit.method == "GET")
    }

    /// Whether nothing it was chosen by begins or ends between its own moment and this one.
    pub(crate) fn holds_at(&self, now: Timestamp) -> bool {
        self.last.is_none_or(|last| last <= now) && self.next.is_none_or(|next| now < next)
    }

    /// Takes over what a nested unit's answer was made of.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.all.extend(other.all.iter().cloned());
        // Who saw a file first saw the older one: if it changed between, that is what makes the answer old.
        for (path, stamp) in &other.files {
            self.files.entry(path.clone()).or_insert_with(|| stamp.clone());
        }
        self.last = self.last.max(other.last);
        self.next = earlier(self.next, other.next);
        self.uses_templates |= other.uses_templates;
        self.is_own |= other.is_own;
        self.is_by_request |= other.is_by_request;
        self.is_by_visitor |= other.is_by_visitor;
        self.has_reply |= other.has_reply;
    }

    /// All, in a fixed order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Dependency> {
        self.all.iter()
    }

    /// The files, and what they looked like.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&String, &Option<Stamp>)> {
        self.files.iter()
    }

    /// Bytes they take, roughly.
    pub(crate) fn weight(&self) -> u64 {
        let named = |one: &Dependency| match one {
            Dependency::Row(..) => 0,
            Dependency::Table(name) | Dependency::File(name) => name.len(),
        };
        let names: usize = self.all.iter().map(named).sum();
        (self.all.len() * 40 + names + self.files.keys().map(|path| path.len() + 120).sum::<usize>()) as u64
    }
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
