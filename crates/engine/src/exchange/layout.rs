//! Layouts of tables: which one a header row is of, and cells by the names of their columns.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use shop::text::folded;

use super::amount::{self, Sign};
use super::broken::Broken;
use super::csv::Record;
use super::problem::{Code, Problem};

/// Who writes tables so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Products as Shopify exports them.
    Shopify,
    /// Products as WooCommerce exports them.
    WooCommerce,
    /// A supplier's price list.
    PriceList,
}

/// How price lists call article numbers and prices.
pub(super) const ARTICLE: [&str; 10] = [
    "article",
    "article number",
    "item",
    "item number",
    "part number",
    "code",
    "артикул",
    "код",
    "код товара",
    "артикул поставщика",
];
pub(super) const COST: [&str; 9] = [
    "price",
    "cost",
    "net price",
    "unit price",
    "wholesale price",
    "цена",
    "закупочная цена",
    "опт",
    "оптовая цена",
];

/// Headers that WooCommerce writes in Russian, and what they are.
const RUSSIAN: [(&str, &str); 27] = [
    ("тип", "type"),
    ("артикул", "sku"),
    ("имя", "name"),
    ("название", "name"),
    ("опубликован", "published"),
    ("опубликованный", "published"),
    ("видимость в каталоге", "visibility in catalog"),
    ("краткое описание", "short description"),
    ("описание", "description"),
    ("дата начала действия скидки", "date sale price starts"),
    ("дата окончания действия скидки", "date sale price ends"),
    ("наличие", "in stock?"),
    ("в наличии?", "in stock?"),
    ("запасы", "stock"),
    ("возможен ли предзаказ?", "backorders allowed?"),
    ("вес (кг)", "weight (kg)"),
    ("длина (см)", "length (cm)"),
    ("ширина (см)", "width (cm)"),
    ("высота (см)", "height (cm)"),
    ("акционная цена", "sale price"),
    ("цена распродажи", "sale price"),
    ("базовая цена", "regular price"),
    ("категории", "categories"),
    ("метки", "tags"),
    ("изображения", "images"),
    ("родительский", "parent"),
    ("бренды", "brands"),
];

/// The header row.
pub(super) struct Head {
    pub(super) names: Vec<String>,
    at: HashMap<String, usize>,
}

impl Head {
    pub(super) fn new(record: Record) -> Self {
        let names: Vec<String> = record.cells.iter().map(|name| name.trim().to_owned()).collect();
        let mut at = HashMap::new();
        for (index, name) in names.iter().enumerate() {
            let name = folded(name);
            if let Some((_, english)) = RUSSIAN.iter().find(|(russian, _)| *russian == name) {
                at.entry((*english).to_owned()).or_insert(index);
            }
            // Of two columns with one name the first is meant.
            at.entry(name).or_insert(index);
        }
        Self { names, at }
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.at.contains_key(*name))
    }

    /// The layout that has these columns.
    pub(super) fn layout(&self) -> Result<Layout, Broken> {
        if self.has(&["handle", "url handle"])
            && self.has(&["title", "variant price", "price", "variant sku"])
        {
            return Ok(Layout::Shopify);
        }
        if self.has(&["type"]) && self.has(&["name"]) && self.has(&["sku", "regular price", "parent"]) {
            return Ok(Layout::WooCommerce);
        }
        if self.has(&ARTICLE) && self.has(&COST) {
            return Ok(Layout::PriceList);
        }
        let names: Vec<String> =
            self.names.iter().take(12).map(|name| name.chars().take(40).collect()).collect();
        Err(Broken::UnknownLayout(names.join(", ")))
    }
}

/// How the store counts, and how the file writes it.
pub(super) struct Ground {
    pub(super) decimals: u8,
    pub(super) sign: Option<Sign>,
    pub(super) zone: TimeZone,
}

/// A row with its header; what is wrong with its cells is gathered.
pub(super) struct Row<'a> {
    pub(super) head: &'a Head,
    pub(super) ground: &'a Ground,
    pub(super) record: &'a Record,
    pub(super) problems: Vec<Problem>,
}

impl<'a> Row<'a> {
    pub(super) fn new(head: &'a Head, ground: &'a Ground, record: &'a Record) -> Self {
        let mut row = Self { head, ground, record, problems: Vec::new() };
        let more = record.cells.get(head.names.len()..).unwrap_or_default();
        if let Some(cell) = more.iter().find(|cell| !cell.trim().is_empty()) {
            let name = head.names.last().cloned().unwrap_or_default();
            row.problem(&name, Code::TooManyCells, cell);
        }
        row
    }

    pub(super) fn problem(&mut self, column: &str, code: Code, value: &str) {
        let (line, column, value) = (self.record.line, column.to_owned(), value.to_owned());
        self.problems.push(Problem { line, column, code, value });
    }

    /// The column that is there of these, and its cell where there is something in it.
    pub(super) fn cell(&self, names: &[&str]) -> Option<(&'a str, &'a str)> {
        names.iter().find_map(|name| {
            let at = *self.head.at.get(*name)?;
            let cell = unescaped(self.record.cells.get(at)?.trim());
            let column = self.head.names.get(at)?;
            (!cell.is_empty()).then_some((column.as_str(), cell))
        })
    }

    pub(super) fn text(&self, names: &[&str]) -> Option<&'a str> {
        self.cell(names).map(|(_, text)| text)
    }

    pub(super) fn owned(&self, names: &[&str]) -> Option<String> {
        self.text(names).map(str::to_owned)
    }

    /// A cell that is read in some way; what cannot be is a problem.
    pub(super) fn read<T>(
        &mut self,
        names: &[&str],
        read: impl FnOnce(&str) -> Result<T, Code>,
    ) -> Option<T> {
        let (column, text) = self.cell(names)?;
        match read(text) {
            Ok(value) => Some(value),
            Err(code) => {
                self.problem(column, code, text);
                None
            }
        }
    }

    pub(super) fn amount(&mut self, names: &[&str]) -> Option<i64> {
        let (decimals, sign) = (self.ground.decimals, self.ground.sign);
        self.read(names, |text| amount::price(text, decimals, sign))
    }

    pub(super) fn code(&mut self, names: &[&str]) -> Option<String> {
        self.read(names, amount::code)
    }

    pub(super) fn whole(&mut self, names: &[&str]) -> Option<i64> {
        self.read(names, amount::whole)
    }
}

/// A cell as it was before it was kept from being a formula.
fn unescaped(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.trim_start_matches('\'').starts_with(['=', '+', '-', '@']) => rest,
        _ => cell,
    }
}
