//! Rows on their way into the database, many at a time.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use anyhow::{Context, Result, anyhow, bail};
use db::{Tx, Value, rows, schema};

use super::{Step, Watch};

/// Rows that are handed over at once.
const BATCH: usize = 10_000;
/// Tables that are filled one after the other, and half as many steps again for what is made from them at the end.
const STEPS: u64 = 72;

/// Puts rows into tables, one table after the other.
pub(super) struct Writer<'a> {
    tx: &'a mut Tx,
    watch: Watch<'a>,
    /// Tables that were filled.
    done: u64,
    /// The moment that stands in `created` and `changed`.
    now: String,
    /// How many rows each table got.
    pub(super) counts: BTreeMap<&'static str, i64>,
    /// The last number of each table.
    last: BTreeMap<&'static str, i64>,
}

/// Rows of one table, all with the same columns.
pub(super) struct Rows<'a> {
    tx: &'a mut Tx,
    watch: Watch<'a>,
    done: u64,
    table: &'static str,
    /// What every row has: its number and, where people edit the table, when it was made.
    now: Option<&'a str>,
    columns: Vec<String>,
    batch: Vec<Vec<Value>>,
    last_id: i64,
    count: i64,
}

impl<'a> Writer<'a> {
    pub(super) fn new(tx: &'a mut Tx, now: &str, watch: Watch<'a>) -> Self {
        Self { tx, watch, done: 0, now: now.to_owned(), counts: BTreeMap::new(), last: BTreeMap::new() }
    }

    /// Fills a table, or goes on to. `first_id` is the number of its first row without a number of its own.
    pub(super) fn table(
        &mut self,
        name: &'static str,
        first_id: i64,
        fill: impl FnOnce(&mut Rows<'_>) -> Result<()>,
    ) -> Result<()> {
        let spec = schema::table(name).with_context(|| format!("there is no table `{name}`"))?;
        let mut rows = Rows {
            tx: self.tx,
            watch: self.watch,
            done: self.done,
            table: name,
            now: spec.is_edited.then_some(self.now.as_str()),
            columns: Vec::new(),
            batch: Vec::new(),
            last_id: self.last.get(name).copied().unwrap_or(first_id - 1),
            count: 0,
        };
        fill(&mut rows).and_then(|()| rows.hand_over()).with_context(|| format!("table `{name}`"))?;
        let (last_id, count) = (rows.last_id, rows.count);
        self.done += 1;
        self.last.insert(name, last_id);
        *self.counts.entry(name).or_default() += count;
        Ok(())
    }
}

impl Rows<'_> {
    /// Adds a row and answers its number: the one of `id`, else the next.
    pub(super) fn add(&mut self, values: &[(&str, Value)]) -> Result<i64> {
        let given =
            values.iter().find(|(name, _)| *name == "id").map(|(_, value)| as_id(value)).transpose()?;
        let id = given.unwrap_or(self.last_id + 1);
        let mut row: Vec<(&str, Value)> = values.iter().filter(|(name, _)| *name != "id").cloned().collect();
        row.push(("id", id.into()));
        if let Some(now) = self.now {
            for column in ["created", "changed"] {
                if !row.iter().any(|(name, _)| *name == column) {
                    row.push((column, now.into()));
                }
            }
        }
        if self.columns.is_empty() {
            self.columns = row.iter().map(|(name, _)| (*name).to_owned()).collect();
        }
        if row.iter().map(|(name, _)| *name).ne(self.columns.iter().map(String::as_str)) {
            bail!("a row has other columns than the first");
        }
        self.batch.push(row.into_iter().map(|(_, value)| value).collect());
        self.last_id = self.last_id.max(id);
        self.count += 1;
        if self.batch.len() >= BATCH { self.hand_over().map(|()| id) } else { Ok(id) }
    }

    fn hand_over(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        rows::load(self.tx, self.table, &columns, std::mem::take(&mut self.batch))?;
        match (self.watch)(Step { table: self.table, done: self.done, all: STEPS }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => bail!("stopped; the store is as it was"),
        }
    }
}

fn as_id(value: &Value) -> Result<i64> {
    match value {
        Value::Int(id) => Ok(*id),
        other => Err(anyhow!("a number is {other:?}")),
    }
}
