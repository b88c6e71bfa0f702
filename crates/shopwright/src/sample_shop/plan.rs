//! How large the sample shop is, and what it is laid beside.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use shop::money::Currency;

use super::words::Words;

/// What is to be made.
pub(super) struct Plan {
    /// How many products.
    pub(super) products: i64,
    /// How many orders.
    pub(super) orders: i64,
    /// How many customers.
    pub(super) customers: i64,
    /// The number that the first order bears.
    pub(super) first_order_number: i64,
    /// The moment that counts as now.
    pub(super) now: Timestamp,
    /// The store's language: its words stand in the tables themselves.
    pub(super) language: String,
    /// The store's currency.
    pub(super) currency: Currency,
    /// The first free number of each table.
    pub(super) first: BTreeMap<String, i64>,
    /// Numbers of rows that every store has, by table and key.
    pub(super) keys: BTreeMap<&'static str, BTreeMap<String, i64>>,
    /// Keys of rows that the sample adds to such a table.
    pub(super) created: BTreeMap<&'static str, Vec<&'static str>>,
    /// The price list that everybody sees.
    pub(super) main_list: i64,
    /// The location that sells.
    pub(super) main_location: i64,
}

impl Plan {
    /// The first number for new rows of a table.
    pub(super) fn ids(&self, table: &str) -> i64 {
        self.first.get(table).copied().unwrap_or(1)
    }

    /// The number of a row that every store has.
    pub(super) fn key(&self, table: &'static str, key: &str) -> Result<i64> {
        let found = self.keys.get(table).and_then(|keys| keys.get(key)).copied();
        found.with_context(|| format!("table `{table}` has no `{key}`"))
    }

    /// Keys of rows that the sample adds to a table.
    pub(super) fn created(&self, table: &str) -> &[&'static str] {
        self.created.get(table).map_or(&[], Vec::as_slice)
    }

    /// Gives a row of this key a number, if the store has none.
    pub(super) fn add_key(&mut self, table: &'static str, key: &'static str) {
        let next = self.ids(table) + i64::try_from(self.created(table).len()).unwrap_or(0);
        let keys = self.keys.entry(table).or_default();
        if !keys.contains_key(key) {
            keys.insert(key.to_owned(), next);
            self.created.entry(table).or_default().push(key);
        }
    }

    /// The category after those at the top.
    pub(super) fn first_leaf(&self, words: &Words) -> i64 {
        self.ids("categories") + i64::try_from(words.roots.len()).unwrap_or(0)
    }

    /// A moment so many days before now, as it lies in tables.
    pub(super) fn days_ago(&self, days: i64) -> Result<String> {
        self.hours_ago(days * 24)
    }

    /// A moment so many hours before now, as it lies in tables.
    pub(super) fn hours_ago(&self, hours: i64) -> Result<String> {
        Ok(db::micros(self.now.checked_sub(SignedDuration::from_hours(hours))?))
    }
}
