//! Customers and their addresses.

use anyhow::Result;
use db::Value;
use shop::text::folded;

use super::plan::Plan;
use super::random::Stream;
use super::words::Words;
use super::writer::Writer;

/// The name of a customer, by their place.
pub(super) fn name(words: &Words, at: i64) -> String {
    let mut stream = Stream::of("name", at);
    let given = stream.pick(&words.people.given).map_or("", String::as_str);
    let family = stream.pick(&words.people.family).map_or("", String::as_str);
    format!("{given} {family}")
}

/// Where a customer is written to: the domain is one that nobody can have.
pub(super) fn email(words: &Words, at: i64) -> String {
    format!("{}.{at}@example.com", name(words, at).to_lowercase().replace(' ', "."))
}

/// Columns of an address.
pub(super) fn address(words: &Words, at: i64) -> Vec<(&'static str, Value)> {
    let mut stream = Stream::of("address", at);
    let (country, city, postcode, street) = stream.pick(&words.people.places).cloned().unwrap_or_default();
    vec![
        ("name", name(words, at).into()),
        ("company", "".into()),
        ("country", country.into()),
        ("region", "".into()),
        ("city", city.into()),
        ("postcode", postcode.into()),
        ("line1", street.replace("{n}", &(1 + stream.below(120)).to_string()).into()),
        ("line2", "".into()),
        ("phone", phone(at).into()),
        ("tax_number", "".into()),
    ]
}

/// A number from the range that is kept for stories.
pub(super) fn phone(at: i64) -> String {
    format!("+1 202 555 {:04}", 100 + at % 100)
}

/// Fills the tables.
pub(super) fn write(plan: &Plan, words: &Words, writer: &mut Writer<'_>) -> Result<()> {
    writer.table("customers", plan.ids("customers"), |rows| {
        for at in 0..plan.customers {
            let email = email(words, at);
            let confirmed = if at % 4 == 0 { Value::Null } else { plan.days_ago(200)?.into() };
            rows.add(&[
                ("email_folded", folded(&email).into()),
                ("email", email.into()),
                ("phone", phone(at).into()),
                ("name", name(words, at).into()),
                ("password_version", 1_i64.into()),
                ("email_confirmed", confirmed),
                ("language", if at % 3 == 0 { "ru" } else { "en" }.into()),
                ("currency", plan.currency.code.into()),
                ("tax_number", "".into()),
                ("blocked", false.into()),
            ])?;
        }
        Ok(())
    })?;
    writer.table("addresses", plan.ids("addresses"), |rows| {
        for at in 0..plan.customers {
            let mut columns = address(words, at);
            columns.push(("customer_id", (plan.ids("customers") + at).into()));
            columns.push(("position", 1_i64.into()));
            rows.add(&columns)?;
        }
        Ok(())
    })
}
