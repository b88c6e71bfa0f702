//! How much of variants there is.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::id_list::Ids;
use crate::record::record;
use crate::{DbError, Tx, micros};

record! {
    /// How much of a variant there is, over all locations that sell.
    pub struct Availability {
        /// The variant.
        pub variant_id: i64,
        /// Whether stock is counted.
        pub tracked: bool,
        /// How many may be sold beyond the stock; `None` any number.
        pub backorder: Option<i64>,
        /// How many lie there.
        pub on_hand: i64,
        /// How many of them are promised, without what has run out.
        pub reserved: i64,
        /// How many are on their way.
        pub incoming: i64,
    }
}

impl Availability {
    /// How many can be bought now; `None` any number.
    pub fn for_sale(&self) -> Option<i64> {
        let beyond = self.backorder.filter(|_| self.tracked)?;
        Some((self.on_hand - self.reserved + beyond).max(0))
    }

    /// Whether one can be bought now.
    pub fn is_for_sale(&self) -> bool {
        self.for_sale().is_none_or(|count| count > 0)
    }
}

/// How much of variants there is at this moment: what is reserved for a time that is over counts as free.
pub fn of_variants(
    tx: &mut Tx,
    variants: &[i64],
    now: Timestamp,
) -> Result<HashMap<i64, Availability>, DbError> {
    let list = Ids::new("id", variants);
    let sql = format!(
        "select v.id as variant_id, v.tracked, v.backorder, coalesce(s.on_hand, 0) as on_hand,
           coalesce(s.reserved, 0) - coalesce(r.quantity, 0) as reserved, coalesce(s.incoming, 0) as incoming
         from variants v
         left join (select s.variant_id, cast(sum(s.on_hand) as bigint) as on_hand,
             cast(sum(s.reserved) as bigint) as reserved, cast(sum(s.incoming) as bigint) as incoming
           from stock s join locations l on l.id = s.location_id and l.sells and l.deleted is null
           where s.variant_id in {places} group by s.variant_id) s on s.variant_id = v.id
         left join (select r.variant_id, cast(sum(r.quantity) as bigint) as quantity
           from reservations r join locations l on l.id = r.location_id and l.sells and l.deleted is null
           where r.until <= :now and r.variant_id in {places} group by r.variant_id) r on r.variant_id = v.id
         where v.id in {places}",
        places = list.places()
    );
    let rows = tx.rows(&sql, &list.with(&[("now", micros(now).into())]))?;
    rows.iter().map(|row| Availability::of(row).map(|found| (found.variant_id, found))).collect()
}

/// What a cart itself holds of variants at this moment: one's own reservation never blocks.
pub fn held_by_cart(tx: &mut Tx, cart: i64, now: Timestamp) -> Result<HashMap<i64, i64>, DbError> {
    let rows = tx.rows(
        "select variant_id, cast(sum(quantity) as bigint) as quantity from reservations
         where cart_id = :cart and until > :now group by variant_id",
        &[("cart", cart.into()), ("now", micros(now).into())],
    )?;
    rows.iter().map(|row| Ok((row.get("variant_id")?, row.get("quantity")?))).collect()
}
