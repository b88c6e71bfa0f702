//! What is still to be made anew, and how it is done.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{rebuild_counts, reindex};
use crate::changes::Change;
use crate::{DbError, Tx, micros, search};

/// Rows that are taken at once.
const AT_ONCE: i64 = 500;

/// Marks a row whose derived rows are to be made anew.
pub fn changed(tx: &mut Tx, entity: &str, id: i64, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "insert into dirty (entity, elem_id, since) values (:entity, :id, :now)
         on conflict (entity, elem_id) do nothing",
        &[("entity", entity.into()), ("id", id.into()), ("now", micros(now).into())],
    )?;
    Ok(())
}

/// Marks all products of a category and of those below it. To be said before the tree changes.
pub fn category_changed(tx: &mut Tx, category: i64, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "insert into dirty (entity, elem_id, since)
         select distinct 'products', p.product_id, :now from product_categories p
         join category_closure t on t.descendant = p.category_id where t.ancestor = :id
         on conflict (entity, elem_id) do nothing",
        &[("id", category.into()), ("now", micros(now).into())],
    )?;
    changed(tx, "facet_counts", category, now)?;
    changed(tx, "facet_counts", 0, now)
}

/// Makes anew what is marked, the oldest first; how many rows were marked. To be called until it says 0.
pub fn flush(tx: &mut Tx, now: Timestamp) -> Result<usize, DbError> {
    tx.lock("dirty")?;
    let rows = tx
        .rows("select id, entity, elem_id from dirty order by id limit :most", &[("most", AT_ONCE.into())])?;
    let (mut products, mut counts) = (BTreeSet::new(), BTreeSet::new());
    for row in &rows {
        let id: i64 = row.get("elem_id")?;
        match row.get::<String>("entity")?.as_str() {
            "products" => products.insert(id),
            "facet_counts" => counts.insert(id),
            _ => false,
        };
    }
    if let Some(last) = rows.last() {
        tx.run("delete from dirty where id <= :last", &[("last", last.get::<i64>("id")?.into())])?;
    }
    let products: Vec<_> = products.into_iter().collect();
    counts.extend(categories_of(tx, &products)?);
    reindex(tx, &products, now)?;
    search::reindex(tx, "products", &products, now)?;
    counts.extend(categories_of(tx, &products)?);
    if !counts.is_empty() {
        rebuild_counts(tx, Some(&counts.into_iter().collect::<Vec<_>>()))?;
    }
    Ok(rows.len())
}

/// Categories in whose lists products are, with the whole shop.
fn categories_of(tx: &mut Tx, products: &[i64]) -> Result<Vec<i64>, DbError> {
    let list = crate::id_list::Ids::new("id", products);
    let sql = format!("select distinct category_id from listing where product_id in {}", list.places());
    tx.rows(&sql, &list.with(&[]))?.iter().map(|row| row.get("category_id")).collect()
}

/// Marks the products that changes of other tables touch: what agents' statements and other programs wrote is noticed
/// so too. A change whose row is not told marks nothing; `store reindex` is for that.
pub fn follow(tx: &mut Tx, changes: &[Change], now: Timestamp) -> Result<(), DbError> {
    for change in changes {
        let Some(id) = change.row_id else { continue };
        let product = match change.table.as_str() {
            "products" => "select id as product_id from products where id = :id",
            "variants" => "select product_id from variants where id = :id",
            "prices" => {
                "select v.product_id from prices p join variants v on v.id = p.variant_id where p.id = :id"
            }
            "attribute_values" => "select product_id from attribute_values where id = :id",
            "product_categories" => "select product_id from product_categories where id = :id",
            "price_lists" => {
                "select v.product_id from prices p join variants v on v.id = p.variant_id where p.list_id = :id"
            }
            _ => continue,
        };
        for row in tx.rows(product, &[("id", id.into())])? {
            changed(tx, "products", row.get("product_id")?, now)?;
        }
    }
    Ok(())
}

/// Makes anew the products whose prices or appearance began or ended in `(since, now]`.
pub fn follow_clock(tx: &mut Tx, since: Timestamp, now: Timestamp) -> Result<(), DbError> {
    let rows = tx.rows(
        "select v.product_id from prices p join variants v on v.id = p.variant_id
         where p.valid_from > :since and p.valid_from <= :now
         union select v.product_id from prices p join variants v on v.id = p.variant_id
         where p.valid_until > :since and p.valid_until <= :now
         union select id as product_id from products
         where (shown_from > :since and shown_from <= :now) or (shown_until > :since and shown_until <= :now)",
        &[("since", micros(since).into()), ("now", micros(now).into())],
    )?;
    let products = rows.iter().map(|row| row.get("product_id")).collect::<Result<Vec<i64>, _>>()?;
    reindex(tx, &products, now)
}
