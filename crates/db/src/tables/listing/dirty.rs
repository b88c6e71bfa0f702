//! What is still to be made anew, and how it is done.
//!
//! Marks are added without waiting for anybody, and a mark is taken only with the change that made it: whoever
//! takes it sees that change.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::write::WHOLE_SHOP;
use super::{rebuild_counts, reindex};
use crate::changes::Change;
use crate::id_list::Ids;
use crate::{DbError, Tx, micros, search};

/// Marks that are taken at once.
const AT_ONCE: i64 = 500;
/// Categories that are counted at once.
const COUNTS_AT_ONCE: i64 = 20;
/// A product whatever of which has changed.
const PRODUCTS: &str = "products";
/// A product of which only changed how often it is bought.
const SOLD: &str = "sold";
/// A category whose products are to be counted.
const COUNTS: &str = "facet_counts";

/// Marks a row whose derived rows are to be made anew.
pub fn changed(tx: &mut Tx, entity: &str, id: i64, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "insert into dirty (entity, elem_id, since) values (:entity, :id, :now)",
        &[("entity", entity.into()), ("id", id.into()), ("now", micros(now).into())],
    )?;
    Ok(())
}

/// Marks a product that was bought: its place in lists changes, and nothing else.
pub fn sold(tx: &mut Tx, product: i64, now: Timestamp) -> Result<(), DbError> {
    changed(tx, SOLD, product, now)
}

/// Marks all products of a category and of those below it. To be said before the tree changes.
pub fn category_changed(tx: &mut Tx, category: i64, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "insert into dirty (entity, elem_id, since)
         select distinct 'products', p.product_id, :now from product_categories p
         join category_closure t on t.descendant = p.category_id where t.ancestor = :id",
        &[("id", category.into()), ("now", micros(now).into())],
    )?;
    changed(tx, COUNTS, category, now)?;
    changed(tx, COUNTS, WHOLE_SHOP, now)
}

/// What marks say.
#[derive(Default)]
struct Marks {
    /// How many there were.
    taken: usize,
    /// There may be more of products.
    is_full: bool,
    products: BTreeSet<i64>,
    sold: BTreeSet<i64>,
    counts: BTreeSet<i64>,
}

/// Takes marks out of the table, those of products first.
fn take(tx: &mut Tx) -> Result<Marks, DbError> {
    let mut marks = Marks::default();
    let sql = "select id, entity, elem_id from dirty where entity <> 'facet_counts' order by id limit :most";
    take_some(tx, sql, AT_ONCE, &mut marks)?;
    marks.is_full = marks.taken >= usize::try_from(AT_ONCE).unwrap_or(usize::MAX);
    if !marks.is_full {
        let sql =
            "select id, entity, elem_id from dirty where entity = 'facet_counts' order by id limit :most";
        take_some(tx, sql, COUNTS_AT_ONCE, &mut marks)?;
    }
    Ok(marks)
}

fn take_some(tx: &mut Tx, sql: &str, most: i64, marks: &mut Marks) -> Result<(), DbError> {
    let mut ids = Vec::new();
    for row in tx.rows(sql, &[("most", most.into())])? {
        ids.push(row.get("id")?);
        let id: i64 = row.get("elem_id")?;
        match row.get::<String>("entity")?.as_str() {
            PRODUCTS => marks.products.insert(id),
            SOLD => marks.sold.insert(id),
            COUNTS => marks.counts.insert(id),
            _ => false,
        };
    }
    marks.taken += ids.len();
    // By their numbers: a mark that was added in the meantime stays.
    let list = Ids::new("id", &ids);
    tx.run(&format!("delete from dirty where id in {}", list.places()), &list.with(&[]))?;
    Ok(())
}

/// Makes anew what is marked, the oldest first; how many marks were taken. To be called until it says 0.
///
/// Products of a category are counted when no more products are marked: a count
/// takes as long as the category is large.
pub fn flush(tx: &mut Tx, now: Timestamp) -> Result<usize, DbError> {
    tx.lock("dirty")?;
    let Marks { taken, is_full, products, mut sold, mut counts } = take(tx)?;
    let products: Vec<_> = products.into_iter().collect();
    counts.extend(categories_of(tx, &products)?);
    reindex(tx, &products, now)?;
    search::reindex(tx, PRODUCTS, &products, now)?;
    counts.extend(categories_of(tx, &products)?);
    sold.retain(|id| products.binary_search(id).is_err());
    reindex(tx, &sold.into_iter().collect::<Vec<_>>(), now)?;
    let counts: Vec<_> = counts.into_iter().collect();
    let now_counted = if is_full { 0 } else { counts.len().min(COUNTS_AT_ONCE.unsigned_abs() as usize) };
    let (counted, later) = counts.split_at(now_counted);
    if !counted.is_empty() {
        rebuild_counts(tx, Some(counted))?;
    }
    for category in later {
        tx.run(
            "insert into dirty (entity, elem_id, since) select 'facet_counts', :id, :now
             where not exists (select 1 from dirty where entity = 'facet_counts' and elem_id = :id)",
            &[("id", (*category).into()), ("now", micros(now).into())],
        )?;
    }
    Ok(taken)
}

