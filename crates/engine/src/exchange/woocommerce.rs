//! Products as WooCommerce exports them: a row for each product and each variation.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use shop::text::{folded, slug};

use super::amount;
use super::goods::{Attribute, Goods, Key, Picture, Piece, Sale};
use super::layout::{Head, Row};
use super::problem::Code;

const GTIN: [&str; 2] = ["gtin, upc, ean, or isbn", "gtin, upc, ean или isbn"];
/// Weights with the milligrams of their unit, lengths with the thousandths of a millimetre.
const WEIGHTS: [(&str, i64); 4] =
    [("weight (kg)", 1_000_000), ("weight (g)", 1000), ("weight (lbs)", 453_592), ("weight (oz)", 28_350)];
const LENGTHS: [(&str, i64); 4] = [("cm", 10_000), ("mm", 1000), ("m", 1_000_000), ("in", 25_400)];

/// What a row is of.
pub(super) enum Kind {
    /// A product with its one variant.
    Simple,
    /// A product whose variants come in rows of their own.
    Variable,
    /// A variant.
    Variation,
}

/// What a row is of; a kind that is not sold here is a problem.
pub(super) fn kind(row: &mut Row<'_>) -> Option<Kind> {
    let (column, text) = row.cell(&["type"])?;
    for part in text.split(',').map(|part| folded(part.trim())) {
        match part.as_str() {
            "simple" => return Some(Kind::Simple),
            "variable" => return Some(Kind::Variable),
            "variation" => return Some(Kind::Variation),
            "virtual" | "downloadable" => {}
            _ => {
                row.problem(column, Code::UnknownKind, text);
                return None;
            }
        }
    }
    Some(Kind::Simple)
}

/// The parent that a variation names: `id:7` or an article number, folded.
pub(super) fn parent(row: &Row<'_>) -> Option<String> {
    row.text(&["parent"]).map(folded)
}

/// The names that rows of variations call a product by.
pub(super) fn own_names(row: &Row<'_>) -> Vec<String> {
    let id = row.text(&["id"]).map(|id| format!("id:{id}"));
    id.into_iter().chain(row.text(&["sku"]).map(folded)).collect()
}

/// Names of options, by what variations call their product.
pub(super) type Options = HashMap<String, HashSet<String>>;

/// Learns from a row of a variation which attributes are options.
pub(super) fn learn(row: &Row<'_>, options: &mut Options) {
    if let Some(parent) = parent(row) {
        let known = options.entry(parent).or_default();
        known.extend(attributes(row).into_iter().map(|attribute| folded(&attribute.name)));
    }
}

/// A product, without its variants where they have rows of their own.
pub(super) fn product(row: &mut Row<'_>, is_variable: bool, options: &Options) -> Goods {
    let id = row.text(&["id"]).map(|id| format!("woo:{id}"));
    let sku = row.code(&["sku"]);
    let key = if is_variable {
        let by_sku = sku.as_deref().map(|sku| format!("woo-sku:{}", folded(sku)));
        Key::Outside { external_id: id.or(by_sku), sku: None }
    } else {
        Key::Outside { external_id: id, sku }
    };
    let mut goods = Goods::new(row.record.line, key);
    goods.name = row.owned(&["name"]);
    goods.text = row.text(&["description"]).map(typed_lines);
    goods.texts.extend(row.text(&["short description"]).map(|text| ("short", typed_lines(text))));
    goods.brand = row.owned(&["brands"]);
    goods.categories = row.text(&["categories"]).map(categories).unwrap_or_default();
    goods.tags = row.text(&["tags"]).map(parts).unwrap_or_default();
    goods.state = state(row);
    goods.pictures = pictures(row);
    let names = own_names(row);
    let is_option =
        |name: &str| names.iter().any(|own| options.get(own).is_some_and(|known| known.contains(name)));
    goods.attributes =
        attributes(row).into_iter().filter(|attribute| !is_option(&folded(&attribute.name))).collect();
    goods.attributes.extend(meta(row));
    if !is_variable {
        goods.pieces.push(piece(row));
    }
    goods
}

/// A variant with its options.
pub(super) fn variation(row: &mut Row<'_>) -> Piece {
    let options = attributes(row).into_iter().map(|attribute| (attribute.name, attribute.value)).collect();
    Piece { options, ..piece(row) }
}

/// Pictures of a row; those of variations are shown with their product.
pub(super) fn pictures(row: &Row<'_>) -> Vec<Picture> {
    let Some((column, text)) = row.cell(&["images"]) else { return Vec::new() };
    let picture = |source: String| Picture {
        line: row.record.line,
        column: column.to_owned(),
        source,
        alt: String::new(),
    };
    parts(text).into_iter().map(picture).collect()
}

