//! `reviews.of`, `reviews.stars`, `reviews.add`: what visitors write about products.

use db::reviews::NewReview;
use db::{products, reviews};
use sandbox::{HostError, Value};

use super::read;
use crate::units::host::Answer;
use crate::units::host::arguments::Arguments;
use crate::units::run::Run;
use crate::units::visit::map;

/// Most reviews of a page.
const MOST: i64 = 100;
/// Longest name and text of a review, in letters.
const LONGEST_NAME: usize = 80;
const LONGEST_TEXT: usize = 5000;
/// Most reviews that wait to be looked at: of one product, and of all.
const MOST_WAITING: (i64, i64) = (50, 2000);

/// Reviews of a product that visitors see.
pub(super) fn of(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let product = args.int(0, "product")?;
    let per = args.int_option(1, "per")?.unwrap_or(20).clamp(1, MOST);
    let page = args.int_option(1, "page")?.unwrap_or(1).max(1);
    read(run, "reviews.of", |reading| {
        reading.dependencies.set("reviews.product_id", product);
        let skip = (page - 1).saturating_mul(per);
        let (found, total) = reviews::shown(reading.tx, product, skip, per)?;
        let items = found.into_iter().map(|review| {
            map([
                ("id", review.id.into()),
                ("name", review.name.into()),
                ("rating", review.rating.into()),
                ("text", review.text.into()),
                ("answer", review.answer.into()),
                ("is_verified", review.is_verified.into()),
                ("created", review.created.into()),
            ])
        });
        Ok(map([("items", Value::List(items.collect())), ("total", total.into()), ("page", page.into())]))
    })
}

/// How many shown reviews of a product have each number of stars, from one to five.
pub(super) fn stars(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let product = args.int(0, "product")?;
    read(run, "reviews.stars", |reading| {
        reading.dependencies.set("reviews.product_id", product);
        let counts = db::reviews::stars(reading.tx, product)?;
        Ok(Value::List(counts.into_iter().map(Value::from).collect()))
    })
}

/// Takes a review, which visitors see once somebody of the store has looked at it.
pub(super) fn add(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    if run.visit.method != "POST" {
        return Err(args.wrong("a review is sent by a form (POST)"));
    }
    let review = NewReview {
        product_id: number(args, "product")?,
        order_line_id: None,
        customer_id: None,
        name: text(args, "name", 1, LONGEST_NAME)?,
        language: run.visit.look.language.clone(),
        rating: number(args, "rating")?,
        text: text(args, "text", 1, LONGEST_TEXT)?,
    };
    if !(1..=5).contains(&review.rating) {
        return Err(args.wrong("`rating` is 1 to 5"));
    }
    run.dependencies().own();
    let (product, now) = (review.product_id, run.visit.now);
    let language = run.visit.look.language.clone();
    let is_open = read(run, "reviews.add", |reading| {
        if products::shown(reading.tx, product, &language, now)?.is_none() {
            return Ok(Value::Null);
        }
        let (of_product, of_all) = db::reviews::waiting(reading.tx, product)?;
        Ok((of_product < MOST_WAITING.0 && of_all < MOST_WAITING.1).into())
    })?;
    match is_open {
        Value::Null => Err(args.wrong("there is no such product")),
        Value::Bool(true) if run.effects.review(review) => Ok(Value::Null),
        _ => Err(HostError::new("LIMIT", "so many reviews wait that no more are taken now")),
    }
}

fn number(args: &Arguments<'_>, field: &str) -> Result<i64, HostError> {
    args.int_option(0, field)?.ok_or_else(|| args.wrong(&format!("`{field}` is missing")))
}

/// A text of the form, without blanks around it.
fn text(args: &Arguments<'_>, field: &str, least: usize, most: usize) -> Result<String, HostError> {
    let text = args.text_option(0, field)?.unwrap_or_default().trim();
    if (least..=most).contains(&text.chars().count()) && !text.contains('\0') {
        return Ok(text.to_owned());
    }
    Err(args.wrong(&format!("`{field}` is {least} to {most} letters long")))
}
