//! What a cart needs to know of the catalogue, of many variants at once.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::id_list::Ids;
use crate::record::record;
use crate::texts::translated_as;
use crate::{DbError, Tx, micros};

record! {
    /// A variant as a cart and an order show it.
    pub struct Goods {
        /// The variant.
        pub variant_id: i64,
        /// The product.
        pub product_id: i64,
        /// Name of the product.
        pub name: String,
        /// Whether the product has a page now and the variant is still sold.
        pub is_sold: bool,
        /// Article number.
        pub sku: Option<String>,
        /// EAN, UPC or ISBN.
        pub gtin: Option<String>,
        /// Grams.
        pub weight: Option<i64>,
        /// What one costs the store.
        pub cost: Option<i64>,
        /// Currency of the cost.
        pub cost_currency: Option<String>,
        /// Smallest quantity.
        pub min_quantity: i64,
        /// Largest quantity.
        pub max_quantity: Option<i64>,
        /// Steps of quantities.
        pub step: i64,
        /// Whether it is sent.
        pub ships: bool,
        /// Tax class.
        pub tax_class_id: Option<i64>,
        /// Measure of the quantity.
        pub measure: Option<String>,
        /// Digits of its parts.
        pub decimals: i64,
        /// First picture of the product.
        pub file_id: Option<i64>,
    }
}

/// Variants by their numbers; what is no row any more is missing.
pub fn of_variants(
    tx: &mut Tx,
    variants: &[i64],
    language: &str,
    now: Timestamp,
) -> Result<HashMap<i64, Goods>, DbError> {
    let list = Ids::new("id", variants);
    let name = translated_as("p", "products", "name", "name");
    let sql = format!(
        "select v.id as variant_id, v.product_id, {name}, v.sku, v.gtin, v.weight, v.cost, v.cost_currency,
           v.min_quantity, v.max_quantity, v.step, v.ships,
           (v.deleted is null and p.deleted is null and p.state in ('kShown', 'kUnlisted')
             and (p.shown_from is null or p.shown_from <= :now)
             and (p.shown_until is null or p.shown_until > :now)) as is_sold,
           coalesce(p.tax_class_id, (select t.id from tax_classes t order by t.position, t.id limit 1)) as tax_class_id,
           m.skey as measure, coalesce(m.decimals, 0) as decimals,
           (select f.id from files f where f.entity = 'products' and f.elem_id = p.id and f.mime like 'image/%'
             and f.mime <> 'image/svg+xml' order by f.position, f.id limit 1) as file_id
         from variants v join products p on p.id = v.product_id left join measures m on m.id = p.measure_id
         where v.id in {}",
        list.places()
    );
    let params = list.with(&[("language", language.into()), ("now", micros(now).into())]);
    let rows = tx.rows(&sql, &params)?;
    rows.iter().map(|row| Goods::of(row).map(|goods| (goods.variant_id, goods))).collect()
}

/// The values of the options of variants in words, in the order of the options.
pub fn option_words(
    tx: &mut Tx,
    variants: &[i64],
    language: &str,
) -> Result<HashMap<i64, Vec<String>>, DbError> {
    let list = Ids::new("id", variants);
    let sql = format!(
        "select x.variant_id, {} from variant_values x join product_options o on o.id = x.option_id
         join product_option_values w on w.id = x.value_id
         where x.variant_id in {} order by x.variant_id, o.position, o.id",
        translated_as("w", "product_option_values", "name", "word"),
        list.places()
    );
    let mut words: HashMap<i64, Vec<String>> = HashMap::new();
    for row in tx.rows(&sql, &list.with(&[("language", language.into())]))? {
        words.entry(row.get("variant_id")?).or_default().push(row.get("word")?);
    }
    Ok(words)
}

/// The categories of products, those above them too.
pub fn categories(tx: &mut Tx, products: &[i64]) -> Result<HashMap<i64, Vec<i64>>, DbError> {
    let list = Ids::new("id", products);
    let sql = format!(
        "select distinct c.product_id, k.ancestor from product_categories c
         join category_closure k on k.descendant = c.category_id
         where c.product_id in {} order by c.product_id, k.ancestor",
        list.places()
    );
    let mut found: HashMap<i64, Vec<i64>> = HashMap::new();
    for row in tx.rows(&sql, &list.with(&[]))? {
        found.entry(row.get("product_id")?).or_default().push(row.get("ancestor")?);
    }
    Ok(found)
}

/// The country that goods are sent from first; its taxes hold until it is known where goods go.
pub fn home_country(tx: &mut Tx) -> Result<Option<String>, DbError> {
    let row = tx.row(
        "select country from locations where deleted is null and sells and country is not null and country <> ''
         order by priority desc, id limit 1",
        &[],
    )?;
    row.map(|row| row.get("country")).transpose()
}
