//! Products with their variants, options, attributes and pictures, as pages show them.

use std::collections::HashMap;

use jiff::Timestamp;
use shop::text::{folded, sort_key};

use crate::id_list::Ids;
use crate::record::record;
use crate::texts::{translated, translated_as};
use crate::{DbError, Tx, listing, micros, rows, slugs};

record! {
    /// A product.
    pub struct Product {
        /// Number.
        pub id: i64,
        /// `kGoods`, `kDigital` or `kService`.
        pub kind: String,
        /// Brand.
        pub brand_id: Option<i64>,
        /// Tax class.
        pub tax_class_id: Option<i64>,
        /// Measure of quantities.
        pub measure_id: Option<i64>,
        /// The category whose path its page shows.
        pub main_category_id: Option<i64>,
        /// Name.
        pub name: String,
        /// Description, HTML.
        pub text: String,
        /// `kDraft`, `kShown`, `kUnlisted`, `kArchive`.
        pub state: String,
        /// Sum of the stars of shown reviews.
        pub rating_sum: i64,
        /// How many shown reviews there are.
        pub rating_count: i64,
        /// When it was changed last.
        pub changed: String,
        /// Grows with every change.
        pub version: i64,
    }
}

record! {
    /// What is sold.
    pub struct Variant {
        /// Number.
        pub id: i64,
        /// The product.
        pub product_id: i64,
        /// Article number.
        pub sku: Option<String>,
        /// EAN, UPC or ISBN.
        pub gtin: Option<String>,
        /// The manufacturer's number.
        pub mpn: Option<String>,
        /// Its values of the options, sorted.
        pub option_key: String,
        /// Grams.
        pub weight: Option<i64>,
        /// Whether stock is counted.
        pub tracked: bool,
        /// How many may be sold beyond the stock; `None` any number.
        pub backorder: Option<i64>,
        /// Smallest quantity.
        pub min_quantity: i64,
        /// Largest quantity.
        pub max_quantity: Option<i64>,
        /// Steps of quantities.
        pub step: i64,
        /// Whether it is sent.
        pub ships: bool,
    }
}

record! {
    /// A value of an option, and which variant has it.
    pub struct VariantOption {
        /// The variant.
        pub variant_id: i64,
        /// The option.
        pub option_id: i64,
        /// Its name.
        pub option_name: String,
        /// The value.
        pub value_id: i64,
        /// Its name.
        pub value_name: String,
    }
}

record! {
    /// A value of an attribute.
    pub struct AttributeValue {
        /// The product.
        pub product_id: i64,
        /// The variant; `None` for all of them.
        pub variant_id: Option<i64>,
        /// The attribute.
        pub attribute_id: i64,
        /// Its key.
        pub skey: String,
        /// Its name.
        pub name: String,
        /// Its type.
        pub kind: String,
        /// Digits behind the point of `kDecimal`.
        pub decimals: i64,
        /// What its numbers are in.
        pub measure: String,
        /// The choice.
        pub choice_id: Option<i64>,
        /// Name of the choice.
        pub choice_name: Option<String>,
        /// The number; true is 1.
        pub int_value: Option<i64>,
        /// The text.
        pub text_value: Option<String>,
        /// The day.
        pub date_value: Option<String>,
    }
}

record! {
    /// A file of a row.
    pub struct File {
        /// Number.
        pub id: i64,
        /// The row's number.
        pub elem_id: i64,
        /// Kind: `kImage`, ….
        pub kind_key: String,
        /// The name it came with.
        pub real_name: String,
        /// Its name below `files/`.
        pub stored_name: String,
        /// Its type.
        pub mime: String,
        /// Its size.
        pub bytes: i64,
        /// Pixels.
        pub width: Option<i64>,
        /// Pixels.
        pub height: Option<i64>,
        /// What is to be seen.
        pub alt: String,
    }
}

/// What a new product needs; what is not named here is set by [`rows::update`].
#[derive(Clone, Debug, Default)]
pub struct NewProduct {
    /// Brand.
    pub brand_id: Option<i64>,
    /// Tax class.
    pub tax_class_id: Option<i64>,
    /// The category whose path its page shows; it lies there too.
    pub main_category_id: Option<i64>,
    /// Name.
    pub name: String,
    /// Description, HTML.
    pub text: String,
    /// `kDraft`, `kShown`, `kUnlisted`, `kArchive`.
    pub state: String,
    /// Who adds it.
    pub author_id: Option<i64>,
}

/// A condition under which a product `p` has a page at the moment `:now`.
const HAS_PAGE: &str = "p.deleted is null and p.state in ('kShown', 'kUnlisted')
   and (p.shown_from is null or p.shown_from <= :now) and (p.shown_until is null or p.shown_until > :now)";

