//! Pages of a list: filters, sorting, pages by number and from a place on.

use std::collections::HashMap;

use crate::id_list::Ids;
use crate::{DbError, Tx, Value};

/// How products are sorted; products that are equal come by their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// What sells most comes first.
    #[default]
    Popular,
    /// What is new comes first.
    New,
    /// What is cheap comes first.
    Price,
    /// What is dear comes first.
    PriceDown,
    /// By name.
    Name,
    /// What is liked comes first.
    Rating,
}

/// Where a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// After so many products.
    Offset(u32),
    /// Behind a product of the page before.
    After(After),
}

/// A place in a list: what a product is sorted by, and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    /// What it is sorted by, as text.
    pub key: String,
    /// Its number.
    pub product_id: i64,
}

/// What is chosen of one attribute: any of the choices, or a span of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Facet {
    /// One of these choices.
    Choices {
        /// The attribute.
        attribute_id: i64,
        /// The choices.
        choices: Vec<i64>,
    },
    /// A number in this span, both ends included; true is 1.
    Span {
        /// The attribute.
        attribute_id: i64,
        /// From this on.
        least: Option<i64>,
        /// Up to this.
        most: Option<i64>,
    },
}

/// What a list shall show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The price list that is asked first for the customer.
    pub list_id: i64,
    /// The category; `None` for the whole shop.
    pub category_id: Option<i64>,
    /// Brands: one of them; all for none.
    pub brands: Vec<i64>,
    /// Every one of them must be met, those of variants by one variant.
    pub facets: Vec<Facet>,
    /// Lowest price.
    pub price_from: Option<i64>,
    /// Highest price.
    pub price_to: Option<i64>,
    /// Only what can be bought.
    pub available_only: bool,
    /// Sorting.
    pub sort: Sort,
}

/// A product in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The product.
    pub product_id: i64,
    /// Its lowest price.
    pub price: i64,
    /// Its highest price.
    pub price_max: i64,
    /// Stars, in hundredths.
    pub rating: i64,
    /// Whether any of it can be bought.
    pub available: bool,
    /// What it is sorted by, as text.
    pub key: String,
}

/// A page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Its products.
    pub entries: Vec<Entry>,
    /// Where the next page begins, if there is one.
    pub next: Option<After>,
}

impl Sort {
    fn column(self) -> &'static str {
        match self {
            Self::Popular => "popular",
            Self::New => "created",
            Self::Price | Self::PriceDown => "price",
            Self::Name => "name_sort",
            Self::Rating => "rating",
        }
    }

    fn is_down(self) -> bool {
        matches!(self, Self::Popular | Self::New | Self::PriceDown | Self::Rating)
    }

    fn is_text(self) -> bool {
        matches!(self, Self::New | Self::Name)
    }
}

impl Query {
    /// Whether only a part of the list is wanted.
    pub fn is_filtered(&self) -> bool {
        !self.brands.is_empty()
            || !self.facets.is_empty()
            || self.price_from.is_some()
            || self.price_to.is_some()
            || self.available_only
    }
}

/// The condition on rows `l` of the list, and its values.
pub(super) struct Condition {
    pub(super) sql: String,
    pub(super) params: Vec<(String, Value)>,
}

impl Condition {
    /// Everything that is asked for; `but` is an attribute whose choice does not count (0 the brand).
    pub(super) fn of(query: &Query, but: Option<i64>) -> Self {
        let mut condition = Self {
            sql: "l.list_id = :list and l.category_id = :category".to_owned(),
            params: vec![
                ("list".to_owned(), query.list_id.into()),
                ("category".to_owned(), query.category_id.unwrap_or(super::write::WHOLE_SHOP).into()),
            ],
        };
        if let Some(price) = query.price_from {
            condition.and(" and l.price_max >= :price_from", "price_from", price);
        }
        if let Some(price) = query.price_to {
            condition.and(" and l.price <= :price_to", "price_to", price);
        }
        if query.available_only {
            condition.sql.push_str(" and l.available");
        }
        if !query.brands.is_empty() && but != Some(0) {
            let places = condition.list("brand", &query.brands);
            condition.sql.push_str(&format!(
                " and exists (select 1 from products p where p.id = l.product_id and p.brand_id in {places})"
            ));
        }
        let facets: Vec<_> = query.facets.iter().filter(|facet| Some(facet.attribute_id()) != but).collect();
        condition.add_facets(&facets);
        condition
    }

    fn and(&mut self, sql: &str, name: &str, value: i64) {
        self.sql.push_str(sql);
        self.params.push((name.to_owned(), value.into()));
    }

    fn list(&mut self, name: &str, ids: &[i64]) -> String {
        let list = Ids::new(name, ids);
        self.params.extend(list.with(&[]).into_iter().map(|(name, value)| (name.to_owned(), value)));
        list.places()
    }

