//! `products.get`, `products.links`, `prices.of`, `stock.of`.

use std::collections::HashMap;

use db::DbError;
use db::products::{self, AttributeValue, Product, Variant, VariantOption};
use db::stock::Availability;
use db::{categories, prices};
use sandbox::{HostError, Value};

use super::cards::cards;
use super::categories::steps;
use super::{Reading, image, is_image, price, read};
use crate::units::host::Answer;
use crate::units::host::arguments::{Arguments, int};
use crate::units::run::Run;
use crate::units::visit::map;

/// Most variants that are asked for at once.
const MOST: usize = 1000;

/// A product with everything its page shows; null where it has no page.
pub(super) fn get(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let id = args.int(0, "id")?;
    read(run, "products.get", |reading| {
        reading.dependencies.row("products", id);
        reading.element("texts", "products", &[id]);
        reading.borders.add_products(reading.tx, &[id])?;
        match products::shown(reading.tx, id, &reading.look.language, reading.now)? {
            Some(product) => whole(reading, &product),
            None => Ok(Value::Null),
        }
    })
}

fn whole(reading: &mut Reading<'_>, product: &Product) -> Result<Value, DbError> {
    let id = product.id;
    made_of(reading, id);
    let variants = products::variants(reading.tx, &[id])?;
    for variant in &variants {
        reading.dependencies.set("variant_values.variant_id", variant.id);
    }
    let options = products::options(reading.tx, id, &reading.look.language)?;
    let attributes = products::attributes(reading.tx, &[id], &reading.look.language)?;
    let files = products::files(reading.tx, "products", &[id])?;
    let images: Vec<Value> = files.iter().filter(|file| is_image(file)).map(image).collect();
    let url = reading.urls("products", &[id])?.remove(&id);
    let urls = reading.all_urls("products", id)?;
    let [seo_title, seo_description] = reading.seo("products", id)?;
    let path = path(reading, product)?;
    let brand = brand(reading, product)?;
    let variants = variant_list(reading, product, &variants, &options)?;
    Ok(map([
        ("id", id.into()),
        ("name", product.name.as_str().into()),
        ("text", product.text.as_str().into()),
        ("state", product.state.as_str().into()),
        ("url", url.into()),
        ("urls", urls),
        ("path", path),
        ("brand", brand),
        ("options", option_list(&options)),
        ("variants", Value::List(variants)),
        ("attributes", Value::List(facts(&attributes, &reading.look.language))),
        ("images", Value::List(images)),
        ("rating_sum", product.rating_sum.into()),
        ("rating_count", product.rating_count.into()),
        ("changed", product.changed.as_str().into()),
        seo_title,
        seo_description,
    ]))
}

/// What belongs to a product and its page shows, but for prices and stock.
fn made_of(reading: &mut Reading<'_>, id: i64) {
    for set in ["variants.product_id", "product_options.product_id", "attribute_values.product_id"] {
        reading.dependencies.set(set, id);
    }
    reading.element("files", "products", &[id]);
    for table in [
        "product_option_values",
        "texts.product_options",
        "texts.product_option_values",
        "attributes",
        "attribute_choices",
        "texts.attributes",
        "texts.attribute_choices",
    ] {
        reading.dependencies.table(table);
    }
}

fn path(reading: &mut Reading<'_>, product: &Product) -> Result<Value, DbError> {
    let Some(category) = product.main_category_id else { return Ok(Value::List(Vec::new())) };
    for table in ["categories", "category_closure", "texts.categories"] {
        reading.dependencies.table(table);
    }
    let path = categories::path(reading.tx, category, &reading.look.language)?;
    let shown: Vec<_> = path.into_iter().take_while(|step| step.state == "kShown").collect();
    let ids: Vec<i64> = shown.iter().map(|step| step.id).collect();
    let urls = reading.urls("categories", &ids)?;
    Ok(steps(&shown, &urls))
}

