//! Rows that an agent gives come into the store: products with variants, prices, stock and attributes; all or nothing.

use db::{Tx, exchange};
use jiff::Timestamp;
use serde_json::{Map, Value as Json};
use shop::money::Currency;
use shop::text::{is_gtin, slug};

use super::amount::{self, Sign};
use super::apply::Importer;
use super::goods::{Attribute, Goods, Key, Piece};
use super::import::JUMP;
use super::lookups::Lookups;
use super::pictures::Pictures;
use super::pieces::Place;
use super::problem::{Code, Problem};
use super::report::{ImportError, Report};
use crate::settings::Config;

/// Most rows of a call.
pub(crate) const MOST_ROWS: usize = 20_000;

/// How rows are taken.
pub(crate) struct TakeRows<'a> {
    /// The store's settings.
    pub(crate) config: &'a Config,
    /// Whether a row that names nothing by which a product is found makes a new one; else it is left out.
    pub(crate) takes_keyless: bool,
    /// When.
    pub(crate) now: Timestamp,
}

/// What came of rows.
pub(crate) struct TakenRows {
    /// Counts and problems; the line of a problem is the row's number, from 1.
    pub(crate) report: Report,
    /// The product of each row that has one: the row's number, the product, whether it is new, whether it changed.
    pub(crate) products: Vec<(u64, i64, &'static str)>,
}

/// Takes rows. With problems the caller takes everything back.
pub(crate) fn take_rows(tx: &mut Tx, how: &TakeRows<'_>, rows: &[Json]) -> Result<TakenRows, ImportError> {
    let currency = &how.config.currency;
    let decimals = Currency::find(currency).map_or(2, |currency| currency.decimals);
    let place = Place {
        list: exchange::main_list(tx, currency)?.ok_or(ImportError::Missing("price list in its currency"))?,
        location: exchange::main_location(tx)?.ok_or(ImportError::Missing("location for stock"))?,
        currency: currency.clone(),
        percent: JUMP,
        now: how.now,
    };
    let mut importer = Importer {
        language: &how.config.language,
        place,
        // Pictures of rows are attachments of their own call.
        pictures: Pictures { root: "".as_ref(), folder: None, url: "", is_check: true },
        publishes: false,
        lookups: Lookups::new(&how.config.language, how.now),
        parents: Default::default(),
        report: Report::default(),
        counted_same: None,
    };
    let mut products = Vec::new();
    for (number, row) in (1_u64..).zip(rows) {
        importer.report.rows += 1;
        let mut reader = RowReader { number, decimals, problems: Vec::new() };
        let goods = reader.goods(row);
        if !reader.problems.is_empty() {
            importer.report.note_all(reader.problems);
            continue;
        }
        let has_key = !matches!(&goods.key, Key::Outside { external_id: None, sku: None });
        if !has_key && !how.takes_keyless {
            importer.report.keyless += 1;
            continue;
        }
        products.extend(bring(tx, &mut importer, &goods)?);
    }
    Ok(TakenRows { report: importer.report, products })
}

/// Brings a product, which has one variant at least.
fn bring(
    tx: &mut Tx,
    importer: &mut Importer<'_>,
    goods: &Goods,
) -> Result<Option<(u64, i64, &'static str)>, ImportError> {
    let (new, changed) = (importer.report.new, importer.report.changed);
    let Some(id) = importer.bring(tx, goods)? else { return Ok(None) };
    let word = if importer.report.new > new {
        "new"
    } else if importer.report.changed > changed {
        "changed"
    } else {
        "same"
    };
    if word == "new" && goods.pieces.is_empty() {
        importer.pieces(tx, id, &[Piece { line: goods.line, ..Piece::default() }])?;
    }
    Ok(Some((goods.line, id, word)))
}

/// Reads one row; what is wrong with it is kept by column.
struct RowReader {
    number: u64,
    decimals: u8,
    problems: Vec<Problem>,
}

/// Columns of a product.
const OF_PRODUCT: &[&str] = &[
    "product",
    "path",
    "external_id",
    "name",
    "text",
    "brand",
    "category",
    "tags",
    "attributes",
    "variants",
];
/// Columns of a variant; those of a product's only variant may stand in its own row.
const OF_VARIANT: &[&str] = &[
    "sku",
    "gtin",
    "options",
    "price",
    "compare_at",
    "cost",
    "stock",
    "weight",
    "length",
    "width",
    "height",
    "tracked",
    "backorder",
];

impl RowReader {
    fn problem(&mut self, column: &str, code: Code, value: &Json) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let value = value.chars().take(200).collect();
        self.problems.push(Problem { line: self.number, column: column.to_owned(), code, value });
    }

