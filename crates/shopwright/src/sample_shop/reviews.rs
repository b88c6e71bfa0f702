//! What customers wrote about products.

use anyhow::{Context, Result};

use super::plan::Plan;
use super::random::Stream;
use super::words::Words;
use super::writer::Writer;

/// One review.
pub(super) struct Review<'a> {
    pub(super) rating: i64,
    pub(super) state: &'static str,
    language: &'static str,
    text: &'a str,
    customer: i64,
    days: i64,
}

/// The reviews of a product; most have some, many have none.
pub(super) fn of_product<'a>(plan: &Plan, words: &'a Words, product_id: i64) -> Result<Vec<Review<'a>>> {
    let mut stream = Stream::of("reviews", product_id);
    let count = (stream.below(7) - 2).max(0);
    let mut reviews = Vec::new();
    for _ in 0..count {
        let language = if stream.below(2) == 0 { "en" } else { "ru" };
        let texts = words.reviews.get(language).context("no reviews")?;
        let (rating, text) = stream.pick(texts).context("no reviews")?;
        let state = match stream.below(9) {
            0 => "kNew",
            1 => "kHidden",
            _ => "kShown",
        };
        let customer = stream.below(plan.customers);
        let days = 1 + stream.below(300);
        reviews.push(Review { rating: *rating, state, language, text, customer, days });
    }
    Ok(reviews)
}

/// Fills the table.
pub(super) fn write(plan: &Plan, words: &Words, writer: &mut Writer<'_>) -> Result<()> {
    let first = plan.ids("products");
    writer.table("reviews", plan.ids("reviews"), |rows| {
        for product_id in first..first + plan.products {
            for review in of_product(plan, words, product_id)? {
                let when = plan.days_ago(review.days)?;
                let answer = if review.rating < 3 && review.state == "kShown" {
                    if review.language == "ru" {
                        "Простите за неудобство, мы уже написали вам."
                    } else {
                        "We are sorry, and have written to you."
                    }
                } else {
                    ""
                };
                rows.add(&[
                    ("product_id", product_id.into()),
                    ("customer_id", (plan.ids("customers") + review.customer).into()),
                    ("name", super::people::name(words, review.customer).into()),
                    ("language", review.language.into()),
                    ("rating", review.rating.into()),
                    ("text", review.text.into()),
                    ("answer", answer.into()),
                    ("state", review.state.into()),
                    ("created", when.clone().into()),
                    ("changed", when.into()),
                ])?;
            }
        }
        Ok(())
    })
}
