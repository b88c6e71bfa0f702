//! `products.list`, `search`: pages of products, with what they can be narrowed by.

use db::DbError;
use db::filters::{self, FilterAttribute, FilterChoice};
use db::listing::{self, After, Count, Facet, Query, Sort, Start};
use db::search as words;
use sandbox::{HostError, Value};

use super::cards::cards;
use super::{Reading, read};
use crate::units::host::Answer;
use crate::units::host::arguments::{Arguments, int};
use crate::units::run::Run;
use crate::units::visit::map;

/// Most products of a page.
const MOST: i64 = 100;
/// Pages that have a number.
const PAGES: i64 = 50;
/// The field of the brand among filters.
const BRAND: &str = "brand";
/// Most products that a search finds.
const FOUND: u32 = 200;

/// What is asked for.
struct Wanted {
    category: Option<i64>,
    page: i64,
    /// Behind this place instead of a page with a number; what was no place is one behind which there is nothing.
    after: Option<Option<After>>,
    per: i64,
    sort: Sort,
    filters: Vec<(String, Vec<String>)>,
    with_facets: bool,
    /// How many there are is counted; nobody need know that who shows the first few.
    is_counted: bool,
    available: bool,
}

impl Wanted {
    fn of(args: &Arguments<'_>) -> Result<Self, HostError> {
        let is_true = |field: &str| args.option(0, field) == Some(&Value::Bool(true));
        let after = args.text_option(0, "after")?;
        Ok(Self {
            category: args.int_option(0, "category")?,
            page: args.int_option(0, "page")?.unwrap_or(1),
            after: after.map(place),
            per: args.int_option(0, "per")?.unwrap_or(24).clamp(1, MOST),
            sort: sort(args)?,
            filters: filters(args)?,
            with_facets: is_true("facets"),
            is_counted: args.option(0, "total") != Some(&Value::Bool(false)),
            available: is_true("available"),
        })
    }
}

/// A place in a list as addresses name it: `<number>.<what it is sorted by>`.
fn place(text: &str) -> Option<After> {
    let (number, key) = text.split_once('.')?;
    // Keys of names hold a control character between their parts; one letter no database takes.
    let is_short = key.len() <= 500 && !key.contains('\0');
    is_short.then_some(())?;
    Some(After { key: key.to_owned(), product_id: number.parse().ok()? })
}

fn sort(args: &Arguments<'_>) -> Result<Sort, HostError> {
    Ok(match args.text_option(0, "sort")?.unwrap_or("popular") {
        "popular" => Sort::Popular,
        "new" => Sort::New,
        "price" => Sort::Price,
        "price_down" => Sort::PriceDown,
        "name" => Sort::Name,
        "rating" => Sort::Rating,
        _ => return Err(args.wrong("`sort` is popular, new, price, price_down, name or rating")),
    })
}

/// Filters: choices by attribute, under `f_<key>` as forms name them.
fn filters(args: &Arguments<'_>) -> Result<Vec<(String, Vec<String>)>, HostError> {
    let wrong = || args.wrong("`filters` is an object of lists of keys");
    let Some(filters) = args.option(0, "filters") else { return Ok(Vec::new()) };
    let Value::Map(fields) = filters else { return Err(wrong()) };
    let mut read = Vec::new();
    for (name, value) in fields {
        let texts = match value {
            Value::List(list) => list.iter().filter_map(Value::as_text).map(str::to_owned).collect(),
            Value::Text(text) => vec![text.clone()],
            _ => return Err(wrong()),
        };
        read.push((name.strip_prefix("f_").unwrap_or(name).to_owned(), texts));
    }
    Ok(read)
}

/// A page of products.
pub(super) fn list(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let wanted = Wanted::of(args)?;
    read(run, "products.list", |reading| page(reading, &wanted))
}