    fn goods(&mut self, row: &Json) -> Goods {
        let mut goods = Goods::new(self.number, Key::Outside { external_id: None, sku: None });
        let Json::Object(row) = row else {
            self.problem("", Code::WrongForm, row);
            return goods;
        };
        let is_known = |name: &str| OF_PRODUCT.contains(&name) || OF_VARIANT.contains(&name);
        for (name, value) in row.iter().filter(|(name, _)| !is_known(name)) {
            self.problem(name, Code::UnknownColumn, value);
        }
        goods.name = self.text(row, "name");
        goods.text = self.text(row, "text");
        goods.brand = self.text(row, "brand");
        for path in self.texts(row, "category") {
            let parts = path.split('>').map(|part| part.trim().to_owned());
            goods.categories.push(parts.filter(|part| !part.is_empty()).collect());
        }
        goods.tags = self.texts(row, "tags");
        goods.attributes = self.attributes(row);
        goods.pieces = self.pieces(row);
        goods.key = self.key(row, &goods.pieces);
        goods
    }

    fn key(&mut self, row: &Map<String, Json>, pieces: &[Piece]) -> Key {
        if let Some(product) = self.whole(row, "product") {
            return Key::Product(product);
        }
        let is_path = |path: &str| {
            let parts: Vec<&str> = path.split('/').collect();
            path.len() <= 200 && parts.iter().all(|part| !part.is_empty() && slug(part) == **part)
        };
        if let Some(path) = self.text(row, "path") {
            if !is_path(&path) {
                self.problem("path", Code::BadHandle, &path.clone().into());
            }
            return Key::Handle(path);
        }
        let external_id = self.text(row, "external_id");
        Key::Outside { external_id, sku: pieces.iter().find_map(|piece| piece.sku.clone()) }
    }

    fn attributes(&mut self, row: &Map<String, Json>) -> Vec<Attribute> {
        let Some(value) = named(row, "attributes") else { return Vec::new() };
        let Json::Object(values) = value else {
            self.problem("attributes", Code::WrongForm, value);
            return Vec::new();
        };
        let mut found = Vec::new();
        for (name, value) in values.iter().filter(|(_, value)| !value.is_null()) {
            match scalar(value) {
                Some(text) if !slug(name).is_empty() => found.push(Attribute {
                    skey: slug(name).replace('-', "_"),
                    name: name.clone(),
                    value: text,
                    column: format!("attributes.{name}"),
                }),
                _ => self.problem(&format!("attributes.{name}"), Code::WrongForm, value),
            }
        }
        found
    }

    fn pieces(&mut self, row: &Map<String, Json>) -> Vec<Piece> {
        let own = OF_VARIANT.iter().find(|column| named(row, column).is_some());
        let Some(variants) = named(row, "variants") else {
            return own.map(|_| self.piece(row)).into_iter().collect();
        };
        if let Some(column) = own {
            self.problem(column, Code::BesideVariants, &row[*column].clone());
        }
        let Some(variants) = variants.as_array().filter(|variants| !variants.is_empty()) else {
            self.problem("variants", Code::WrongForm, variants);
            return Vec::new();
        };
        let mut pieces = Vec::new();
        for variant in variants {
            let Json::Object(fields) = variant else {
                self.problem("variants", Code::WrongForm, variant);
                continue;
            };
            for (name, value) in fields.iter().filter(|(name, _)| !OF_VARIANT.contains(&name.as_str())) {
                self.problem(&format!("variants.{name}"), Code::UnknownColumn, value);
            }
            pieces.push(self.piece(fields));
        }
        pieces
    }

