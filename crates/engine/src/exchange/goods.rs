//! A product as files tell of it, whoever wrote them. What a file does not tell is `None` and stays as it is.

use jiff::Timestamp;

/// By what a product is found again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Its address.
    Handle(String),
    /// Its number.
    Product(i64),
    /// Its number elsewhere, else the article number of its one variant.
    Outside { external_id: Option<String>, sku: Option<String> },
}

/// A product.
#[derive(Clone, Debug)]
pub(super) struct Goods {
    pub(super) line: u64,
    pub(super) key: Key,
    pub(super) name: Option<String>,
    /// HTML, not cleaned yet.
    pub(super) text: Option<String>,
    pub(super) brand: Option<String>,
    /// Paths from the top; the first is the one that the page shows.
    pub(super) categories: Vec<Vec<String>>,
    pub(super) tags: Vec<String>,
    pub(super) state: Option<&'static str>,
    /// Fields of `texts`.
    pub(super) texts: Vec<(&'static str, String)>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) pieces: Vec<Piece>,
    pub(super) pictures: Vec<Picture>,
}

impl Goods {
    pub(super) fn new(line: u64, key: Key) -> Self {
        Self {
            line,
            key,
            name: None,
            text: None,
            brand: None,
            categories: Vec::new(),
            tags: Vec::new(),
            state: None,
            texts: Vec::new(),
            attributes: Vec::new(),
            pieces: Vec::new(),
            pictures: Vec::new(),
        }
    }
}

/// A property that is no option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attribute {
    pub(super) skey: String,
    pub(super) name: String,
    pub(super) value: String,
    pub(super) column: String,
}

/// A variant.
#[derive(Clone, Debug, Default)]
pub(super) struct Piece {
    pub(super) line: u64,
    pub(super) sku: Option<String>,
    pub(super) gtin: Option<String>,
    /// Names of options with the variant's values.
    pub(super) options: Vec<(String, String)>,
    pub(super) amount: Option<i64>,
    pub(super) compare_at: Option<i64>,
    /// A price for some time.
    pub(super) sale: Option<Sale>,
    pub(super) cost: Option<i64>,
    pub(super) stock: Option<i64>,
    pub(super) is_tracked: Option<bool>,
    /// How many may be sold beyond the stock; `Some(None)` is any number.
    pub(super) backorder: Option<Option<i64>>,
    /// Grams.
    pub(super) weight: Option<i64>,
    /// Millimetres.
    pub(super) length: Option<i64>,
    pub(super) width: Option<i64>,
    pub(super) height: Option<i64>,
}

/// A price that holds for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sale {
    pub(super) amount: i64,
    pub(super) from: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) line: u64,
    pub(super) column: String,
    /// An address, or a path below the folder of pictures.
    pub(super) source: String,
    pub(super) alt: String,
}
