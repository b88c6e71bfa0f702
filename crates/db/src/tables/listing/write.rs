//! How the rows of lists are made.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;

use crate::id_list::{Ids, MOST};
use crate::prices::{PriceList, Prices, all_lists, of_variants as prices_of};
use crate::record::record;
use crate::{DbError, Tx, Value, micros, rows, stock};

/// Products that are made anew at once.
const AT_ONCE: usize = 256;
/// The category that stands for the whole shop.
pub(super) const WHOLE_SHOP: i64 = 0;

record! {
    struct Listed {
        product_id: i64,
        list_id: i64,
        category_id: i64,
        price: i64,
        price_max: i64,
        popular: i64,
        created: String,
        name_sort: String,
        rating: i64,
        available: bool,
    }
}

record! {
    struct Source {
        id: i64,
        created: String,
        name_sort: String,
        rating_sum: i64,
        rating_count: i64,
        popular: i64,
    }
}

const COLUMNS: [&str; 10] = [
    "product_id",
    "list_id",
    "category_id",
    "price",
    "price_max",
    "popular",
    "created",
    "name_sort",
    "rating",
    "available",
];

/// Makes the rows of these products anew; what is as it was is not written.
pub fn reindex(tx: &mut Tx, products: &[i64], now: Timestamp) -> Result<(), DbError> {
    for some in products.chunks(AT_ONCE) {
        let wanted = wanted(tx, some, now)?;
        let there = there(tx, some)?;
        let key = |row: &Listed| (row.product_id, row.list_id, row.category_id);
        let same: BTreeSet<_> = there
            .iter()
            .filter(|(_, row)| wanted.get(&key(row)) == Some(row))
            .map(|(_, row)| key(row))
            .collect();
        for (id, row) in &there {
            if !same.contains(&key(row)) {
                tx.run("delete from listing where id = :id", &[("id", (*id).into())])?;
            }
        }
        let new: Vec<_> = wanted.values().filter(|row| !same.contains(&key(row))).map(values).collect();
        rows::insert_many(tx, "listing", &COLUMNS, &new)?;
    }
    Ok(())
}

/// Makes all rows of all products anew.
pub fn reindex_all(tx: &mut Tx, now: Timestamp) -> Result<(), DbError> {
    tx.run("delete from listing", &[])?;
    let mut last = 0;
    loop {
        let sql = "select id from products where id > :last and deleted is null order by id limit :most";
        let found = tx.rows(sql, &[("last", last.into()), ("most", (AT_ONCE as i64).into())])?;
        let ids = found.iter().map(|row| row.get("id")).collect::<Result<Vec<i64>, _>>()?;
        let Some(next) = ids.last() else { return Ok(()) };
        last = *next;
        let new: Vec<_> = wanted(tx, &ids, now)?.values().map(values).collect();
        rows::insert_many(tx, "listing", &COLUMNS, &new)?;
    }
}

/// Whether products of these variants can be bought, where that has changed.
pub fn refresh_availability(tx: &mut Tx, variants: &[i64], now: Timestamp) -> Result<(), DbError> {
    for some in variants.chunks(MOST) {
        let list = Ids::new("id", some);
        let sql = format!(
            "select v.id, v.product_id from variants v
             where v.deleted is null and v.product_id in (select o.product_id from variants o where o.id in {})",
            list.places()
        );
        let mut products: BTreeMap<i64, bool> = BTreeMap::new();
        let rows = tx.rows(&sql, &list.with(&[]))?;
        let ids = rows.iter().map(|row| row.get("id")).collect::<Result<Vec<i64>, _>>()?;
        let stock = stock::of_variants(tx, &ids, now)?;
        for row in &rows {
            let is_for_sale = stock.get(&row.get("id")?).is_some_and(stock::Availability::is_for_sale);
            *products.entry(row.get("product_id")?).or_default() |= is_for_sale;
        }
        for (product, available) in products {
            tx.run(
                "update listing set available = :available where product_id = :product and available <> :available",
                &[("product", product.into()), ("available", available.into())],
            )?;
        }
    }
    Ok(())
}

fn values(row: &Listed) -> Vec<Value> {
    vec![
        row.product_id.into(),
        row.list_id.into(),
        row.category_id.into(),
        row.price.into(),
        row.price_max.into(),
        row.popular.into(),
        (&row.created).into(),
        (&row.name_sort).into(),
        row.rating.into(),
        row.available.into(),
    ]
}

fn there(tx: &mut Tx, products: &[i64]) -> Result<Vec<(i64, Listed)>, DbError> {
    let list = Ids::new("id", products);
    let sql = format!("select id, {} from listing where product_id in {}", COLUMNS.join(", "), list.places());
    tx.rows(&sql, &list.with(&[]))?.iter().map(|row| Ok((row.get("id")?, Listed::of(row)?))).collect()
}