    fn piece(&mut self, row: &Map<String, Json>) -> Piece {
        let gtin = self.text(row, "gtin");
        if let Some(gtin) = gtin.as_ref().filter(|gtin| !is_gtin(gtin)) {
            self.problem("gtin", Code::NotGtin, &gtin.clone().into());
        }
        Piece {
            line: self.number,
            sku: self.read(row, "sku", amount::code),
            gtin,
            options: self.options(row),
            amount: self.amount(row, "price"),
            compare_at: self.amount(row, "compare_at"),
            sale: None,
            cost: self.amount(row, "cost"),
            stock: self.count(row, "stock"),
            is_tracked: self.truth(row, "tracked"),
            backorder: self.backorder(row),
            weight: self.count(row, "weight"),
            length: self.count(row, "length"),
            width: self.count(row, "width"),
            height: self.count(row, "height"),
        }
    }

    fn options(&mut self, row: &Map<String, Json>) -> Vec<(String, String)> {
        let Some(value) = named(row, "options") else { return Vec::new() };
        let values = value.as_object().map(|values| {
            values
                .iter()
                .map(|(name, value)| Some((name.clone(), scalar(value)?)))
                .collect::<Option<Vec<_>>>()
        });
        match values {
            Some(Some(options)) => options,
            _ => {
                self.problem("options", Code::WrongForm, value);
                Vec::new()
            }
        }
    }

    /// How many may be sold beyond the stock; `"any"` is any number.
    fn backorder(&mut self, row: &Map<String, Json>) -> Option<Option<i64>> {
        if named(row, "backorder").and_then(Json::as_str) == Some("any") {
            return Some(None);
        }
        self.count(row, "backorder").map(Some)
    }

    /// A text that is not empty.
    fn text(&mut self, row: &Map<String, Json>, column: &str) -> Option<String> {
        self.read(row, column, |text| Ok(text.to_owned()))
    }

    /// A text, or a list of them.
    fn texts(&mut self, row: &Map<String, Json>, column: &str) -> Vec<String> {
        let Some(Json::Array(items)) = named(row, column) else {
            return self.text(row, column).into_iter().collect();
        };
        let found: Option<Vec<String>> = items.iter().map(scalar).collect();
        if found.is_none() {
            self.problem(column, Code::WrongForm, &Json::Array(items.clone()));
        }
        found.unwrap_or_default()
    }

    fn amount(&mut self, row: &Map<String, Json>, column: &str) -> Option<i64> {
        let decimals = self.decimals;
        self.read(row, column, |text| amount::price(text, decimals, Some(Sign::Point)))
    }

    fn whole(&mut self, row: &Map<String, Json>, column: &str) -> Option<i64> {
        self.read(row, column, amount::whole)
    }

    fn count(&mut self, row: &Map<String, Json>, column: &str) -> Option<i64> {
        self.read(row, column, |text| amount::whole(text).ok().filter(|it| *it >= 0).ok_or(Code::NotNumber))
    }

    fn truth(&mut self, row: &Map<String, Json>, column: &str) -> Option<bool> {
        let value = named(row, column)?;
        if !value.is_boolean() {
            self.problem(column, Code::WrongForm, value);
        }
        value.as_bool()
    }

    /// Reads a scalar; an empty text is not named.
    fn read<T>(
        &mut self,
        row: &Map<String, Json>,
        column: &str,
        read: impl FnOnce(&str) -> Result<T, Code>,
    ) -> Option<T> {
        let value = named(row, column)?;
        let Some(text) = scalar(value) else {
            self.problem(column, Code::WrongForm, value);
            return None;
        };
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        read(text).map_err(|code| self.problem(column, code, value)).ok()
    }
}

fn named<'a>(row: &'a Map<String, Json>, column: &str) -> Option<&'a Json> {
    row.get(column).filter(|value| !value.is_null())
}

/// A text or a number as a text.
fn scalar(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        Json::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}
