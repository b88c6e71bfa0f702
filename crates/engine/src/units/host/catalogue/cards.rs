//! Cards: products as lists show them.

use std::collections::HashMap;

use db::DbError;
use db::products::{self, File, Product, Variant};
use sandbox::Value;

use super::{Reading, image, is_image, price};
use crate::units::visit::map;

/// Cards of products, in the order of their numbers; those without a page are left out.
pub(super) fn cards(reading: &mut Reading<'_>, ids: &[i64]) -> Result<Vec<Value>, DbError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    for id in ids {
        reading.dependencies.row("products", *id);
        reading.dependencies.set("variants.product_id", *id);
    }
    reading.element("texts", "products", ids);
    let products = products::by_ids(reading.tx, ids, &reading.look.language)?;
    let variants = products::variants(reading.tx, ids)?;
    let numbers: Vec<i64> = variants.iter().map(|variant| variant.id).collect();
    let sums = sums(reading, &variants, &numbers)?;
    let buyable = buyable(reading, &numbers)?;
    let urls = reading.urls("products", ids)?;
    let pictures = pictures(reading, "products", ids)?;
    let brands = brands(reading, &products)?;
    let mut cards = Vec::with_capacity(products.len());
    for product in &products {
        let Some(url) = urls.get(&product.id) else { continue };
        let of = |known: &&Variant| known.product_id == product.id;
        let (price, is_from) = sums.get(&product.id).cloned().unwrap_or((Value::Null, false));
        let available =
            variants.iter().filter(of).any(|variant| buyable.get(&variant.id).is_some_and(|count| *count));
        cards.push(map([
            ("id", product.id.into()),
            ("name", product.name.as_str().into()),
            ("url", url.as_str().into()),
            (
                "brand",
                product
                    .brand_id
                    .and_then(|brand| brands.get(&brand))
                    .map(String::as_str)
                    .map(Value::from)
                    .unwrap_or_default(),
            ),
            ("price", price),
            ("is_from", is_from.into()),
            ("available", available.into()),
            ("rating_sum", product.rating_sum.into()),
            ("rating_count", product.rating_count.into()),
            ("image", pictures.get(&product.id).map(image).unwrap_or_default()),
        ]));
    }
    Ok(cards)
}

/// The lowest price of each product, and whether others of it cost more.
fn sums(
    reading: &mut Reading<'_>,
    variants: &[Variant],
    numbers: &[i64],
) -> Result<HashMap<i64, (Value, bool)>, DbError> {
    let (prices, lists) = reading.prices(numbers)?;
    let mut least: HashMap<i64, (db::prices::Price, bool)> = HashMap::new();
    for variant in variants {
        let Some(price) = prices.choose(variant.id, variant.min_quantity, &lists, reading.now) else {
            continue;
        };
        least
            .entry(variant.product_id)
            .and_modify(|(known, is_from)| {
                *is_from |= known.amount != price.amount;
                if price.amount < known.amount {
                    *known = price;
                }
            })
            .or_insert((price, false));
    }
    let look = reading.look;
    Ok(least
        .into_iter()
        .map(|(product, (sum, is_from))| (product, (price(look, sum.amount, sum.compare_at, None), is_from)))
        .collect())
}

fn buyable(reading: &mut Reading<'_>, variants: &[i64]) -> Result<HashMap<i64, bool>, DbError> {
    let stock = reading.stock(variants)?;
    Ok(stock.into_iter().map(|(variant, stock)| (variant, stock.is_for_sale())).collect())
}

/// The first picture of each row.
pub(super) fn pictures(
    reading: &mut Reading<'_>,
    entity: &str,
    ids: &[i64],
) -> Result<HashMap<i64, File>, DbError> {
    reading.element("files", entity, ids);
    let mut first = HashMap::new();
    for file in products::files(reading.tx, entity, ids)? {
        if is_image(&file) {
            first.entry(file.elem_id).or_insert(file);
        }
    }
    Ok(first)
}

fn brands(reading: &mut Reading<'_>, products: &[Product]) -> Result<HashMap<i64, String>, DbError> {
    let mut brands: Vec<i64> = products.iter().filter_map(|product| product.brand_id).collect();
    brands.sort_unstable();
    brands.dedup();
    for brand in &brands {
        reading.dependencies.row("brands", *brand);
    }
    products::brand_names(reading.tx, &brands)
}
