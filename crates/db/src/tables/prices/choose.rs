//! Which prices hold.

use std::collections::HashMap;

use jiff::Timestamp;
use shop::price::{PastPrice, PriceRow, choose, derived, lowest};

use crate::borders::Borders;
use crate::id_list::Ids;
use crate::record::record;
use crate::{DbError, Tx, micros};

/// How far lists may be made from one another.
const DEEPEST: usize = 4;

record! {
    /// A list of prices.
    pub struct PriceList {
        /// Number.
        pub id: i64,
        /// Key.
        pub skey: String,
        /// Currency.
        pub currency: String,
        /// Whether its prices hold the tax.
        pub tax_included: bool,
        /// The group it is open to; `None` for everybody.
        pub customer_group_id: Option<i64>,
        /// The largest is asked first.
        pub priority: i64,
        /// The list its prices are made from where it has none of its own.
        pub base_list_id: Option<i64>,
        /// By how much they differ from it, in millionths.
        pub change_ppm: i64,
        /// Made prices are multiples of this.
        pub round_to: i64,
    }
}

record! {
    /// A price as it lies in the table.
    struct Row {
        list_id: i64,
        variant_id: i64,
        min_quantity: i64,
        valid_from: String,
        valid_until: Option<String>,
        amount: i64,
        compare_at: Option<i64>,
    }
}

/// A price that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// The list.
    pub list_id: i64,
    /// From which quantity on.
    pub min_quantity: i64,
    /// The price of one.
    pub amount: i64,
    /// The price before a reduction.
    pub compare_at: Option<i64>,
}

const LIST: &str =
    "id, skey, currency, tax_included, customer_group_id, priority, base_list_id, change_ppm, round_to";

/// Lists of a currency that are open to a customer of this group at this moment, the first asked first.
pub fn open_lists(
    tx: &mut Tx,
    currency: &str,
    group: Option<i64>,
    now: Timestamp,
) -> Result<Vec<PriceList>, DbError> {
    let sql = format!(
        "select {LIST} from price_lists
         where deleted is null and currency = :currency
           and (customer_group_id is null or customer_group_id = :customer_group)
           and (valid_from is null or valid_from <= :now) and (valid_until is null or valid_until > :now)
         order by priority desc, id"
    );
    let params = [
        ("currency", currency.into()),
        ("customer_group", group.unwrap_or(0).into()),
        ("now", micros(now).into()),
    ];
    tx.rows(&sql, &params)?.iter().map(PriceList::of).collect()
}

/// All lists, the first asked first.
pub fn all_lists(tx: &mut Tx) -> Result<Vec<PriceList>, DbError> {
    let sql = format!("select {LIST} from price_lists where deleted is null order by priority desc, id");
    tx.rows(&sql, &[])?.iter().map(PriceList::of).collect()
}

/// Prices of some variants in some lists.
#[derive(Debug, Default)]
pub struct Prices {
    /// Own and made prices, by variant.
    rows: HashMap<i64, Vec<(i64, Row)>>,
}

impl Prices {
    /// The price that holds for a quantity at a moment, out of these lists.
    pub fn choose(&self, variant: i64, quantity: i64, lists: &[PriceList], now: Timestamp) -> Option<Price> {
        let rows = self.rows.get(&variant)?;
        let open = rows.iter().filter(|(_, row)| lists.iter().any(|list| list.id == row.list_id));
        let rows: Vec<_> = open.map(|(priority, row)| row.ruled(*priority)).collect();
        let chosen = choose(&rows, quantity, &micros(now))?;
        Some(Price {
            list_id: chosen.list_id,
            min_quantity: chosen.min_quantity,
            amount: chosen.amount,
            compare_at: chosen.compare_at,
        })
    }

    /// Adds the moments at which these prices begin and end.
    pub fn add_borders(&self, borders: &mut Borders) -> Result<(), DbError> {
        for (_, row) in self.rows.values().flatten() {
            borders.add(&row.valid_from)?;
            borders.add(row.valid_until.as_deref().unwrap_or_default())?;
        }
        Ok(())
    }

    /// Prices for larger quantities, in the list whose price holds for one.
    pub fn steps(&self, variant: i64, lists: &[PriceList], now: Timestamp) -> Vec<Price> {
        let Some(rows) = self.rows.get(&variant) else { return Vec::new() };
        let mut quantities: Vec<_> = rows.iter().map(|(_, row)| row.min_quantity).collect();
        quantities.sort_unstable();
        quantities.dedup();
        let mut steps: Vec<_> = quantities
            .into_iter()
            .filter_map(|quantity| self.choose(variant, quantity, lists, now))
            .collect();
        steps.dedup();
        steps
    }
}