type Wanted = BTreeMap<(i64, i64, i64), Listed>;

/// The rows that these products should have.
fn wanted(tx: &mut Tx, products: &[i64], now: Timestamp) -> Result<Wanted, DbError> {
    let sources = sources(tx, products, now)?;
    let ids: Vec<_> = sources.iter().map(|source| source.id).collect();
    let variants = variants(tx, &ids)?;
    let all_variants: Vec<_> = variants.values().flatten().copied().collect();
    let lists = all_lists(tx)?;
    let mut prices = Vec::new();
    let mut stock = HashMap::new();
    for some in all_variants.chunks(MOST) {
        prices.push((some.to_vec(), prices_of(tx, some, &lists)?));
        stock.extend(stock::of_variants(tx, some, now)?);
    }
    let categories = categories(tx, &ids)?;
    let mut wanted = Wanted::new();
    for source in sources {
        let own = variants.get(&source.id).map_or(&[][..], Vec::as_slice);
        let available = own.iter().any(|id| stock.get(id).is_some_and(stock::Availability::is_for_sale));
        for list in &lists {
            let Some((price, price_max)) = span(own, list, &lists, &prices, now) else { continue };
            for category in categories.get(&source.id).into_iter().flatten().chain([&WHOLE_SHOP]) {
                let row = Listed {
                    product_id: source.id,
                    list_id: list.id,
                    category_id: *category,
                    price,
                    price_max,
                    popular: source.popular,
                    created: source.created.clone(),
                    name_sort: source.name_sort.clone(),
                    rating: (source.rating_sum * 100).checked_div(source.rating_count).unwrap_or(0),
                    available,
                };
                wanted.insert((row.product_id, row.list_id, row.category_id), row);
            }
        }
    }
    Ok(wanted)
}

/// Lowest and highest price of variants for who is served by this list first, and then by those open to everybody.
fn span(
    variants: &[i64],
    list: &PriceList,
    lists: &[PriceList],
    prices: &[(Vec<i64>, Prices)],
    now: Timestamp,
) -> Option<(i64, i64)> {
    let after = |other: &&PriceList| {
        other.currency == list.currency
            && other.customer_group_id.is_none()
            && (other.priority, std::cmp::Reverse(other.id)) < (list.priority, std::cmp::Reverse(list.id))
    };
    let open: Vec<_> = std::iter::once(list).chain(lists.iter().filter(after)).cloned().collect();
    let amounts = variants.iter().filter_map(|variant| {
        let (_, prices) = prices.iter().find(|(some, _)| some.contains(variant))?;
        prices.choose(*variant, 1, &open, now).map(|price| price.amount)
    });
    amounts.fold(None, |span, amount| match span {
        None => Some((amount, amount)),
        Some((least, most)) => Some((amount.min(least), amount.max(most))),
    })
}

/// Products that lists show at this moment.
fn sources(tx: &mut Tx, products: &[i64], now: Timestamp) -> Result<Vec<Source>, DbError> {
    let list = Ids::new("id", products);
    let sql = format!(
        "select p.id, p.created, p.name_sort, p.rating_sum, p.rating_count,
           cast(coalesce((select sum(o.quantity - o.cancelled) from order_lines o where o.product_id = p.id), 0)
             as bigint) as popular
         from products p where p.id in {} and p.deleted is null and p.state = 'kShown'
           and (p.shown_from is null or p.shown_from <= :now)
           and (p.shown_until is null or p.shown_until > :now)",
        list.places()
    );
    tx.rows(&sql, &list.with(&[("now", micros(now).into())]))?.iter().map(Source::of).collect()
}

fn variants(tx: &mut Tx, products: &[i64]) -> Result<HashMap<i64, Vec<i64>>, DbError> {
    let list = Ids::new("id", products);
    let sql = format!(
        "select id, product_id from variants where deleted is null and product_id in {} order by id",
        list.places()
    );
    let mut found: HashMap<i64, Vec<i64>> = HashMap::new();
    for row in tx.rows(&sql, &list.with(&[]))? {
        found.entry(row.get("product_id")?).or_default().push(row.get("id")?);
    }
    Ok(found)
}

/// Categories of products, with all above them.
fn categories(tx: &mut Tx, products: &[i64]) -> Result<HashMap<i64, Vec<i64>>, DbError> {
    let list = Ids::new("id", products);
    let sql = format!(
        "select distinct c.product_id, t.ancestor from product_categories c
         join category_closure t on t.descendant = c.category_id where c.product_id in {}",
        list.places()
    );
    let mut found: HashMap<i64, Vec<i64>> = HashMap::new();
    for row in tx.rows(&sql, &list.with(&[]))? {
        found.entry(row.get("product_id")?).or_default().push(row.get("ancestor")?);
    }
    Ok(found)
}
