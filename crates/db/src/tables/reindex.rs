//! Everything that is made from the rest, made anew.

use jiff::Timestamp;

use crate::{Db, DbError, Tx, categories, listing, micros, search};

/// Makes the closure of categories, the lists, their counts and the words for searching anew, in this transaction.
pub fn all(tx: &mut Tx, now: Timestamp) -> Result<(), DbError> {
    categories::rebuild_closure(tx)?;
    listing::reindex_all(tx, now)?;
    listing::rebuild_counts(tx, None)?;
    search::reindex_all(tx, now)?;
    tx.run("delete from dirty", &[])?;
    Ok(())
}

/// The same beside an engine that runs: in many short transactions, while visitors go on reading what there is.
///
/// Everything is marked first, so that whoever is killed after that has lost nothing: the engine, or the same again,
/// makes the rest. `watch` is told how many marks are left of how many, and may stop it.
pub fn beside<E: From<DbError>>(
    db: &Db,
    now: Timestamp,
    watch: &mut dyn FnMut(u64, u64) -> Result<(), E>,
) -> Result<u64, E> {
    let all = db.write(|tx| mark_all(tx, now))?;
    loop {
        let left = db.read(marks)?;
        watch(all.saturating_sub(left).min(all), all)?;
        if left == 0 || db.write(|tx| listing::flush(tx, now))? == 0 {
            break;
        }
    }
    Ok(all)
}

fn marks(tx: &mut Tx) -> Result<u64, DbError> {
    let row = tx.row("select count(*) as n from dirty", &[])?;
    Ok(row.map_or(Ok(0), |row| row.get::<i64>("n"))?.unsigned_abs())
}

/// Makes the tree's closure, drops what belongs to nothing any more, and marks everything else.
fn mark_all(tx: &mut Tx, now: Timestamp) -> Result<u64, DbError> {
    categories::rebuild_closure(tx)?;
    for sql in [
        "delete from listing where product_id not in (select id from products)",
        "delete from search_postings where entity = 'products' and elem_id not in (select id from products)",
        "delete from search_postings where entity <> 'products'",
        "delete from search_terms where id not in (select term_id from search_postings)",
        "delete from facet_counts where category_id <> 0 and category_id not in (select id from categories)",
        "delete from dirty",
    ] {
        tx.run(sql, &[])?;
    }
    let time = [("now", micros(now).into())];
    let products = tx
        .run("insert into dirty (entity, elem_id, since) select 'products', id, :now from products", &time)?;
    let counts = tx.run(
        "insert into dirty (entity, elem_id, since) select 'facet_counts', 0, :now
         union all select 'facet_counts', id, :now from categories where deleted is null",
        &time,
    )?;
    Ok(products + counts)
}