fn piece(row: &mut Row<'_>) -> Piece {
    let regular = row.amount(&["regular price"]);
    let lower = row.amount(&["sale price"]).filter(|sale| regular.is_none_or(|regular| *sale < regular));
    let zone = row.ground.zone.clone();
    let from = row.read(&["date sale price starts"], |text| day(text, &zone, false));
    let until = row.read(&["date sale price ends"], |text| day(text, &zone, true));
    let is_dated = from.is_some() || until.is_some();
    let always = lower.filter(|_| !is_dated);
    let stock = row.cell(&["stock"]).filter(|(_, stock)| folded(stock) != "parent");
    let stock = stock.and_then(|_| row.whole(&["stock"]));
    let in_stock = row.text(&["in stock?"]).map(|text| text == "1");
    let size = |row: &mut Row<'_>, name: &str| {
        LENGTHS.iter().find_map(|(unit, per)| {
            row.read(&[&format!("{name} ({unit})")], |text| amount::thousandths(text, *per))
        })
    };
    Piece {
        line: row.record.line,
        sku: row.code(&["sku"]),
        gtin: row.code(&GTIN),
        options: Vec::new(),
        amount: always.or(regular),
        compare_at: always.and(regular),
        sale: lower.filter(|_| is_dated).map(|amount| Sale { amount, from, until }),
        cost: row.amount(&["cost of goods", "cost"]),
        // Sold out without a count: nothing is there.
        stock: stock.or_else(|| in_stock.filter(|in_stock| !in_stock).map(|_| 0)),
        is_tracked: stock.map(|_| true).or_else(|| in_stock.map(|in_stock| !in_stock)),
        backorder: row.text(&["backorders allowed?"]).map(|text| if text == "0" { Some(0) } else { None }),
        weight: WEIGHTS
            .iter()
            .find_map(|(name, per)| row.read(&[name], |text| amount::thousandths(text, *per))),
        length: size(row, "length"),
        width: size(row, "width"),
        height: size(row, "height"),
    }
}

/// A day, of which a price holds until the end; or a moment.
fn day(text: &str, zone: &TimeZone, is_end: bool) -> Result<Timestamp, Code> {
    let moment = match text.parse::<Date>().ok().filter(|_| text.len() <= 10) {
        Some(date) if is_end => date.tomorrow().map_err(|_| Code::NotDate)?.at(0, 0, 0, 0),
        Some(date) => date.at(0, 0, 0, 0),
        None => text.replace(' ', "T").parse::<DateTime>().map_err(|_| Code::NotDate)?,
    };
    zone.to_timestamp(moment).map_err(|_| Code::NotDate)
}

fn state(row: &Row<'_>) -> Option<&'static str> {
    let published = row.text(&["published"])?;
    let is_hidden = row.text(&["visibility in catalog"]).is_some_and(|text| folded(text) == "hidden");
    Some(match published {
        "1" if is_hidden => "kUnlisted",
        "1" => "kShown",
        _ => "kDraft",
    })
}

/// Attributes by their numbers, as far as they go.
fn attributes(row: &Row<'_>) -> Vec<Attribute> {
    let mut found = Vec::new();
    for at in 1..=100 {
        let names = [format!("attribute {at} name"), format!("название атрибута {at}")];
        let names = names.each_ref().map(String::as_str);
        if !row.head.has(&names) {
            break;
        }
        let values = [
            format!("attribute {at} value(s)"),
            format!("значения атрибутов {at}"),
            format!("значение(-я) аттрибута {at}"),
        ];
        let value = row.cell(&values.each_ref().map(String::as_str));
        if let (Some(name), Some((column, value))) = (row.owned(&names), value) {
            let value = parts(value).join(", ");
            found.push(Attribute { skey: key(&name), name, value, column: column.to_owned() });
        }
    }
    found
}

/// `Meta: x`; what begins with `_` is for programs only.
fn meta(row: &Row<'_>) -> Vec<Attribute> {
    let mut found = Vec::new();
    for column in &row.head.names {
        let name = column.strip_prefix("Meta: ").or_else(|| column.strip_prefix("Мета: "));
        let Some(name) = name.filter(|name| !name.starts_with('_')) else { continue };
        if let Some(value) = row.owned(&[&folded(column)]) {
            found.push(Attribute { skey: key(name), name: name.to_owned(), value, column: column.clone() });
        }
    }
    found
}

fn key(name: &str) -> String {
    slug(name).replace('-', "_")
}

/// `A > B, C`: paths.
fn categories(text: &str) -> Vec<Vec<String>> {
    let paths = parts(text).into_iter().map(|path| {
        path.split('>').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
    });
    paths.filter(|path: &Vec<String>| !path.is_empty()).collect()
}

/// Parts of a list with commas; `\,` is a comma in a part.
fn parts(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next_if_eq(&',').is_some() => {
                if let Some(last) = found.last_mut() {
                    last.push(',');
                }
            }
            ',' => found.push(String::new()),
            other => {
                if let Some(last) = found.last_mut() {
                    last.push(other);
                }
            }
        }
    }
    found.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Line ends are typed as `\n`.
fn typed_lines(text: &str) -> String {
    text.replace("\\n", "\n")
}

/// Whether a table of this layout can be read.
pub(super) fn is_whole(head: &Head) -> bool {
    head.has(&["type"])
}
