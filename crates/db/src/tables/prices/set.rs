//! How prices are set.

use jiff::Timestamp;

use crate::{DbError, Tx, listing, micros};

/// What a price is set to.
#[derive(Clone, Debug)]
pub struct NewPrice {
    /// The list.
    pub list_id: i64,
    /// The variant.
    pub variant_id: i64,
    /// From which quantity on.
    pub min_quantity: i64,
    /// The price of one.
    pub amount: i64,
    /// The price before a reduction.
    pub compare_at: Option<i64>,
    /// From when on.
    pub valid_from: Option<Timestamp>,
    /// Until when.
    pub valid_until: Option<Timestamp>,
}

/// Sets a price, keeps what it was in the history, and brings the lists of products up to date.
pub fn set(tx: &mut Tx, new: &NewPrice, author: Option<i64>, now: Timestamp) -> Result<(), DbError> {
    let from = new.valid_from.map(micros);
    let time = micros(now);
    tx.run(
        "insert into prices (list_id, variant_id, min_quantity, valid_from, valid_until, amount, compare_at,
           author_id, created, changed)
         values (:list_id, :variant_id, :min_quantity, :valid_from, :valid_until, :amount, :compare_at,
           :author_id, :now, :now)
         on conflict (list_id, variant_id, min_quantity, coalesce(valid_from, '')) do update
         set valid_until = excluded.valid_until, amount = excluded.amount, compare_at = excluded.compare_at,
           author_id = excluded.author_id, changed = excluded.changed, version = prices.version + 1",
        &[
            ("list_id", new.list_id.into()),
            ("variant_id", new.variant_id.into()),
            ("min_quantity", new.min_quantity.into()),
            ("valid_from", from.clone().into()),
            ("valid_until", new.valid_until.map(micros).into()),
            ("amount", new.amount.into()),
            ("compare_at", new.compare_at.into()),
            ("author_id", author.into()),
            ("now", (&time).into()),
        ],
    )?;
    if new.min_quantity == 1 {
        remember(tx, new, from.filter(|from| *from > time).unwrap_or(time))?;
    }
    let row = tx.row("select product_id from variants where id = :id", &[("id", new.variant_id.into())])?;
    match row {
        Some(row) => listing::reindex(tx, &[row.get("product_id")?], now),
        None => Ok(()),
    }
}

/// The history: the price before ends where this one begins.
fn remember(tx: &mut Tx, new: &NewPrice, since: String) -> Result<(), DbError> {
    let of = [("list", new.list_id.into()), ("variant", new.variant_id.into()), ("since", (&since).into())];
    tx.run(
        "delete from price_history where list_id = :list and variant_id = :variant and since >= :since",
        &of,
    )?;
    tx.run(
        "update price_history set until = :since
         where list_id = :list and variant_id = :variant and (until is null or until > :since)",
        &of,
    )?;
    tx.run(
        "insert into price_history (list_id, variant_id, amount, since, until)
         values (:list, :variant, :amount, :since, :until)",
        &[
            ("list", new.list_id.into()),
            ("variant", new.variant_id.into()),
            ("amount", new.amount.into()),
            ("since", since.into()),
            ("until", new.valid_until.map(micros).into()),
        ],
    )?;
    Ok(())
}
