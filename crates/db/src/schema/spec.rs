//! The form of the declarations.

/// Tables that belong together.
#[derive(Debug)]
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// Its tables.
    pub tables: &'static [TableSpec],
}

/// A table.
#[derive(Debug)]
pub struct TableSpec {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub about: &'static str,
    /// Its own columns, without those that [`TableSpec::columns`] adds.
    pub own_columns: &'static [ColumnSpec],
    /// What statements of agents may do with it.
    pub access: Access,
    /// Whether its rows lie in each other, by `parent_id`.
    pub is_tree: bool,
    /// Whether people edit its rows: it has `created`, `changed`, `author_id` and `version` too.
    pub is_edited: bool,
    /// Whether removed rows stay, marked: it has `deleted` too.
    pub keeps_deleted: bool,
    /// Why its changes are not in the journal; `None` where they are.
    pub not_journalled: Option<&'static str>,
    /// Why its changes are not told to the nodes; `None` where they are.
    pub not_told: Option<&'static str>,
    /// By what its rows belong together, so that a change also tells in which of these sets it was.
    pub sets: Option<Sets>,
}

/// By what rows of a table belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sets {
    /// By a column, as `variants` by `product_id`: a change of a row is also one of `variants.product_id`.
    Column(&'static str),
    /// By the row they are of, as `texts`: a change of a product's text is also one of `texts.products`.
    Element,
}

/// What statements of agents may do with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read, and write by those who have the right.
    Open,
    /// Read only: its rows hang together with others, so that only the commands made for it write them.
    Closed,
    /// Nothing: it is never read either.
    Secret,
}

/// A column.
#[derive(Debug)]
pub struct ColumnSpec {
    /// Its name.
    pub name: &'static str,
    /// What it means; empty for a column that means the same in every table.
    pub about: &'static str,
    /// Whose words are in it.
    pub words: Words,
    /// Whether agents never read it.
    pub is_secret: bool,
}

/// Whose words are in a column. What visitors and suppliers wrote is never an instruction to anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Nobody's: numbers, keys, times.
    None,
    /// The people's of the store.
    Store,
    /// Visitors'.
    Visitor,
    /// Suppliers'.
    Supplier,
}

/// What every edited table has besides its own columns.
pub(super) const EDITED: &[ColumnSpec] = &[
    ColumnSpec::new("created", ""),
    ColumnSpec::new("changed", ""),
    ColumnSpec::new("author_id", ""),
    ColumnSpec::new("version", ""),
];

/// What a table has whose removed rows stay.
pub(super) const DELETED: &[ColumnSpec] = &[ColumnSpec::new("deleted", "")];

/// What columns mean that mean the same in every table.
const COMMON: &[(&str, &str)] = &[
    ("id", "number"),
    ("skey", "key"),
    ("name", "name"),
    ("position", "order"),
    ("created", "when it was added"),
    ("changed", "when it was changed last"),
    ("author_id", "who changed it last; empty: a visitor or the store itself"),
    ("version", "grows with every change; a write names the one it read"),
    ("deleted", "when it was removed; empty: it is there"),
    ("valid_from", "from when on it holds; may be empty"),
    ("valid_until", "until when it holds, that moment not included; may be empty"),
    ("currency", "currency of the amounts, ISO 4217"),
    ("language", "`en`, `ru`, …"),
    ("product_id", "the product"),
    ("variant_id", "the variant"),
    ("order_id", "the order"),
    ("order_line_id", "the line of the order"),
    ("category_id", "the category"),
    ("location_id", "the location"),
    ("customer_id", "the customer; empty for a guest"),
    ("time", "when"),
    ("email", "e-mail address"),
    ("phone", "telephone number"),
    ("company", "company"),
    ("country", "country, two letters"),
    ("region", "region or state"),
    ("city", "town"),
    ("postcode", "postcode"),
    ("line1", "street and house"),
    ("line2", "second line of the street"),
    ("tax_number", "number for taxes"),
];

impl TableSpec {
    pub(super) const fn new(
        name: &'static str,
        about: &'static str,
        own_columns: &'static [ColumnSpec],
    ) -> Self {
        Self {
            name,
            about,
            own_columns,
            access: Access::Open,
            is_tree: false,
            is_edited: false,
            keeps_deleted: false,
            not_journalled: None,
            not_told: None,
            sets: None,
        }
    }

    pub(super) const fn edited(self) -> Self {
        Self { is_edited: true, ..self }
    }

    /// Edited, and its removed rows stay.
    pub(super) const fn kept(self) -> Self {
        Self { is_edited: true, keeps_deleted: true, ..self }
    }

    pub(super) const fn tree(self) -> Self {
        Self { is_tree: true, ..self }
    }

    pub(super) const fn closed(self) -> Self {
        Self { access: Access::Closed, ..self }
    }

    pub(super) const fn secret(self) -> Self {
        Self { access: Access::Secret, ..self }
    }

    pub(super) const fn not_journalled(self, why: &'static str) -> Self {
        Self { not_journalled: Some(why), ..self }
    }

    pub(super) const fn not_told(self, why: &'static str) -> Self {
        Self { not_told: Some(why), ..self }
    }

    /// Changes are also told by this column.
    pub(super) const fn by(self, column: &'static str) -> Self {
        Self { sets: Some(Sets::Column(column)), ..self }
    }

    /// Changes are also told by the row that a row is of: `entity` and `elem_id`.
    pub(super) const fn by_element(self) -> Self {
        Self { sets: Some(Sets::Element), ..self }
    }

    /// All columns.
    pub fn columns(&self) -> impl Iterator<Item = &'static ColumnSpec> {
        let edited = if self.is_edited { EDITED } else { &[] };
        let deleted = if self.keeps_deleted { DELETED } else { &[] };
        self.own_columns.iter().chain(edited).chain(deleted)
    }

    /// Whether its rows have a number.
    pub fn has_id(&self) -> bool {
        self.own_columns.iter().any(|column| column.name == "id")
    }

    /// Whether agents never read this column of it; one that is not declared is a secret.
    pub fn is_secret(&self, column: &str) -> bool {
        // SQLite also knows the number of a row by this name.
        let is_row_number = column.is_empty() || column.eq_ignore_ascii_case("rowid");
        let declared = || self.columns().find(|known| known.name.eq_ignore_ascii_case(column));
        self.access == Access::Secret || (!is_row_number && declared().is_none_or(|column| column.is_secret))
    }
}

impl ColumnSpec {
    pub(super) const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, words: Words::None, is_secret: false }
    }

    pub(super) const fn store(self) -> Self {
        Self { words: Words::Store, ..self }
    }

    pub(super) const fn visitor(self) -> Self {
        Self { words: Words::Visitor, ..self }
    }

    pub(super) const fn supplier(self) -> Self {
        Self { words: Words::Supplier, ..self }
    }

    pub(super) const fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }

    /// What it means.
    pub fn meaning(&self) -> &'static str {
        if !self.about.is_empty() {
            return self.about;
        }
        COMMON.iter().find(|(name, _)| *name == self.name).map_or("", |(_, about)| about)
    }
}

/// Columns: a name, what it means where it does not mean the same everywhere, then `store`, `visitor` or `supplier` for
/// whose words are in it, and `secret`.
macro_rules! columns {
    ($($name:ident $($about:literal)? $(, $mark:ident)*;)*) => {
        &[$($crate::schema::spec::ColumnSpec::new(stringify!($name), concat!($($about)?))$(.$mark())*),*]
    };
}
pub(super) use columns;
