//! The store's products as tables that Shopify and WooCommerce take, and this program takes again.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use db::exchange::{self, Attribute, AttributeValue, Piece, Product, Sale};
use db::{Db, DbError, Tx, files, products, slugs, texts};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use shop::money::Currency;

use super::layout::Layout;
use super::pieces::parts_of_piece;
use super::table::{self, Cell};
use crate::settings::{Config, ConfigError, Settings};
use crate::units::decimal;

/// Products that are read at once.
const AT_ONCE: i64 = 200;
/// Options and attributes that a table of WooCommerce has columns for, at most.
const MOST_ATTRIBUTES: usize = 90;

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It cannot be written.
    #[error("the table cannot be written")]
    Io(#[from] io::Error),
    /// The settings cannot be used.
    #[error("config.json {0}")]
    Config(#[from] ConfigError),
    /// The database cannot be used.
    #[error("the store's database cannot be read")]
    Db(#[from] DbError),
    /// There is no price list in the store's currency, or no location.
    #[error("the store has no {0}")]
    Missing(&'static str),
    /// Price lists are suppliers'.
    #[error("price lists are taken, not given; use the layout of Shopify or WooCommerce")]
    PriceList,
    /// Somebody wished to stop.
    #[error("stopped")]
    Stopped,
}

/// How many products a table has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Products.
    pub products: u64,
    /// Those that the layout has no room for: without article numbers, or with too many options.
    pub left_out: u64,
}

/// A product with all that a table tells.
struct Whole {
    product: Product,
    slug: Option<String>,
    pieces: Vec<(Piece, Option<Sale>)>,
    /// Options with the value of each variant.
    options: Vec<(String, HashMap<i64, String>)>,
    categories: Vec<Vec<String>>,
    tags: Vec<String>,
    texts: HashMap<String, String>,
    attributes: Vec<(Attribute, String)>,
    pictures: Vec<(String, String)>,
}

struct Exporter<'a> {
    config: &'a Config,
    decimals: u8,
    zone: TimeZone,
    attributes: Vec<Attribute>,
    list: i64,
    location: i64,
}

/// Writes all products, in one view of the database.
pub fn export(
    db: &Db,
    root: &Path,
    layout: Layout,
    out: &mut dyn Write,
    watch: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Written, ExportError> {
    let config = Settings::read(root)?.config;
    let mut written = Written::default();
    db.read(|tx| {
        let exporter = Exporter {
            decimals: Currency::find(&config.currency).map_or(2, |currency| currency.decimals),
            zone: TimeZone::get(&config.time_zone).unwrap_or(TimeZone::UTC),
            attributes: exchange::attributes(tx)?,
            list: exchange::main_list(tx, &config.currency)?
                .ok_or(ExportError::Missing("price list in its currency"))?,
            location: exchange::main_location(tx)?.ok_or(ExportError::Missing("location for stock"))?,
            config: &config,
        };
        table::row(out, &exporter.head(layout)?)?;
        let all = u64::try_from(db::row_numbers::count(tx, "products")?).unwrap_or_default();
        let mut after = 0;
        loop {
            let some = exchange::products_after(tx, after, AT_ONCE)?;
            let Some(last) = some.last() else { return Ok(()) };
            after = last.id;
            for product in some {
                let whole = exporter.whole(tx, product)?;
                let rows = if layout == Layout::Shopify {
                    exporter.shopify(&whole)
                } else {
                    exporter.woocommerce(&whole)
                };
                match rows {
                    Some(rows) => {
                        written.products += 1;
                        rows.iter().try_for_each(|row| table::row(out, row))?;
                    }
                    None => written.left_out += 1,
                }
            }
            if watch(written.products + written.left_out, all).is_break() {
                return Err(ExportError::Stopped);
            }
        }
    })?;
    Ok(written)
}

impl Exporter<'_> {
    fn head(&self, layout: Layout) -> Result<Vec<Cell>, ExportError> {
        let names: &[&str] = match layout {
            Layout::Shopify => &SHOPIFY,
            Layout::WooCommerce => &WOOCOMMERCE,
            Layout::PriceList => return Err(ExportError::PriceList),
        };
        let mut head: Vec<Cell> = names.iter().map(|name| Cell::text(*name)).collect();
        if layout == Layout::Shopify {
            let metafield = |known: &Attribute| {
                Cell::text(format!("{} (product.metafields.custom.{})", known.name, known.skey))
            };
            head.extend(self.attributes.iter().map(metafield));
        } else {
            for at in 1..=self.places() {
                let part = |part: &str| Cell::text(format!("Attribute {at} {part}"));
                head.extend(["name", "value(s)", "visible", "global"].map(part));
            }
        }
        Ok(head)
    }

    /// Options and attributes that a row has room for.
    fn places(&self) -> usize {
        (self.attributes.len() + 3).min(MOST_ATTRIBUTES)
    }

    fn whole(&self, tx: &mut Tx, product: Product) -> Result<Whole, DbError> {
        let (id, language) = (product.id, self.config.language.as_str());
        let mut pieces = Vec::new();
        for piece in exchange::pieces(tx, id, self.list, self.location)? {
            let sale = exchange::sale(tx, self.list, piece.id)?;
            pieces.push((piece, sale));
        }
        let mut options: Vec<(i64, String, HashMap<i64, String>)> = Vec::new();
        for value in products::options(tx, id, "")? {
            if options.iter().all(|(option, ..)| *option != value.option_id) {
                options.push((value.option_id, value.option_name, HashMap::new()));
            }
            if let Some((.., values)) = options.iter_mut().find(|(option, ..)| *option == value.option_id) {
                values.insert(value.variant_id, value.value_name);
            }
        }
        let mut ids = exchange::categories_of(tx, id)?;
        ids.sort_by_key(|category| Some(*category) != product.main_category_id);
        let categories = ids
            .into_iter()
            .map(|category| exchange::category_path(tx, category))
            .collect::<Result<_, _>>()?;
        let mut attributes = Vec::new();
        for attribute in &self.attributes {
            let values = exchange::attribute_values(tx, id, attribute.id)?;
            let values: Vec<String> =
                values.iter().filter_map(|value| attribute_text(attribute, value)).collect();
            if !values.is_empty() {
                attributes.push((attribute.clone(), values.join(", ")));
            }
        }
        let pictures =
            files::of(tx, "products", id)?.into_iter().filter(|file| file.mime.starts_with("image/"));
        let url = self.config.url.trim_end_matches('/');
        Ok(Whole {
            slug: slugs::current(tx, "products", &[id], language)?.remove(&id),
            pictures: pictures.map(|file| (format!("{url}/files/{}", file.stored_name), file.alt)).collect(),
            tags: exchange::tags_of(tx, id)?.into_iter().map(|tag| tag.name).collect(),
            texts: texts::of(tx, "products", &[id], language)?
                .into_iter()
                .map(|((_, field), value)| (field, value))
                .collect(),
            options: options.into_iter().map(|(_, name, values)| (name, values)).collect(),
            pieces,
            categories,
            attributes,
            product,
        })
    }

    fn money(&self, minor: Option<i64>) -> Cell {
        Cell::maybe(minor.map(|minor| decimal(minor, self.decimals.into())))
    }

    fn stock(&self, whole: &Whole, piece: &Piece) -> i64 {
        piece.on_hand / parts_of_piece(whole.product.decimals)
    }

    /// The rows of a product; `None` where there are more options than columns.
    fn shopify(&self, whole: &Whole) -> Option<Vec<Vec<Cell>>> {
        if whole.options.len() > 3 {
            return None;
        }
        let handle = whole.slug.clone().filter(|slug| !slug.contains('/'))?;
        let count = whole.pieces.len().max(whole.pictures.len()).max(1);
        Some((0..count).map(|at| self.shopify_row(whole, &handle, at)).collect())
    }

    fn shopify_row(&self, whole: &Whole, handle: &str, at: usize) -> Vec<Cell> {
        let first = |cell: Cell| if at == 0 { cell } else { Cell::Empty };
        let text = |field: &str| whole.texts.get(field).map_or(Cell::Empty, Cell::text);
        let product = &whole.product;
        let path = whole.categories.first().map(|path| path.join(" > ")).unwrap_or_default();
        let (published, status) = match product.state.as_str() {
            "kShown" => ("true", "active"),
            "kUnlisted" => ("true", "unlisted"),
            "kArchive" => ("false", "archived"),
            _ => ("false", "draft"),
        };
        let mut row = vec![
            Cell::text(handle),
            first(Cell::text(&product.name)),
            first(Cell::text(&product.text)),
            first(Cell::text(product.brand.clone().unwrap_or_default())),
            first(Cell::text(path)),
            first(text("product_type")),
            first(Cell::text(whole.tags.join(", "))),
            first(Cell::plain(published)),
        ];
        let piece = whole.pieces.get(at).map(|(piece, _)| piece);
        row.extend(self.shopify_options(whole, piece, at));
        row.extend(self.shopify_variant(whole, piece));
        match whole.pictures.get(at) {
            Some((address, alt)) => {
                row.extend([Cell::text(address), Cell::plain(at + 1), Cell::text(alt)]);
            }
            None => row.extend([Cell::Empty, Cell::Empty, Cell::Empty]),
        }
        row.extend([first(text("seo_title")), first(text("seo_description"))]);
        row.extend([
            piece.map_or(Cell::Empty, |_| Cell::plain("g")),
            self.money(piece.and_then(|piece| piece.cost)),
        ]);
        row.push(first(Cell::plain(status)));
        for attribute in &self.attributes {
            let value = whole.attributes.iter().find(|(known, _)| known.id == attribute.id);
            row.push(first(value.map_or(Cell::Empty, |(_, value)| Cell::text(value))));
        }
        row
    }

    fn shopify_options(&self, whole: &Whole, piece: Option<&Piece>, at: usize) -> Vec<Cell> {
        let mut row = Vec::new();
        for option in 0..3 {
            let (name, value) = match (whole.options.get(option), piece) {
                (Some((name, values)), Some(piece)) => {
                    (name.as_str(), values.get(&piece.id).map(String::as_str))
                }
                (None, Some(_)) if option == 0 => ("Title", Some("Default Title")),
                _ => ("", None),
            };
            row.push(if at == 0 { Cell::text(name) } else { Cell::Empty });
            row.push(value.map_or(Cell::Empty, Cell::text));
        }
        row
    }

    fn shopify_variant(&self, whole: &Whole, piece: Option<&Piece>) -> Vec<Cell> {
        let Some(piece) = piece else { return (0..9).map(|_| Cell::Empty).collect() };
        vec![
            Cell::text(piece.sku.clone().unwrap_or_default()),
            Cell::maybe(piece.weight),
            if piece.tracked { Cell::plain("shopify") } else { Cell::Empty },
            Cell::plain(self.stock(whole, piece)),
            Cell::plain(if piece.backorder == Some(0) { "deny" } else { "continue" }),
            self.money(piece.amount),
            self.money(piece.compare_at),
            Cell::plain("true"),
            Cell::text(piece.gtin.clone().unwrap_or_default()),
        ]
    }

    /// The rows of a product; `None` where nothing tells it from others, or there is no room for its options.
    fn woocommerce(&self, whole: &Whole) -> Option<Vec<Vec<Cell>>> {
        let product = &whole.product;
        let external = product.external_id.as_deref();
        let id = external.and_then(|id| id.strip_prefix("woo:"));
        let own_sku = external.and_then(|id| id.strip_prefix("woo-sku:"));
        if whole.options.len() + whole.attributes.len() > self.places() {
            return None;
        }
        if whole.options.is_empty() {
            let (piece, sale) = whole.pieces.first()?;
            if piece.sku.is_none() && id.is_none() {
                return None;
            }
            let sku = piece.sku.clone().unwrap_or_default();
            return Some(vec![self.woocommerce_row(
                whole,
                ("simple", id, &sku, ""),
                Some((piece, sale.as_ref())),
            )]);
        }
        let sku = own_sku.map(str::to_owned).or_else(|| whole.slug.clone())?;
        let parent = id.map_or_else(|| sku.clone(), |id| format!("id:{id}"));
        // With a number of its own it needs no article number.
        let sku = if id.is_some() { String::new() } else { sku };
        let mut rows = vec![self.woocommerce_row(whole, ("variable", id, &sku, ""), None)];
        for (piece, sale) in &whole.pieces {
            let sku = piece.sku.clone().unwrap_or_default();
            rows.push(self.woocommerce_row(
                whole,
                ("variation", None, &sku, &parent),
                Some((piece, sale.as_ref())),
            ));
        }
        Some(rows)
    }

    fn woocommerce_row(
        &self,
        whole: &Whole,
        (kind, id, sku, parent): (&str, Option<&str>, &str, &str),
        piece: Option<(&Piece, Option<&Sale>)>,
    ) -> Vec<Cell> {
        let is_variation = kind == "variation";
        let own = |cell: Cell| if is_variation { Cell::Empty } else { cell };
        let (product, one) = (&whole.product, piece.map(|(piece, _)| piece));
        let published = if matches!(product.state.as_str(), "kShown" | "kUnlisted") { 1 } else { 0 };
        let short = whole.texts.get("short").map_or(Cell::Empty, |text| Cell::text(typed(text)));
        let mut row = vec![
            Cell::maybe(id),
            Cell::plain(kind),
            Cell::text(sku),
            Cell::text(one.and_then(|piece| piece.gtin.clone()).unwrap_or_default()),
            Cell::text(&product.name),
            own(Cell::plain(published)),
            own(Cell::plain(if product.state == "kUnlisted" { "hidden" } else { "visible" })),
            own(short),
            own(Cell::text(typed(&product.text))),
        ];
        row.extend(self.woocommerce_variant(whole, piece));
        let paths: Vec<String> = whole.categories.iter().map(|path| list_part(&path.join(" > "))).collect();
        let tags: Vec<String> = whole.tags.iter().map(|tag| list_part(tag)).collect();
        let pictures: Vec<String> = whole.pictures.iter().map(|(address, _)| list_part(address)).collect();
        row.extend([
            own(Cell::text(paths.join(", "))),
            own(Cell::text(tags.join(", "))),
            own(Cell::text(pictures.join(", "))),
            Cell::text(parent),
            own(Cell::text(product.brand.clone().unwrap_or_default())),
        ]);
        row.extend(self.woocommerce_attributes(whole, one, is_variation));
        row
    }

    fn woocommerce_variant(&self, whole: &Whole, piece: Option<(&Piece, Option<&Sale>)>) -> Vec<Cell> {
        let Some((piece, sale)) = piece else { return (0..11).map(|_| Cell::Empty).collect() };
        let day = |time: &Option<String>| {
            let time: Option<Timestamp> = time.as_deref().and_then(|time| time.parse().ok());
            let time = time.filter(|time| *time != Timestamp::UNIX_EPOCH);
            time.map(|time| self.zone.to_datetime(time).strftime("%Y-%m-%d %H:%M:%S").to_string())
        };
        // A price before a reduction is the regular one, the reduced one that of a sale.
        let (regular, lower) = match (sale, piece.compare_at) {
            (Some(sale), _) => (piece.amount, Some(sale.amount)),
            (None, Some(before)) => (Some(before), piece.amount),
            (None, None) => (piece.amount, None),
        };
        let part = |value: Option<i64>, digits| Cell::maybe(value.map(|value| decimal(value, digits)));
        vec![
            Cell::maybe(sale.and_then(|sale| day(&sale.valid_from))),
            Cell::maybe(sale.and_then(|sale| day(&sale.valid_until))),
            Cell::plain(if !piece.tracked || piece.on_hand > 0 { 1 } else { 0 }),
            if piece.tracked { Cell::plain(self.stock(whole, piece)) } else { Cell::Empty },
            Cell::plain(if piece.backorder == Some(0) { 0 } else { 1 }),
            part(piece.weight, 3),
            part(piece.length, 1),
            part(piece.width, 1),
            part(piece.height, 1),
            self.money(lower),
            self.money(regular),
        ]
    }

    fn woocommerce_attributes(&self, whole: &Whole, piece: Option<&Piece>, is_variation: bool) -> Vec<Cell> {
        let mut row = Vec::new();
        for (name, values) in &whole.options {
            let value = match piece.filter(|_| is_variation) {
                Some(piece) => list_part(values.get(&piece.id).map(String::as_str).unwrap_or_default()),
                None => {
                    let mut all: Vec<String> = Vec::new();
                    for (piece, _) in &whole.pieces {
                        let value = list_part(values.get(&piece.id).map(String::as_str).unwrap_or_default());
                        if !all.contains(&value) {
                            all.push(value);
                        }
                    }
                    all.join(", ")
                }
            };
            row.extend([Cell::text(name), Cell::text(value), Cell::plain(1), Cell::plain(0)]);
        }
        for (attribute, value) in whole.attributes.iter().filter(|_| !is_variation) {
            row.extend([
                Cell::text(&attribute.name),
                Cell::text(list_part(value)),
                Cell::plain(1),
                Cell::plain(0),
            ]);
        }
        while row.len() < self.places() * 4 {
            row.push(Cell::Empty);
        }
        row
    }
}

fn attribute_text(attribute: &Attribute, value: &AttributeValue) -> Option<String> {
    let decimals = usize::try_from(attribute.decimals).unwrap_or_default();
    match attribute.kind.as_str() {
        "kDecimal" => value.int_value.map(|value| decimal(value, decimals)),
        "kBool" => value.int_value.map(|value| (value != 0).to_string()),
        _ => value
            .choice
            .clone()
            .or_else(|| value.text_value.clone())
            .or_else(|| value.date_value.clone())
            .or_else(|| value.int_value.map(|value| value.to_string())),
    }
}

/// A part of a list with commas.
fn list_part(text: &str) -> String {
    text.replace(',', "\\,")
}

/// Line ends as WooCommerce types them.
fn typed(text: &str) -> String {
    text.replace('\n', "\\n")
}

const SHOPIFY: [&str; 31] = [
    "Handle",
    "Title",
    "Body (HTML)",
    "Vendor",
    "Product Category",
    "Type",
    "Tags",
    "Published",
    "Option1 Name",
    "Option1 Value",
    "Option2 Name",
    "Option2 Value",
    "Option3 Name",
    "Option3 Value",
    "Variant SKU",
    "Variant Grams",
    "Variant Inventory Tracker",
    "Variant Inventory Qty",
    "Variant Inventory Policy",
    "Variant Price",
    "Variant Compare At Price",
    "Variant Requires Shipping",
    "Variant Barcode",
    "Image Src",
    "Image Position",
    "Image Alt Text",
    "SEO Title",
    "SEO Description",
    "Variant Weight Unit",
    "Cost per item",
    "Status",
];

const WOOCOMMERCE: [&str; 25] = [
    "ID",
    "Type",
    "SKU",
    "GTIN, UPC, EAN, or ISBN",
    "Name",
    "Published",
    "Visibility in catalog",
    "Short description",
    "Description",
    "Date sale price starts",
    "Date sale price ends",
    "In stock?",
    "Stock",
    "Backorders allowed?",
    "Weight (kg)",
    "Length (cm)",
    "Width (cm)",
    "Height (cm)",
    "Sale price",
    "Regular price",
    "Categories",
    "Tags",
    "Images",
    "Parent",
    "Brands",
];
