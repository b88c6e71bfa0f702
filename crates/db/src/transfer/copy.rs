//! Rows out of one database, into another, and compared.

use super::error::TransferError;
use super::row_line::{self, Summing, TableSum};
use super::table::Table;
use super::table_loader::{TableLoader, check_links, clear};
use super::tables::{newest_step, tables, tables_of};
use crate::{Db, DbError, Tx, Value, migrate};

/// Rows between two words about the progress.
const WORD_EVERY: u64 = 500;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Rows go in.
    Copy,
    /// What went in is read and compared.
    Check,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What is being done.
    pub phase: Phase,
    /// The table.
    pub table: &'a str,
    /// Rows done, of all tables.
    pub done: u64,
    /// Rows there are.
    pub all: u64,
}

/// Hears how far it is; an error, [`TransferError::Stopped`] above all, stops it.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress<'_>) -> Result<(), TransferError>;

/// Takes a row: its values and its line.
pub type OnRow<'a> = &'a mut dyn FnMut(&[Value], &[u8]) -> Result<(), TransferError>;

/// What a database holds before it is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// There are no tables, or no database.
    Nothing,
    /// There are our tables, without a row.
    Tables,
    /// There are rows.
    Rows,
}

/// Looks whether a database may be filled. One of another program, or of a newer build, is an error.
pub fn contents(db: &Db) -> Result<Contents, DbError> {
    if !db.is_there()? {
        return Ok(Contents::Nothing);
    }
    db.read(|tx| {
        let there = tx.table_names()?;
        let has = |name: &str| there.iter().any(|table| table == name);
        if !has("migrations") {
            return match tables()?.iter().find(|table| has(&table.name)) {
                Some(table) => Err(DbError::Foreign(table.name.clone())),
                None => Ok(Contents::Nothing),
            };
        }
        let step = migrate::done(tx)?;
        if step > newest_step() {
            return Err(DbError::Newer);
        }
        for table in tables_of(step)?.iter().filter(|table| table.name != "migrations") {
            let sql = format!("select 1 as one from \"{}\"{} limit 1", table.name, table.moving());
            if tx.row(&sql, &[])?.is_some() {
                return Ok(Contents::Rows);
            }
        }
        Ok(Contents::Tables)
    })
}

/// Refuses a database of a newer build: it may have tables that this one would leave behind.
pub fn refuse_newer(tx: &mut Tx) -> Result<(), DbError> {
    if migrate::done(tx)? > newest_step() { Err(DbError::Newer) } else { Ok(()) }
}

/// How many rows move.
pub fn rows(tx: &mut Tx, tables: &[Table]) -> Result<u64, DbError> {
    let mut all = 0;
    for table in tables {
        let sql = format!("select count(*) as count from \"{}\"{}", table.name, table.moving());
        all += match tx.row(&sql, &[])? {
            Some(row) => row.get::<u64>("count")?,
            None => 0,
        };
    }
    Ok(all)
}

/// Hands over each row that moves, with its line; answers their sum.
pub fn read(tx: &mut Tx, table: &Table, take: OnRow<'_>) -> Result<TableSum, TransferError> {
    let mut summing = Summing::default();
    let mut text = Vec::new();
    tx.each(&table.select(), &mut |values| {
        fit(values, table)?;
        text.clear();
        row_line::write(values, &mut text);
        summing.add(&text);
        take(values, &text)
    })?;
    let last_id = if table.numbered { tx.last_id(table)? } else { 0 };
    Ok(summing.finish(last_id))
}

fn fit(values: &mut [Value], table: &Table) -> Result<(), TransferError> {
    for at in 0..values.len() {
        let (Some(column), Some(value)) = (table.columns.get(at), values.get_mut(at)) else { continue };
        if let (Value::Bytes(bytes), "journal_changes") = (&*value, table.name.as_str()) {
            // What a row once held is no reason to keep a store where it is, when the row itself is well.
            *value = Value::Text(String::from_utf8_lossy(bytes).into_owned());
        }
        if let Err(what) = column.kind.fit(value) {
            return Err(TransferError::Value {
                table: table.name.clone(),
                row: table.row_words(values),
                column: column.name.clone(),
                what,
            });
        }
    }
    Ok(())
}

/// Puts every row of one database into the other, in place of what was there, and compares.
///
/// Both must have this build's tables. `to` is of [`Db::bulk_write`]; nothing is
/// there for others before that transaction is committed.
pub fn copy(
    from: &mut Tx,
    to: &mut Tx,
    report: OnProgress<'_>,
) -> Result<Vec<(Table, TableSum)>, TransferError> {
    refuse_newer(from)?;
    refuse_newer(to)?;
    let tables = tables()?;
    let all = rows(from, &tables)?;
    clear(to, &tables)?;
    let mut meter = Meter { report, phase: Phase::Copy, done: 0, all };
    let mut sums = Vec::with_capacity(tables.len());
    for table in tables {
        let mut filling = TableLoader::new(to, &table)?;
        let sum = read(from, &table, &mut |values, _| {
            filling.push(to, values)?;
            meter.one(&table)
        })?;
        filling.finish(to, sum.last_id)?;
        sums.push((table, sum));
    }
    check_links(to)?;
    compare(to, &sums, meter.report, all)?;
    Ok(sums)
}

/// Reads a filled database and compares it with what went in.
pub fn compare(
    to: &mut Tx,
    sums: &[(Table, TableSum)],
    report: OnProgress<'_>,
    all: u64,
) -> Result<(), TransferError> {
    let mut meter = Meter { report, phase: Phase::Check, done: 0, all };
    for (table, wanted) in sums {
        let got = read(to, table, &mut |_, _| meter.one(table))?;
        if got != *wanted {
            return Err(TransferError::Differs {
                table: table.name.clone(),
                wanted: wanted.rows,
                got: got.rows,
            });
        }
    }
    Ok(())
}

struct Meter<'a> {
    report: OnProgress<'a>,
    phase: Phase,
    done: u64,
    all: u64,
}

impl Meter<'_> {
    fn one(&mut self, table: &Table) -> Result<(), TransferError> {
        self.done += 1;
        if self.done % WORD_EVERY != 1 {
            return Ok(());
        }
        (self.report)(Progress { phase: self.phase, table: &table.name, done: self.done, all: self.all })
    }
}
