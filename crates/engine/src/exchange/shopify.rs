//! Products as Shopify exports them: a row for each variant and picture, the product's own cells in the first.

use shop::text::{folded, slug};

use super::goods::{Attribute, Goods, Key, Picture, Piece};
use super::layout::{Head, Row};
use super::problem::Code;

pub(super) const HANDLE: [&str; 2] = ["handle", "url handle"];
const IMAGE: [&str; 2] = ["image src", "product image url"];
const VARIANT_IMAGE: [&str; 2] = ["variant image", "variant image url"];
const PUBLISHED: [&str; 2] = ["published", "published on online store"];
const TRACKER: [&str; 2] = ["variant inventory tracker", "inventory tracker"];
const POLICY: [&str; 2] = ["variant inventory policy", "continue selling when out of stock"];
/// Names and values of options.
const OPTIONS: [([&str; 1], [&str; 1]); 3] = [
    (["option1 name"], ["option1 value"]),
    (["option2 name"], ["option2 value"]),
    (["option3 name"], ["option3 value"]),
];

/// The product of a row, with what the row alone tells of it.
pub(super) fn begin(row: &mut Row<'_>, handle: &str) -> Goods {
    let mut goods = Goods::new(row.record.line, Key::Handle(handle.to_owned()));
    let is_part =
        |letter: char| letter.is_control() || letter.is_whitespace() || "/\\?#%<>\"".contains(letter);
    if handle.len() > 200 || handle.chars().any(is_part) {
        let column = row.cell(&HANDLE).map_or("Handle", |(column, _)| column).to_owned();
        row.problem(&column, Code::BadHandle, handle);
    }
    goods.name = row.owned(&["title"]);
    goods.text = row.owned(&["body (html)", "description"]);
    goods.brand = row.owned(&["vendor"]);
    goods.tags = row.text(&["tags"]).map(split_list).unwrap_or_default();
    goods.state = state(row);
    let path = row.text(&["product category"]).map(|path| path.split('>').map(|part| part.trim().to_owned()));
    let kind = row.owned(&["type"]);
    match path {
        Some(path) => {
            goods.categories.push(path.filter(|part| !part.is_empty()).collect());
            goods.texts.extend(kind.map(|kind| ("product_type", kind)));
        }
        None => goods.categories.extend(kind.map(|kind| vec![kind])),
    }
    for (names, field) in [("seo title", "seo_title"), ("seo description", "seo_description")] {
        goods.texts.extend(row.owned(&[names]).map(|text| (field, text)));
    }
    goods.attributes = metafields(row);
    goods
}

/// Adds what a row tells of variants and pictures. `names` are the names of the options so far.
pub(super) fn add(row: &mut Row<'_>, goods: &mut Goods, names: &mut Vec<String>) {
    if let Some((column, source)) = row.cell(&IMAGE) {
        let alt = row.owned(&["image alt text"]).unwrap_or_default();
        let picture =
            Picture { line: row.record.line, column: column.to_owned(), source: source.to_owned(), alt };
        goods.pictures.push(picture);
    }
    if let Some((column, source)) = row.cell(&VARIANT_IMAGE)
        && goods.pictures.iter().all(|known| known.source != source)
    {
        let (column, source) = (column.to_owned(), source.to_owned());
        goods.pictures.push(Picture { line: row.record.line, column, source, alt: String::new() });
    }
    for (at, (name, _)) in OPTIONS.iter().enumerate() {
        if let Some(name) = row.owned(name)
            && names.len() == at
        {
            names.push(name);
        }
    }
    if let Some(piece) = piece(row, names) {
        goods.pieces.push(piece);
    }
}

/// The variant of a row; rows that only bring a picture have none.
fn piece(row: &mut Row<'_>, names: &[String]) -> Option<Piece> {
    let mut options = Vec::new();
    for ((_, value), name) in OPTIONS.iter().zip(names) {
        options.extend(row.owned(value).map(|value| (name.clone(), value)));
    }
    let price = ["variant price", "price"];
    if options.is_empty() && row.cell(&price).is_none() && row.cell(&["variant sku", "sku"]).is_none() {
        return None;
    }
    // A product that comes in one kind has one option of this name and value.
    if let [(name, value)] = options.as_slice()
        && folded(name) == "title"
        && folded(value) == "default title"
    {
        options.clear();
    }
    let tracker = row.head.has(&TRACKER).then(|| row.text(&TRACKER).is_some());
    Some(Piece {
        line: row.record.line,
        sku: row.code(&["variant sku", "sku"]),
        gtin: row.code(&["variant barcode", "barcode"]),
        options,
        amount: row.amount(&price),
        compare_at: row.amount(&["variant compare at price", "compare-at price"]),
        cost: row.amount(&["cost per item"]),
        stock: row.whole(&["variant inventory qty", "inventory quantity"]),
        is_tracked: tracker,
        backorder: row.text(&POLICY).map(|policy| match folded(policy).as_str() {
            "continue" | "true" | "yes" => None,
            _ => Some(0),
        }),
        weight: row
            .read(&["variant grams", "weight value (grams)"], |text| super::amount::thousandths(text, 1000)),
        ..Piece::default()
    })
}

fn state(row: &Row<'_>) -> Option<&'static str> {
    let is_published = row.text(&PUBLISHED).map(|text| matches!(folded(text).as_str(), "true" | "yes" | "1"));
    match row.text(&["status"]).map(folded).as_deref() {
        Some("archived") => Some("kArchive"),
        Some("draft") => Some("kDraft"),
        Some("unlisted") => Some("kUnlisted"),
        _ => is_published.map(|is_published| if is_published { "kShown" } else { "kDraft" }),
    }
}

/// `Colour (product.metafields.custom.colour)`.
fn metafields(row: &Row<'_>) -> Vec<Attribute> {
    let mut found = Vec::new();
    for column in &row.head.names {
        let Some((name, skey)) = metafield(column) else { continue };
        if let Some(value) = row.owned(&[&folded(column)]) {
            found.push(Attribute { skey, name, value, column: column.clone() });
        }
    }
    found
}

fn metafield(column: &str) -> Option<(String, String)> {
    let (name, place) = column.strip_suffix(')')?.rsplit_once(" (product.metafields.")?;
    let (space, key) = place.split_once('.')?;
    let skey = if space == "custom" { key.to_owned() } else { format!("{space}_{key}") };
    Some((name.trim().to_owned(), slug(&skey).replace('-', "_")))
}

/// Whether a row belongs to the handle of the one before.
pub(super) fn handle<'a>(row: &Row<'a>) -> Option<&'a str> {
    row.text(&HANDLE)
}

/// A list with commas.
pub(super) fn split_list(text: &str) -> Vec<String> {
    text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Whether a table of this layout can be read.
pub(super) fn is_whole(head: &Head) -> bool {
    head.has(&HANDLE)
}