impl Row {
    fn ruled(&self, priority: i64) -> PriceRow<'_> {
        PriceRow {
            list_id: self.list_id,
            priority,
            min_quantity: self.min_quantity,
            valid_from: &self.valid_from,
            valid_until: self.valid_until.as_deref(),
            amount: self.amount,
            compare_at: self.compare_at,
        }
    }
}

/// Prices of variants in lists, those too that are made from other lists.
pub fn of_variants(tx: &mut Tx, variants: &[i64], lists: &[PriceList]) -> Result<Prices, DbError> {
    let all = if lists.iter().any(|list| list.base_list_id.is_some()) { all_lists(tx)? } else { Vec::new() };
    let mut needed: Vec<i64> = lists.iter().map(|list| list.id).collect();
    needed.extend(lists.iter().flat_map(|list| bases(list, &all)).map(|list| list.id));
    needed.sort_unstable();
    needed.dedup();
    let own = own_rows(tx, variants, &needed)?;
    let mut rows: HashMap<i64, Vec<(i64, Row)>> = HashMap::new();
    for list in lists {
        for variant in variants {
            let made = made_rows(list, *variant, &all, &own)?;
            rows.entry(*variant).or_default().extend(made.into_iter().map(|row| (list.priority, row)));
        }
    }
    Ok(Prices { rows })
}

type OwnRows = HashMap<(i64, i64), Vec<Row>>;

fn own_rows(tx: &mut Tx, variants: &[i64], lists: &[i64]) -> Result<OwnRows, DbError> {
    let (variants, lists) = (Ids::new("variant", variants), Ids::new("list", lists));
    let sql = format!(
        "select list_id, variant_id, min_quantity, coalesce(valid_from, '') as valid_from, valid_until, amount,
           compare_at
         from prices where variant_id in {} and list_id in {}",
        variants.places(),
        lists.places()
    );
    let mut own: OwnRows = HashMap::new();
    for row in tx.rows(&sql, &lists.with(&variants.with(&[])))? {
        let row = Row::of(&row)?;
        own.entry((row.list_id, row.variant_id)).or_default().push(row);
    }
    Ok(own)
}

/// The lists that a list is made from, the nearest first.
fn bases<'a>(list: &PriceList, all: &'a [PriceList]) -> Vec<&'a PriceList> {
    let mut bases: Vec<&PriceList> = Vec::new();
    let mut next = list.base_list_id;
    while let Some(base) = next.and_then(|id| all.iter().find(|list| list.id == id)) {
        if bases.len() == DEEPEST || base.id == list.id {
            break;
        }
        bases.push(base);
        next = base.base_list_id;
    }
    bases
}

/// A list's own rows for a variant, or those made from the nearest list that has some.
fn made_rows(list: &PriceList, variant: i64, all: &[PriceList], own: &OwnRows) -> Result<Vec<Row>, DbError> {
    let mut way = vec![list];
    way.extend(bases(list, all));
    let Some(at) = way.iter().position(|list| own.contains_key(&(list.id, variant))) else {
        return Ok(Vec::new());
    };
    let mut rows = own[&(way[at].id, variant)].clone();
    for made in way[..at].iter().rev() {
        let make = |amount| derived(amount, made.change_ppm, made.round_to).map_err(DbError::sql);
        for row in &mut rows {
            row.amount = make(row.amount)?;
            row.compare_at = row.compare_at.map(make).transpose()?.filter(|compare| *compare > row.amount);
        }
    }
    rows.iter_mut().for_each(|row| row.list_id = list.id);
    Ok(rows)
}

/// The lowest price of the 30 days before the reduction that holds now; `None` where nothing was reduced.
pub fn lowest_before(tx: &mut Tx, list: i64, variant: i64, now: Timestamp) -> Result<Option<i64>, DbError> {
    let rows = tx.rows(
        "select amount, since, until from price_history
         where list_id = :list and variant_id = :variant and since <= :now order by since",
        &[("list", list.into()), ("variant", variant.into()), ("now", micros(now).into())],
    )?;
    let history: Vec<(i64, String, Option<String>)> = rows
        .iter()
        .map(|row| Ok((row.get("amount")?, row.get("since")?, row.get("until")?)))
        .collect::<Result<_, DbError>>()?;
    let Some((_, reduced, _)) = history.last() else { return Ok(None) };
    let begin: Timestamp = reduced.parse().map_err(DbError::sql)?;
    let from = micros(begin - jiff::SignedDuration::from_hours(30 * 24));
    let past: Vec<_> = history
        .iter()
        .map(|(amount, since, until)| PastPrice { amount: *amount, since, until: until.as_deref() })
        .collect();
    Ok(lowest(&past, &from, reduced))
}