fn page(reading: &mut Reading<'_>, wanted: &Wanted) -> Result<Value, DbError> {
    for set in ["listing.category_id", "facet_counts.category_id"] {
        reading.dependencies.set(set, wanted.category.unwrap_or(0));
    }
    let lists = reading.price_lists()?;
    let nothing = || found(Vec::new(), wanted.is_counted.then_some(0), wanted, Vec::new(), None);
    let Some(list) = lists.first() else { return Ok(nothing()) };
    let known = if wanted.with_facets || !wanted.filters.is_empty() {
        Known::read(reading)?
    } else {
        Known::default()
    };
    let mut query = Query {
        list_id: list.id,
        category_id: wanted.category,
        available_only: wanted.available,
        sort: wanted.sort,
        ..Query::default()
    };
    // A filter that means nothing here finds nothing: its page is not there.
    if !known.choose(&wanted.filters, &mut query) || !(1..=PAGES).contains(&wanted.page) {
        return Ok(nothing());
    }
    if query.is_filtered() {
        // Which products meet a choice, and how many would meet another, stands in these.
        for table in ["attribute_values", "variants", "products"] {
            reading.dependencies.table(table);
        }
    }
    let offset = u32::try_from((wanted.page - 1) * wanted.per).unwrap_or(u32::MAX);
    let start = match wanted.after.clone() {
        None => Start::Offset(offset),
        Some(Some(after)) => Start::After(after),
        Some(None) => return Ok(nothing()),
    };
    let size = u32::try_from(wanted.per).unwrap_or(1);
    let listing::Page { entries, next } = match listing::page(reading.tx, &query, &start, size) {
        // A place of another sorting.
        Err(DbError::Parameter(name)) if name == "after" => return Ok(nothing()),
        page => page?,
    };
    let total = if wanted.is_counted { Some(listing::total(reading.tx, &query)?) } else { None };
    let total = total.map(|total| i64::try_from(total).unwrap_or(i64::MAX));
    let facets = if wanted.with_facets { known.facets(reading, &query)? } else { Vec::new() };
    let ids: Vec<i64> = entries.iter().map(|entry| entry.product_id).collect();
    Ok(found(cards(reading, &ids)?, total, wanted, facets, next))
}

fn found(
    items: Vec<Value>,
    total: Option<i64>,
    wanted: &Wanted,
    facets: Vec<Value>,
    next: Option<After>,
) -> Value {
    let pages = total.map(|total| (total.saturating_add(wanted.per - 1) / wanted.per).min(PAGES));
    map([
        ("items", Value::List(items)),
        ("total", total.into()),
        ("page", wanted.page.into()),
        ("pages", pages.into()),
        ("per", wanted.per.into()),
        ("facets", Value::List(facets)),
        ("next", next.map(|place| format!("{}.{}", place.product_id, place.key)).into()),
    ])
}

/// Attributes that lists are narrowed by, with their choices and the brands.
#[derive(Default)]
struct Known {
    attributes: Vec<FilterAttribute>,
    choices: Vec<FilterChoice>,
    brands: Vec<(i64, String)>,
}

impl Known {
    fn read(reading: &mut Reading<'_>) -> Result<Self, DbError> {
        for table in
            ["attributes", "attribute_choices", "brands", "texts.attributes", "texts.attribute_choices"]
        {
            reading.dependencies.table(table);
        }
        let attributes = filters::attributes(reading.tx, &reading.look.language)?;
        let choices = filters::choices(reading.tx, &reading.look.language)?;
        Ok(Self { attributes, choices, brands: filters::brands(reading.tx)? })
    }

    /// Puts the chosen into the query; `false` where something is chosen that there is not.
    fn choose(&self, filters: &[(String, Vec<String>)], query: &mut Query) -> bool {
        for (key, values) in filters.iter().filter(|(_, values)| !values.is_empty()) {
            if key == BRAND {
                let ids: Vec<i64> = values.iter().filter_map(|value| int(&value.as_str().into())).collect();
                if ids.len() != values.len() {
                    return false;
                }
                query.brands = ids;
                continue;
            }
            let Some(attribute) = self.attributes.iter().find(|attribute| attribute.skey == *key) else {
                return false;
            };
            if attribute.kind == "kBool" {
                query.facets.push(Facet::Span { attribute_id: attribute.id, least: Some(1), most: Some(1) });
                continue;
            }
            let of =
                |choice: &&FilterChoice| choice.attribute_id == attribute.id && values.contains(&choice.skey);
            let choices: Vec<i64> = self.choices.iter().filter(of).map(|choice| choice.id).collect();
            if choices.is_empty() {
                return false;
            }
            query.facets.push(Facet::Choices { attribute_id: attribute.id, choices });
        }
        true
    }