fn columns() -> String {
    format!(
        "p.id, p.kind, p.brand_id, p.tax_class_id, p.measure_id, p.main_category_id, {}, {}, p.state,
         p.rating_sum, p.rating_count, p.changed, p.version",
        translated("p", "products", "name"),
        translated("p", "products", "text")
    )
}

/// A product that has a page at this moment.
pub fn shown(tx: &mut Tx, id: i64, language: &str, now: Timestamp) -> Result<Option<Product>, DbError> {
    let sql = format!("select {} from products p where p.id = :id and {HAS_PAGE}", columns());
    let params = [("id", id.into()), ("language", language.into()), ("now", micros(now).into())];
    tx.row(&sql, &params)?.map(|row| Product::of(&row)).transpose()
}

/// Products by their numbers, in the order of these, whatever their state; removed ones are left out.
pub fn by_ids(tx: &mut Tx, ids: &[i64], language: &str) -> Result<Vec<Product>, DbError> {
    let list = Ids::new("id", ids);
    let sql =
        format!("select {} from products p where p.deleted is null and p.id in {}", columns(), list.places());
    let mut found = HashMap::new();
    for row in tx.rows(&sql, &list.with(&[("language", language.into())]))? {
        let product = Product::of(&row)?;
        found.insert(product.id, product);
    }
    Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
}

const VARIANT: &str =
    "v.id, v.product_id, v.sku, v.gtin, v.mpn, v.option_key, v.weight, v.tracked, v.backorder,
   v.min_quantity, v.max_quantity, v.step, v.ships";

/// The variants of products, by product and position.
pub fn variants(tx: &mut Tx, products: &[i64]) -> Result<Vec<Variant>, DbError> {
    let list = Ids::new("id", products);
    let sql = format!(
        "select {VARIANT} from variants v where v.deleted is null and v.product_id in {}
         order by v.product_id, v.position, v.id",
        list.places()
    );
    tx.rows(&sql, &list.with(&[]))?.iter().map(Variant::of).collect()
}

/// Variants by their numbers, removed ones left out.
pub fn variants_by_ids(tx: &mut Tx, ids: &[i64]) -> Result<HashMap<i64, Variant>, DbError> {
    let list = Ids::new("id", ids);
    let sql =
        format!("select {VARIANT} from variants v where v.deleted is null and v.id in {}", list.places());
    let rows = tx.rows(&sql, &list.with(&[]))?;
    rows.iter().map(|row| Variant::of(row).map(|variant| (variant.id, variant))).collect()
}

/// The variant with this article number or GTIN.
pub fn variant_by_code(tx: &mut Tx, code: &str) -> Result<Option<Variant>, DbError> {
    let sql = format!(
        "select {VARIANT} from variants v where v.deleted is null and v.sku_folded = :folded
         union all
         select {VARIANT} from variants v where v.deleted is null and v.gtin = :code limit 1"
    );
    let params = [("folded", folded(code).into()), ("code", code.trim().into())];
    tx.row(&sql, &params)?.map(|row| Variant::of(&row)).transpose()
}

/// What the variants of a product differ in, by option and value.
pub fn options(tx: &mut Tx, product: i64, language: &str) -> Result<Vec<VariantOption>, DbError> {
    let sql = format!(
        "select x.variant_id, x.option_id, {}, x.value_id, {}
         from product_options o join variant_values x on x.option_id = o.id
         join product_option_values w on w.id = x.value_id
         join variants v on v.id = x.variant_id and v.deleted is null
         where o.product_id = :product order by o.position, o.id, w.position, w.id, v.position, v.id",
        translated_as("o", "product_options", "name", "option_name"),
        translated_as("w", "product_option_values", "name", "value_name")
    );
    let rows = tx.rows(&sql, &[("product", product.into()), ("language", language.into())])?;
    rows.iter().map(VariantOption::of).collect()
}

/// Attributes of products and their variants, by product and the attributes' order.
pub fn attributes(tx: &mut Tx, products: &[i64], language: &str) -> Result<Vec<AttributeValue>, DbError> {
    let list = Ids::new("id", products);
    let name = translated("a", "attributes", "name");
    let choice_name = translated_as("c", "attribute_choices", "name", "choice_name");
    let sql = format!(
        "select v.product_id, v.variant_id, v.attribute_id, a.skey, {name}, a.type as kind, a.decimals, a.measure,
           v.choice_id, {choice_name}, v.int_value, v.text_value, v.date_value
         from attribute_values v join attributes a on a.id = v.attribute_id
         left join attribute_choices c on c.id = v.choice_id
         where v.product_id in {} order by v.product_id, a.position, a.id, c.position, c.id, v.id",
        list.places()
    );
    let rows = tx.rows(&sql, &list.with(&[("language", language.into())]))?;
    rows.iter().map(AttributeValue::of).collect()
}

