//! What the answer of a statement is made of: the tables it can read, or more than tables.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::schema;

/// Words without which no statement comes to know the time. A few of them are harmless, and count all the same.
const CLOCK: [&str; 15] = [
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "julianday",
    "localtime",
    "localtimestamp",
    "now",
    "strftime",
    "time",
    "today",
    "tomorrow",
    "unixepoch",
    "yesterday",
];

/// What a statement's answer is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Rows of no other tables than these.
    Tables(BTreeSet<&'static str>),
    /// More than rows: maybe the time.
    More,
}

/// What a statement that [`select`](fn@super::select) carries out can read: every table whose name stands in it,
/// whatever it means there, so never too few. Nothing reads a table whose name does not stand in the text: the views that agents
/// see are one for each table, and no function they may call takes a name.
pub fn reads<'a>(sql: &str, params: impl IntoIterator<Item = &'a Json>) -> Reads {
    let sql = sql.to_ascii_lowercase();
    let words: BTreeSet<&str> = words(&sql).collect();
    // Only so could a name be written with other letters than its own.
    let is_escaped = sql.contains("u&");
    if is_escaped || CLOCK.iter().any(|word| words.contains(word)) || params.into_iter().any(is_clock) {
        return Reads::More;
    }
    let named = schema::tables().map(|table| table.name).filter(|name| words.contains(name));
    Reads::Tables(named.collect())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
}

/// A text that a cast makes a moment of.
fn is_clock(value: &Json) -> bool {
    let Some(text) = value.as_str() else { return false };
    let text = text.to_ascii_lowercase();
    words(&text).any(|word| CLOCK.contains(&word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_table_that_is_named_counts_however_it_is_written() {
        let tables = |sql: &str| match reads(sql, []) {
            Reads::Tables(tables) => tables.into_iter().collect::<Vec<_>>(),
            Reads::More => vec!["more"],
        };
        for (sql, expected) in [
            ("select 1", vec![]),
            ("select name from products where id = 1", vec!["products"]),
            ("SELECT p.name FROM \"products\" p, [Orders] o -- stock", vec!["orders", "products", "stock"]),
            ("with a as (select * from(variants)) select count(*) from a", vec!["variants"]),
            ("select 1 where exists(select 1 from`menus`)", vec!["menus"]),
            ("select * from U&\"product\\0073\"", vec!["more"]),
            ("select 1 where current_timestamp > ''", vec!["more"]),
            ("select date ( 'now' )", vec!["more"]),
            ("select cast('today' as timestamp)", vec!["more"]),
        ] {
            assert_eq!(tables(sql), expected, "{sql}");
        }
        assert_eq!(reads("select strftime(:a, :b)", [&json!("%Y")]), Reads::More);
        assert_eq!(reads("select cast(:b as timestamptz)", [&json!(1), &json!(" Now ")]), Reads::More);
        assert!(matches!(reads("select :b", [&json!("nowhere")]), Reads::Tables(_)));
    }
}