    /// What the list can be narrowed by: what at least two of its products differ in, or what is chosen.
    fn facets(&self, reading: &mut Reading<'_>, query: &Query) -> Result<Vec<Value>, DbError> {
        let counts = listing::counts(reading.tx, query)?;
        let mut facets = Vec::new();
        let brands = self.brands.iter().map(|(id, name)| {
            let count = count(&counts, |count| count.attribute_id == 0 && count.choice_id == Some(*id));
            (id.to_string(), name.clone(), count, query.brands.contains(id))
        });
        facets.extend(facet(BRAND, brand_word(&reading.look.language), brands.collect()));
        for attribute in &self.attributes {
            let rows = if attribute.kind == "kBool" {
                let count =
                    count(&counts, |count| count.attribute_id == attribute.id && count.int_value == Some(1));
                vec![("1".to_owned(), attribute.name.clone(), count, is_chosen(query, attribute.id, None))]
            } else {
                let of = self.choices.iter().filter(|choice| choice.attribute_id == attribute.id);
                of.map(|choice| {
                    let count = count(&counts, |count| {
                        count.choice_id == Some(choice.id) && count.attribute_id == attribute.id
                    });
                    (
                        choice.skey.clone(),
                        choice.name.clone(),
                        count,
                        is_chosen(query, attribute.id, Some(choice.id)),
                    )
                })
                .collect()
            };
            facets.extend(facet(&attribute.skey, &attribute.name, rows));
        }
        Ok(facets)
    }
}

/// The brand's facet has no attribute whose name could be translated.
fn brand_word(language: &str) -> &'static str {
    if language == "ru" { "Бренд" } else { "Brand" }
}

fn count(counts: &[Count], is: impl Fn(&Count) -> bool) -> i64 {
    counts.iter().filter(|count| is(count)).map(|count| count.products).sum()
}

fn is_chosen(query: &Query, attribute: i64, choice: Option<i64>) -> bool {
    query.facets.iter().any(|facet| match facet {
        Facet::Choices { attribute_id, choices } => {
            *attribute_id == attribute && choice.is_some_and(|choice| choices.contains(&choice))
        }
        Facet::Span { attribute_id, .. } => *attribute_id == attribute,
    })
}

/// One facet; none where there is nothing to choose.
fn facet(key: &str, name: &str, rows: Vec<(String, String, i64, bool)>) -> Option<Value> {
    let shown: Vec<_> = rows.into_iter().filter(|(_, _, count, chosen)| *count > 0 || *chosen).collect();
    let has_chosen = shown.iter().any(|(_, _, _, chosen)| *chosen);
    if shown.is_empty() || (shown.len() == 1 && !has_chosen && key == BRAND) {
        return None;
    }
    let choices = shown.into_iter().map(|(key, name, count, chosen)| {
        map([("key", key.into()), ("name", name.into()), ("count", count.into()), ("chosen", chosen.into())])
    });
    Some(map([
        ("key", key.into()),
        ("name", name.into()),
        ("is_chosen", has_chosen.into()),
        ("choices", Value::List(choices.collect())),
    ]))
}

/// Products for what somebody typed, the best first.
pub(super) fn search(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let typed: String = args.text(0, "text")?.chars().take(200).collect();
    let page = args.int_option(1, "page")?.unwrap_or(1).max(1);
    let per = args.int_option(1, "per")?.unwrap_or(24).clamp(1, MOST);
    read(run, "search", |reading| {
        // Any product may be found by these words next time.
        for table in ["search_postings", "variants", "products"] {
            reading.dependencies.table(table);
        }
        let words::Found { ids, meant } = words::find_or_guess(reading.tx, &typed, FOUND)?;
        let from = usize::try_from((page - 1).saturating_mul(per)).unwrap_or(usize::MAX);
        let shown: Vec<i64> =
            ids.iter().skip(from).take(usize::try_from(per).unwrap_or(1)).copied().collect();
        let items = cards(reading, &shown)?;
        let total = i64::try_from(ids.len()).unwrap_or(i64::MAX);
        Ok(map([
            ("items", Value::List(items)),
            ("total", total.into()),
            ("page", page.into()),
            ("pages", ((total + per - 1) / per).into()),
            ("per", per.into()),
            ("meant", meant.into()),
        ]))
    })
}
