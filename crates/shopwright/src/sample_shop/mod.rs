//! A shop full of goods: what the sample store sells, and as many products as a measurement wants.
//!
//! Everything follows from the words in `words.toml` and the number of a row, so two runs give the same rows.

mod catalogue;
mod lists;
mod orders;
mod people;
mod pictures;
mod plan;
mod random;
mod reviews;
mod stock;
mod words;
mod writer;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result, bail};
use db::{Db, Tx, prices, row_numbers};
use jiff::Timestamp;
use shop::money::Currency;

use catalogue::Catalogue;
use orders::Orders;
use plan::Plan;
use words::Words;
use writer::Writer;

/// How large the shop is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Products.
    pub(crate) products: i64,
    /// Orders.
    pub(crate) orders: i64,
    /// Customers.
    pub(crate) customers: i64,
}

impl Size {
    /// The sample store's.
    pub(crate) const SAMPLE: Self = Self { products: 200, orders: 72, customers: 40 };

    /// Of a store for measuring: an order for each fifty products, a customer for each hundred.
    pub(crate) fn of(products: i64) -> Self {
        Self { products, orders: (products / 50).max(1), customers: (products / 100).max(1) }
    }
}

/// In which words and from which moment on the shop is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    /// The store's language: its words stand in the tables themselves, those of the others beside them.
    pub(crate) language: &'a str,
    /// What counts as now.
    pub(crate) now: Timestamp,
    /// The store's root, whose `files/` get the pictures.
    pub(crate) root: &'a Path,
}

/// Hears how far the work is, table by table, and says whether it shall go on.
pub(crate) type Watch<'a> = &'a mut dyn FnMut(Step<'_>) -> ControlFlow<()>;

/// Where the work is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    /// The table that is being filled.
    pub(crate) table: &'a str,
    /// Steps that are done.
    pub(crate) done: u64,
    /// All steps.
    pub(crate) all: u64,
}

/// How many rows each table got.
pub(crate) type Counts = BTreeMap<&'static str, i64>;

/// Tables that must have no rows: the sample would mix with what is there.
const MUST_BE_EMPTY: [&str; 19] = [
    "products",
    "files",
    "categories",
    "brands",
    "attributes",
    "slugs",
    "stock",
    "customers",
    "orders",
    "reviews",
    "promotions",
    "coupons",
    "pages",
    "menus",
    "zones",
    "tax_rates",
    "shipping_methods",
    "payment_methods",
    "prices",
];

/// Keys that the sample gives to new rows beside those that every store has.
const MUST_BE_FREE: [(&str, &str); 3] =
    [("customer_groups", WHOLESALE), ("price_lists", WHOLESALE), ("locations", WAREHOUSE)];

/// Key of the second list of prices and of who buys by it.
const WHOLESALE: &str = "kWholesale";
/// Key of the second location.
const WAREHOUSE: &str = "kWarehouse";

/// The first table of a store that holds something where the sample would go.
pub(crate) fn taken(tx: &mut Tx) -> Result<Option<&'static str>> {
    for table in MUST_BE_EMPTY {
        if !row_numbers::is_empty(tx, table)? {
            return Ok(Some(table));
        }
    }
    for (table, key) in MUST_BE_FREE {
        if row_numbers::by_key(tx, table)?.contains_key(key) {
            return Ok(Some(table));
        }
    }
    Ok(None)
}

/// Fills a store that sells nothing yet, in one transaction.
pub(crate) fn fill(db: &Db, size: Size, setting: Setting<'_>, watch: Watch<'_>) -> Result<Counts> {
    let words = Words::read()?;
    let counts = db.bulk_write(|tx| {
        if let Some(table) = taken(tx)? {
            bail!("the sample goes into an empty shop only, and this one has rows in `{table}`; nothing was changed");
        }
        db::changes::pause(tx)?;
        let plan = plan(tx, size, setting)?;
        let counts = write(tx, &plan, &words, setting.root, watch)?;
        db::transfer::check_links(tx)?;
        db::reindex::all(tx, setting.now)?;
        Ok(counts)
    })?;
    db::jobs::all_is_made(db, setting.now)?;
    Ok(counts)
}

fn plan(tx: &mut Tx, size: Size, setting: Setting<'_>) -> Result<Plan> {
    let mut keys = BTreeMap::new();
    for table in ["tax_classes", "locations"] {
        keys.insert(table, row_numbers::by_key(tx, table)?);
    }
    let main = prices::all_lists(tx)?.into_iter().find(|list| list.skey == "kMain");
    let main = main.context("the store has no main list of prices")?;
    let currency = Currency::find(&main.currency);
    let currency = currency.with_context(|| format!("`{}` is no currency", main.currency))?;
    let mut plan = Plan {
        products: size.products,
        orders: size.orders,
        customers: size.customers,
        first_order_number: row_numbers::take(tx, "order", size.orders)?,
        now: setting.now,
        language: setting.language.to_owned(),
        currency,
        first: row_numbers::first_free(tx)?,
        main_list: main.id,
        main_location: 0,
        created: BTreeMap::new(),
        keys,
    };
    plan.main_location = plan.key("locations", "kMain")?;
    for class in &lists::TAX_CLASSES {
        plan.add_key("tax_classes", class.key);
    }
    Ok(plan)
}

/// Parents before children, since the server looks at links as rows come in.
fn write(tx: &mut Tx, plan: &Plan, words: &Words, root: &Path, watch: Watch<'_>) -> Result<Counts> {
    let catalogue = Catalogue::new(plan, words)?;
    let orders = Orders::new(&catalogue)?;
    let mut writer = Writer::new(tx, &db::micros(plan.now), watch);
    lists::before_goods(plan, &mut writer)?;
    catalogue.write(&mut writer)?;
    catalogue.prices(&mut writer)?;
    catalogue.texts_and_slugs(&mut writer)?;
    pictures::write(&catalogue, root, &mut writer)?;
    people::write(plan, words, &mut writer)?;
    lists::methods(plan, &mut writer)?;
    lists::promotions(plan, orders.offers(), &orders.promotions_used(), &mut writer)?;
    stock::write(&catalogue, &orders, &mut writer)?;
    orders.write(&mut writer)?;
    reviews::write(plan, words, &mut writer)?;
    lists::pages(plan, i64::try_from(words.roots.len())?, &mut writer)?;
    Ok(writer.counts)
}

#[cfg(test)]
mod tests;