fn brand(reading: &mut Reading<'_>, product: &Product) -> Result<Value, DbError> {
    let Some(brand) = product.brand_id else { return Ok(Value::Null) };
    reading.dependencies.row("brands", brand);
    let Some(name) = products::brand_name(reading.tx, brand)? else { return Ok(Value::Null) };
    let url = reading.urls("brands", &[brand])?.remove(&brand);
    Ok(map([("id", brand.into()), ("name", name.into()), ("url", url.into())]))
}

/// An option's number and name, and those of its values.
type OptionNames<'a> = (i64, &'a str, Vec<(i64, &'a str)>);

/// The options in order, each with its values once.
fn option_list(rows: &[VariantOption]) -> Value {
    let mut options: Vec<OptionNames<'_>> = Vec::new();
    for row in rows {
        let at = options.iter().position(|(id, _, _)| *id == row.option_id).unwrap_or_else(|| {
            options.push((row.option_id, &row.option_name, Vec::new()));
            options.len() - 1
        });
        if let Some((_, _, values)) = options.get_mut(at)
            && values.iter().all(|(id, _)| *id != row.value_id)
        {
            values.push((row.value_id, &row.value_name));
        }
    }
    let named = |id: i64, name: &str| [("id", id.into()), ("name", name.into())];
    let option = |(id, name, values): OptionNames<'_>| {
        let values = values.into_iter().map(|(id, name)| map(named(id, name))).collect();
        let [id, name] = named(id, name);
        map([id, name, ("values", Value::List(values))])
    };
    Value::List(options.into_iter().map(option).collect())
}

fn variant_list(
    reading: &mut Reading<'_>,
    product: &Product,
    variants: &[Variant],
    options: &[VariantOption],
) -> Result<Vec<Value>, DbError> {
    let ids: Vec<i64> = variants.iter().map(|variant| variant.id).collect();
    let sums = sums(reading, variants)?;
    let stock = reading.stock(&ids)?;
    let list = variants.iter().map(|variant| {
        let of = options.iter().filter(|row| row.variant_id == variant.id);
        let names: Vec<&str> = of.clone().map(|row| row.value_name.as_str()).collect();
        let title = match names.is_empty() {
            true => product.name.clone(),
            false => format!("{}, {}", product.name, names.join(", ")),
        };
        let availability = stock.get(&variant.id);
        map([
            ("id", variant.id.into()),
            ("title", title.into()),
            ("sku", variant.sku.clone().into()),
            ("gtin", variant.gtin.clone().into()),
            ("mpn", variant.mpn.clone().into()),
            ("values", Value::List(of.map(|row| row.value_id.into()).collect())),
            ("price", sums.get(&variant.id).cloned().unwrap_or_default()),
            ("available", availability.is_some_and(Availability::is_for_sale).into()),
            ("quantity", availability.and_then(Availability::for_sale).into()),
            ("weight", variant.weight.into()),
            ("min_quantity", variant.min_quantity.into()),
            ("max_quantity", variant.max_quantity.into()),
            ("step", variant.step.into()),
        ])
    });
    Ok(list.collect())
}

/// The price of each variant that has one; of a reduced one the lowest of the 30 days before.
fn sums(reading: &mut Reading<'_>, variants: &[Variant]) -> Result<HashMap<i64, Value>, DbError> {
    let ids: Vec<i64> = variants.iter().map(|variant| variant.id).collect();
    let (known, lists) = reading.prices(&ids)?;
    let mut reduced = Vec::new();
    let mut sums = HashMap::new();
    for variant in variants {
        let Some(sum) = known.choose(variant.id, variant.min_quantity, &lists, reading.now) else { continue };
        let lowest = match sum.compare_at {
            Some(_) => {
                reading.dependencies.set("price_history.variant_id", variant.id);
                reduced.push(variant.id);
                prices::lowest_before(reading.tx, sum.list_id, variant.id, reading.now)?
            }
            None => None,
        };
        sums.insert(variant.id, price(reading.look, sum.amount, sum.compare_at, lowest));
    }
    reading.borders.add_price_history(reading.tx, &reduced)?;
    Ok(sums)
}