/// Files of rows, by row and position.
pub fn files(tx: &mut Tx, entity: &str, ids: &[i64]) -> Result<Vec<File>, DbError> {
    let list = Ids::new("id", ids);
    let sql = format!(
        "select id, elem_id, kind_key, real_name, stored_name, mime, bytes, width, height, alt from files
         where entity = :entity and elem_id in {} order by elem_id, position, id",
        list.places()
    );
    tx.rows(&sql, &list.with(&[("entity", entity.into())]))?.iter().map(File::of).collect()
}

/// Products that are named beside one, of this kind, which have a page.
pub fn linked(tx: &mut Tx, product: i64, kind: &str, now: Timestamp) -> Result<Vec<i64>, DbError> {
    let sql = format!(
        "select p.id from product_links k join products p on p.id = k.linked_id
         where k.product_id = :product and k.kind = :kind and {HAS_PAGE} order by k.position, k.id"
    );
    let params = [("product", product.into()), ("kind", kind.into()), ("now", micros(now).into())];
    tx.rows(&sql, &params)?.iter().map(|row| row.get("id")).collect()
}

/// Products that are named beside one, of this kind, whether they have a page or not.
pub fn named_beside(tx: &mut Tx, product: i64, kind: &str) -> Result<Vec<i64>, DbError> {
    let sql = "select linked_id from product_links where product_id = :product and kind = :kind";
    let rows = tx.rows(sql, &[("product", product.into()), ("kind", kind.into())])?;
    rows.iter().map(|row| row.get("linked_id")).collect()
}

/// Names of brands.
pub fn brand_name(tx: &mut Tx, brand: i64) -> Result<Option<String>, DbError> {
    let row =
        tx.row("select name from brands where id = :id and deleted is null", &[("id", brand.into())])?;
    row.map(|row| row.get("name")).transpose()
}

/// The names of brands, by their numbers.
pub fn brand_names(tx: &mut Tx, brands: &[i64]) -> Result<HashMap<i64, String>, DbError> {
    if brands.is_empty() {
        return Ok(HashMap::new());
    }
    let list = Ids::new("id", brands);
    let sql = format!("select id, name from brands where deleted is null and id in {}", list.places());
    let rows = tx.rows(&sql, &list.with(&[]))?;
    rows.iter().map(|row| Ok((row.get("id")?, row.get("name")?))).collect()
}

/// Adds a product, without variants.
pub fn create(tx: &mut Tx, new: &NewProduct, now: Timestamp) -> Result<i64, DbError> {
    let time = micros(now);
    let id = rows::insert(
        tx,
        "products",
        &[
            ("brand_id", new.brand_id.into()),
            ("tax_class_id", new.tax_class_id.into()),
            ("main_category_id", new.main_category_id.into()),
            ("name", (&new.name).into()),
            ("name_folded", folded(&new.name).into()),
            ("name_sort", sort_key(&new.name).into()),
            ("text", (&new.text).into()),
            ("state", (&new.state).into()),
            ("author_id", new.author_id.into()),
            ("created", (&time).into()),
            ("changed", (&time).into()),
        ],
    )?;
    if let Some(category) = new.main_category_id {
        add_category(tx, id, category)?;
    }
    listing::changed(tx, "products", id, now)?;
    Ok(id)
}

/// Puts a product into a category, once.
pub fn add_category(tx: &mut Tx, product: i64, category: i64) -> Result<(), DbError> {
    tx.run(
        "insert into product_categories (product_id, category_id) values (:product, :category)
         on conflict (product_id, category_id) do nothing",
        &[("product", product.into()), ("category", category.into())],
    )?;
    Ok(())
}

/// Takes a product out of a category.
pub fn remove_category(tx: &mut Tx, product: i64, category: i64) -> Result<(), DbError> {
    tx.run(
        "delete from product_categories where product_id = :product and category_id = :category",
        &[("product", product.into()), ("category", category.into())],
    )?;
    Ok(())
}

/// Removes a product and its variants; its addresses are gone. Orders keep what they need.
pub fn remove(tx: &mut Tx, id: i64, now: Timestamp) -> Result<bool, DbError> {
    if !rows::remove(tx, "products", id, now)? {
        return Ok(false);
    }
    tx.run(
        "update variants set deleted = :now, changed = :now, version = version + 1
         where product_id = :id and deleted is null",
        &[("id", id.into()), ("now", micros(now).into())],
    )?;
    slugs::end(tx, "products", id)?;
    listing::reindex(tx, &[id], now)?;
    Ok(true)
}
