//! What is wrong with a row: where it stands, and why it is not taken; what somebody should see before it is.

use shop::money::{Currency, format_amount};

/// Something wrong with a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the file, from 1.
    pub line: u64,
    /// The column, as the header writes it.
    pub column: String,
    /// Why.
    pub code: Code,
    /// What stands there.
    pub value: String,
}

/// A price that changes by more than it may unseen, as when a decimal sign is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jump {
    /// The line of the file, from 1.
    pub line: u64,
    /// The article number, or the supplier's.
    pub article: String,
    /// Which price: `price`, `sale price`, `cost`.
    pub what: &'static str,
    /// The price that there is, in minor units.
    pub before: i64,
    /// The price of the table, in minor units.
    pub after: i64,
    /// Its currency.
    pub currency: String,
}

impl Jump {
    /// Whether it changes by more than so many per cent of what there is. From nothing every price may come.
    pub(super) fn is_beyond(&self, percent: u32) -> bool {
        let (before, after) = (i128::from(self.before), i128::from(self.after));
        before > 0 && (after - before).abs() * 100 > before * i128::from(percent)
    }
}

impl std::fmt::Display for Jump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let money = |amount| match Currency::find(&self.currency) {
            Some(currency) => format_amount(amount, currency, "en"),
            None => format!("{amount} {}", self.currency),
        };
        let article: String = self.article.chars().filter(|letter| !letter.is_control()).take(80).collect();
        let (line, what) = (self.line, self.what);
        write!(f, "line {line}, `{article}`: {what} {} -> {}", money(self.before), money(self.after))
    }
}

/// Why a cell is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// A new product without a name.
    NoName,
    /// No amount of money.
    NotAmount,
    /// An amount that could be read in two ways.
    UnclearAmount,
    /// No number.
    NotNumber,
    /// No day.
    NotDate,
    /// A code that a spreadsheet made a number of.
    Mangled,
    /// No part of an address.
    BadHandle,
    /// An address of another row.
    TakenHandle,
    /// An article number of another product.
    ForeignSku,
    /// The parent of a variation is not in the file before it.
    NoParent,
    /// A kind of product that is not sold here.
    UnknownKind,
    /// Options that are not those of the product.
    OtherOptions,
    /// A price list's currency is none of the store's.
    UnknownCurrency,
    /// A value that an attribute cannot have.
    NotOfAttribute,
    /// More rows than one product may have.
    TooManyRows,
    /// More cells than the header has.
    TooManyCells,
    /// A picture that is none, or too large.
    BadPicture,
    /// A column that is not taken.
    UnknownColumn,
    /// A value of another form than its column's.
    WrongForm,
    /// A product that is not there.
    UnknownProduct,
    /// No GTIN.
    NotGtin,
    /// A column of a variant beside a list of variants.
    BesideVariants,
}

impl Code {
    /// Its key, as `import_rows` keeps it.
    pub fn key(self) -> &'static str {
        match self {
            Self::NoName => "no_name",
            Self::NotAmount => "not_amount",
            Self::UnclearAmount => "unclear_amount",
            Self::NotNumber => "not_number",
            Self::NotDate => "not_date",
            Self::Mangled => "mangled_code",
            Self::BadHandle => "bad_handle",
            Self::TakenHandle => "taken_handle",
            Self::ForeignSku => "foreign_sku",
            Self::NoParent => "no_parent",
            Self::UnknownKind => "unknown_kind",
            Self::OtherOptions => "other_options",
            Self::UnknownCurrency => "unknown_currency",
            Self::NotOfAttribute => "not_of_attribute",
            Self::TooManyRows => "too_many_rows",
            Self::TooManyCells => "too_many_cells",
            Self::BadPicture => "bad_picture",
            Self::UnknownColumn => "unknown_column",
            Self::WrongForm => "wrong_form",
            Self::UnknownProduct => "unknown_product",
            Self::NotGtin => "not_gtin",
            Self::BesideVariants => "beside_variants",
        }
    }

    /// The same in words, to be read behind the value.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoName => "a new product needs a name",
            Self::NotAmount => "is no amount of money",
            Self::UnclearAmount => {
                "can be read in two ways; say with --decimal which sign parts the decimals"
            }
            Self::NotNumber => "is no number",
            Self::NotDate => "is no day",
            Self::Mangled => "is a code that a spreadsheet made a number of",
            Self::BadHandle => "cannot be part of an address",
            Self::TakenHandle => "is the address of another page",
            Self::ForeignSku => "belongs to another product",
            Self::NoParent => "is no product of the rows before",
            Self::UnknownKind => "is a kind of product that is not taken",
            Self::OtherOptions => "does not fit the options that the product has",
            Self::UnknownCurrency => "is no currency of the store",
            Self::NotOfAttribute => "is no value of this attribute",
            Self::TooManyRows => "has more rows than one product may have",
            Self::TooManyCells => "has more cells than the header row",
            Self::BadPicture => "is no picture that is taken",
            Self::UnknownColumn => "stands in a column that is not taken",
            Self::WrongForm => "is not of the form of its column",
            Self::UnknownProduct => "is no product of the store",
            Self::NotGtin => "is no GTIN: 8, 12, 13 or 14 digits with the right last one",
            Self::BesideVariants => "belongs to a variant: put it into `variants`",
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value: String = self.value.chars().filter(|letter| !letter.is_control()).take(80).collect();
        write!(f, "line {}, column `{}`: `{value}` {}", self.line, self.column, self.code.words())
    }
}
