//! How many products of a list have a value.

use super::page::{Condition, Query};
use crate::record::record;
use crate::{DbError, Tx};

record! {
    /// How many products have a value.
    pub struct Count {
        /// The attribute; 0 the brand.
        pub attribute_id: i64,
        /// The choice; the brand.
        pub choice_id: Option<i64>,
        /// The number, of attributes with numbers.
        pub int_value: Option<i64>,
        /// How many products.
        pub products: i64,
    }
}

/// The attribute that stands for the brand.
const BRAND: i64 = 0;

/// Counts of all values that lists can be narrowed by; a count ignores what is chosen of its own attribute.
///
/// Where nothing is chosen they are kept; else they are counted, one statement for
/// all attributes and one more for each of which something is chosen.
pub fn counts(tx: &mut Tx, query: &Query) -> Result<Vec<Count>, DbError> {
    if !query.is_filtered() {
        let rows = tx.rows(
            "select attribute_id, choice_id, int_value, products from facet_counts
             where category_id = :category order by attribute_id, products desc, id",
            &[("category", query.category_id.unwrap_or(0).into())],
        )?;
        return rows.iter().map(Count::of).collect();
    }
    let mut chosen: Vec<i64> = query.facets.iter().map(|facet| facet.attribute_id()).collect();
    if !query.brands.is_empty() {
        chosen.push(BRAND);
    }
    let mut counts = count(tx, query, None, None)?;
    counts.retain(|count| !chosen.contains(&count.attribute_id));
    for attribute in chosen {
        counts.extend(count(tx, query, Some(attribute), Some(attribute))?);
    }
    Ok(counts)
}

/// Counts of one attribute, or of all; what is chosen of `but` does not count.
fn count(tx: &mut Tx, query: &Query, only: Option<i64>, but: Option<i64>) -> Result<Vec<Count>, DbError> {
    let condition = Condition::of(query, but);
    let mut parts = Vec::new();
    if only.is_none_or(|only| only != BRAND) {
        let which = if only.is_some() { " and f.attribute_id = :only" } else { "" };
        parts.push(format!(
            "select f.attribute_id, f.choice_id, f.int_value, count(distinct f.product_id) as products
             from listing l join attribute_values f on f.product_id = l.product_id
             join attributes a on a.id = f.attribute_id and a.filter
             where {}{which} and (f.choice_id is not null or f.int_value is not null)
             group by f.attribute_id, f.choice_id, f.int_value",
            condition.sql
        ));
    }
    if only.is_none_or(|only| only == BRAND) {
        parts.push(format!(
            "select cast(0 as bigint) as attribute_id, b.brand_id as choice_id, cast(null as bigint) as int_value,
               count(*) as products
             from listing l join products b on b.id = l.product_id and b.brand_id is not null
             where {} group by b.brand_id",
            condition.sql
        ));
    }
    let mut params = condition.borrowed();
    if let Some(only) = only.filter(|only| *only != BRAND) {
        params.push(("only", only.into()));
    }
    tx.rows(&parts.join(" union all "), &params)?.iter().map(Count::of).collect()
}

/// Counts anew what is kept: of these categories, or of all. The products are those of whatever list.
pub fn rebuild_counts(tx: &mut Tx, categories: Option<&[i64]>) -> Result<(), DbError> {
    tx.lock("facet_counts")?;
    match categories {
        None => {
            tx.run("delete from facet_counts", &[])?;
            insert(tx, "", &[])
        }
        Some(categories) => {
            for category in categories {
                let of = [("category", (*category).into())];
                tx.run("delete from facet_counts where category_id = :category", &of)?;
                insert(tx, " where category_id = :category", &of)?;
            }
            Ok(())
        }
    }
}

fn insert(tx: &mut Tx, which: &str, params: &[(&str, crate::Value)]) -> Result<(), DbError> {
    let listed = format!("(select distinct category_id, product_id from listing{which})");
    tx.run(
        &format!(
            "insert into facet_counts (category_id, attribute_id, choice_id, int_value, products)
             select l.category_id, f.attribute_id, f.choice_id, f.int_value, count(distinct f.product_id)
             from {listed} l join attribute_values f on f.product_id = l.product_id
             join attributes a on a.id = f.attribute_id and a.filter
             where f.choice_id is not null or f.int_value is not null
             group by l.category_id, f.attribute_id, f.choice_id, f.int_value"
        ),
        params,
    )?;
    tx.run(
        &format!(
            "insert into facet_counts (category_id, attribute_id, choice_id, int_value, products)
             select l.category_id, 0, b.brand_id, null, count(*)
             from {listed} l join products b on b.id = l.product_id
             where b.brand_id is not null group by l.category_id, b.brand_id"
        ),
        params,
    )?;
    Ok(())
}