/// What is known of a product, in words.
fn facts(values: &[AttributeValue], language: &str) -> Vec<Value> {
    let mut facts: Vec<(i64, &str, &str, Vec<String>)> = Vec::new();
    for value in values {
        let text = fact(value, language);
        match facts.iter_mut().find(|(id, ..)| *id == value.attribute_id) {
            Some((.., texts)) if !texts.contains(&text) => texts.push(text),
            Some(_) => {}
            None => facts.push((value.attribute_id, &value.skey, &value.name, vec![text])),
        }
    }
    let shown = facts.into_iter().map(|(_, key, name, texts)| {
        map([("key", key.into()), ("name", name.into()), ("text", texts.join(", ").into())])
    });
    shown.collect()
}

fn fact(value: &AttributeValue, language: &str) -> String {
    let text = match (value.kind.as_str(), value.int_value) {
        ("kBool", Some(truth)) => match (truth != 0, language) {
            (true, "ru") => "да".to_owned(),
            (false, "ru") => "нет".to_owned(),
            (true, _) => "yes".to_owned(),
            (false, _) => "no".to_owned(),
        },
        ("kDecimal", Some(number)) => decimal(number, value.decimals, language),
        (_, Some(number)) => number.to_string(),
        (_, None) => {
            let text = value.choice_name.as_ref().or(value.text_value.as_ref()).or(value.date_value.as_ref());
            text.cloned().unwrap_or_default()
        }
    };
    if value.measure.is_empty() { text } else { format!("{text} {}", value.measure) }
}

fn decimal(number: i64, decimals: i64, language: &str) -> String {
    let decimals = usize::try_from(decimals).unwrap_or(0);
    let digits = format!("{:0>1$}", number.unsigned_abs(), decimals + 1);
    let (whole, part) = digits.split_at(digits.len() - decimals);
    let sign = if number < 0 { "-" } else { "" };
    let part = part.trim_end_matches('0');
    let point = if language == "ru" { ',' } else { '.' };
    if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}{point}{part}") }
}

/// Products named beside one.
pub(super) fn links(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (id, kind) = (args.int(0, "id")?, args.text_or(1, "kind", "kAnalog")?);
    read(run, "products.links", |reading| {
        reading.dependencies.set("product_links.product_id", id);
        // Those without a page too: they may get one.
        let named = products::named_beside(reading.tx, id, kind)?;
        named.iter().for_each(|product| reading.dependencies.row("products", *product));
        reading.borders.add_products(reading.tx, &named)?;
        let ids = products::linked(reading.tx, id, kind, reading.now)?;
        Ok(Value::List(cards(reading, &ids)?))
    })
}

/// Prices of variants, by their numbers.
pub(super) fn prices_of(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let ids = ids(args)?;
    read(run, "prices.of", |reading| {
        ids.iter().for_each(|id| reading.dependencies.row("variants", *id));
        let variants = products::variants_by_ids(reading.tx, &ids)?;
        let variants: Vec<Variant> = variants.into_values().collect();
        Ok(by_id(sums(reading, &variants)?))
    })
}

/// How many of variants can be bought, by their numbers; null is any number.
pub(super) fn stock_of(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let ids = ids(args)?;
    read(run, "stock.of", |reading| {
        let stock = reading.stock(&ids)?;
        Ok(by_id(stock.into_iter().map(|(id, stock)| (id, stock.for_sale().into())).collect()))
    })
}

fn ids(args: &Arguments<'_>) -> Result<Vec<i64>, HostError> {
    let wrong = || args.wrong(&format!("`variants` is a list of at most {MOST} numbers"));
    let Value::List(list) = args.value(0) else { return Err(wrong()) };
    if list.len() > MOST {
        return Err(wrong());
    }
    list.iter().map(|value| int(value).ok_or_else(wrong)).collect()
}

fn by_id(values: HashMap<i64, Value>) -> Value {
    let mut values: Vec<(i64, Value)> = values.into_iter().collect();
    values.sort_by_key(|(id, _)| *id);
    Value::Map(values.into_iter().map(|(id, value)| (id.to_string(), value)).collect())
}