    /// One variant must meet all of them; what a product has as a whole, each of its variants has.
    fn add_facets(&mut self, facets: &[&Facet]) {
        if facets.is_empty() {
            return;
        }
        let tests: Vec<_> = facets.iter().enumerate().map(|(at, facet)| self.facet(at, facet)).collect();
        let place = |test: &String, whose: &str| {
            format!(
                "exists (select 1 from attribute_values v where v.product_id = l.product_id and {whose} and {test})"
            )
        };
        if let [test] = tests.as_slice() {
            let live = "(v.variant_id is null or exists (select 1 from variants w
                         where w.id = v.variant_id and w.deleted is null))";
            self.sql.push_str(&format!(" and {}", place(test, live)));
            return;
        }
        let tests: Vec<_> =
            tests.iter().map(|test| place(test, "(v.variant_id = w.id or v.variant_id is null)")).collect();
        self.sql.push_str(&format!(
            " and exists (select 1 from variants w where w.product_id = l.product_id and w.deleted is null and {})",
            tests.join(" and ")
        ));
    }

    fn facet(&mut self, at: usize, facet: &Facet) -> String {
        let attribute = format!("attribute_{at}");
        self.params.push((attribute.clone(), facet.attribute_id().into()));
        let mut test = format!("v.attribute_id = :{attribute}");
        match facet {
            Facet::Choices { choices, .. } => {
                let places = self.list(&format!("choice_{at}_"), choices);
                test.push_str(&format!(" and v.choice_id in {places}"));
            }
            Facet::Span { least, most, .. } => {
                for (bound, sign, name) in [(least, ">=", "least"), (most, "<=", "most")] {
                    if let Some(bound) = bound {
                        let name = format!("{name}_{at}");
                        test.push_str(&format!(" and v.int_value {sign} :{name}"));
                        self.params.push((name, (*bound).into()));
                    }
                }
            }
        }
        test
    }

    pub(super) fn borrowed(&self) -> Vec<(&str, Value)> {
        self.params.iter().map(|(name, value)| (name.as_str(), value.clone())).collect()
    }
}

impl Facet {
    /// The attribute.
    pub fn attribute_id(&self) -> i64 {
        match self {
            Self::Choices { attribute_id, .. } | Self::Span { attribute_id, .. } => *attribute_id,
        }
    }
}

/// A page of so many products.
pub fn page(tx: &mut Tx, query: &Query, start: &Start, size: u32) -> Result<Page, DbError> {
    let column = query.sort.column();
    let direction = if query.sort.is_down() { " desc" } else { "" };
    let mut condition = Condition::of(query, None);
    let mut offset = 0;
    match start {
        Start::Offset(count) => offset = *count,
        Start::After(after) => add_place(&mut condition, query.sort, after)?,
    }
    condition.params.push(("most".to_owned(), (i64::from(size) + 1).into()));
    condition.params.push(("offset".to_owned(), offset.into()));
    let sql = format!(
        "select l.product_id, l.price, l.price_max, l.rating, l.available, l.{column} as sort_value from listing l
         where {} order by l.{column}{direction}, l.product_id limit :most offset :offset",
        condition.sql
    );
    let rows = tx.rows(&sql, &condition.borrowed())?;
    let mut entries = rows.iter().map(|row| entry(row, query.sort)).collect::<Result<Vec<_>, _>>()?;
    let is_more = entries.len() > size as usize;
    entries.truncate(size as usize);
    let last = entries.last().filter(|_| is_more);
    let next = last.map(|entry| After { key: entry.key.clone(), product_id: entry.product_id });
    Ok(Page { entries, next })
}

/// Only what comes behind a product, of equal ones those with a larger number.
fn add_place(condition: &mut Condition, sort: Sort, after: &After) -> Result<(), DbError> {
    let column = sort.column();
    let sign = if sort.is_down() { "<" } else { ">" };
    let key: Value = if sort.is_text() {
        (&after.key).into()
    } else {
        after.key.parse::<i64>().map_err(|_| DbError::Parameter("after".to_owned()))?.into()
    };
    // The first half lets the index begin at the right place.
    condition.sql.push_str(&format!(
        " and l.{column} {sign}= :after_key and (l.{column} {sign} :after_key or l.product_id > :after_id)"
    ));
    condition.params.push(("after_key".to_owned(), key));
    condition.params.push(("after_id".to_owned(), after.product_id.into()));
    Ok(())
}

fn entry(row: &crate::Row, sort: Sort) -> Result<Entry, DbError> {
    Ok(Entry {
        product_id: row.get("product_id")?,
        price: row.get("price")?,
        price_max: row.get("price_max")?,
        rating: row.get("rating")?,
        available: row.get("available")?,
        key: if sort.is_text() { row.get("sort_value")? } else { row.get::<i64>("sort_value")?.to_string() },
    })
}

/// The product that sells most of each of these categories; those with nothing in them are left out.
pub fn most_popular(tx: &mut Tx, list_id: i64, categories: &[i64]) -> Result<HashMap<i64, i64>, DbError> {
    let ids = Ids::new("id", categories);
    let sql = format!(
        "select c.id as category_id, (select l.product_id from listing l
             where l.list_id = :list and l.category_id = c.id
             order by l.popular desc, l.product_id limit 1) as product_id
         from categories c where c.id in {}",
        ids.places()
    );
    let mut found = HashMap::new();
    for row in tx.rows(&sql, &ids.with(&[("list", list_id.into())]))? {
        if let Some(product) = row.get::<Option<i64>>("product_id")? {
            found.insert(row.get("category_id")?, product);
        }
    }
    Ok(found)
}

/// How many products the list has, filters counted.
pub fn total(tx: &mut Tx, query: &Query) -> Result<u64, DbError> {
    let condition = Condition::of(query, None);
    let sql = format!("select count(*) as count from listing l where {}", condition.sql);
    tx.row(&sql, &condition.borrowed())?.map_or(Ok(0), |row| row.get("count"))
}