/// Categories in whose lists products are, with the whole shop.
fn categories_of(tx: &mut Tx, products: &[i64]) -> Result<Vec<i64>, DbError> {
    let list = Ids::new("id", products);
    let sql = format!("select distinct category_id from listing where product_id in {}", list.places());
    tx.rows(&sql, &list.with(&[]))?.iter().map(|row| row.get("category_id")).collect()
}

const OF_VARIANT: &str = "select product_id from variants where id = :id";
const OF_LIST: &str =
    "select distinct v.product_id from prices p join variants v on v.id = p.variant_id where p.list_id = :id";

/// The products that a row of a table touches; `None` for a table that touches none.
fn products_of(table: &str) -> Option<&'static str> {
    Some(match table {
        "products" => "select id as product_id from products where id = :id",
        "variants" => OF_VARIANT,
        "prices" => {
            "select v.product_id from prices p join variants v on v.id = p.variant_id where p.id = :id"
        }
        "attribute_values" => "select product_id from attribute_values where id = :id",
        "product_categories" => "select product_id from product_categories where id = :id",
        "price_lists" => OF_LIST,
        "brands" => "select id as product_id from products where brand_id = :id",
        "texts" => "select elem_id as product_id from texts where id = :id and entity = 'products'",
        _ => return None,
    })
}

/// Marks the products that changes of other tables touch: what agents' statements and other programs wrote is noticed
/// so too. Of a row that is gone the journal tells the product; where it does not, nothing is marked, and
/// `store reindex` is for that.
pub fn follow(tx: &mut Tx, changes: &[Change], now: Timestamp) -> Result<(), DbError> {
    let changes: BTreeSet<_> = changes.iter().collect();
    let mut products = BTreeSet::new();
    for change in changes {
        let Some(id) = change.row_id else { continue };
        let Some(sql) = products_of(&change.table) else { continue };
        let rows = tx.rows(sql, &[("id", id.into())])?;
        for row in &rows {
            products.insert(row.get::<i64>("product_id")?);
        }
        if rows.is_empty() {
            products.extend(product_of_removed(tx, &change.table, id)?);
        }
    }
    for product in products {
        changed(tx, PRODUCTS, product, now)?;
    }
    Ok(())
}

/// The product of a row that somebody removed through the agent's endpoint.
fn product_of_removed(tx: &mut Tx, table: &str, id: i64) -> Result<Option<i64>, DbError> {
    let sql = "select before from journal_changes where table_name = :table_name and row_id = :id
               and before is not null order by id desc limit 1";
    let Some(row) = tx.row(sql, &[("table_name", table.into()), ("id", id.into())])? else { return Ok(None) };
    let before: serde_json::Value =
        serde_json::from_str(&row.get::<String>("before")?).map_err(DbError::sql)?;
    let number = |key: &str| before.get(key).and_then(serde_json::Value::as_i64);
    if let Some(product) = number("product_id") {
        return Ok(Some(product));
    }
    let Some(variant) = number("variant_id") else { return Ok(None) };
    tx.row(OF_VARIANT, &[("id", variant.into())])?.map(|row| row.get("product_id")).transpose()
}

/// Products whose prices or appearance began or ended in `(since, until]`.
const BORDERS: &str = "select v.product_id from prices p join variants v on v.id = p.variant_id
       where p.valid_from > :since and p.valid_from <= :until
     union select v.product_id from prices p join variants v on v.id = p.variant_id
       where p.valid_until > :since and p.valid_until <= :until
     union select id as product_id from products where shown_from > :since and shown_from <= :until
     union select id as product_id from products where shown_until > :since and shown_until <= :until";

/// Whether a price or appearance begins or ends in `(since, until]`.
pub(crate) fn has_border(tx: &mut Tx, since: Timestamp, until: Timestamp) -> Result<bool, DbError> {
    let params = [("since", micros(since).into()), ("until", micros(until).into())];
    Ok(tx.row(&format!("{BORDERS} limit 1"), &params)?.is_some())
}

/// Marks the products whose prices or appearance began or ended in `(since, until]`.
pub(crate) fn follow_clock(
    tx: &mut Tx,
    since: Timestamp,
    until: Timestamp,
    now: Timestamp,
) -> Result<(), DbError> {
    let params =
        [("since", micros(since).into()), ("until", micros(until).into()), ("now", micros(now).into())];
    let sql = format!(
        "insert into dirty (entity, elem_id, since) select 'products', b.product_id, :now from ({BORDERS}) b"
    );
    tx.run(&sql, &params)?;
    Ok(())
}
