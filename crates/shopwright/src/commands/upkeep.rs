//! `store reindex`, `store check-books`: derived rows made anew, and whether the books agree.

use std::ops::ControlFlow;

use anyhow::{Result, bail};
use db::{Db, DbError, books, reindex};
use engine::store;
use jiff::Timestamp;

use crate::cli::{StoreCheckBooks, StoreReindex};
use crate::exit::Exit;
use crate::output;
use crate::progress::Progress;

/// Makes derived rows anew.
pub(super) fn reindex(arguments: &StoreReindex) -> Result<()> {
    let db = store::open_db(&arguments.root)?;
    let mut progress = Progress::new();
    let done = reindex::beside(&db, Timestamp::now(), &mut |done, all| match progress.at(
        "Making lists and words",
        "products",
        done,
        all,
    ) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => bail!("stopped; the engine makes the rest, or the same command again"),
    });
    progress.clear();
    match done {
        Ok(_) => {}
        Err(error) if matches!(error.downcast_ref(), Some(DbError::WritesFrozen)) => {
            bail!("the store is being moved or restored; repeat this when that is done")
        }
        Err(error) => return Err(error),
    }
    let rows = sizes(&db)?;
    for (table, count) in rows {
        output::line(&format!("{table:20} {count:>9}"));
    }
    output::note("Everything that is made from the rest is made anew.");
    Ok(())
}

fn sizes(db: &Db) -> Result<Vec<(&'static str, i64)>> {
    let tables = ["category_closure", "listing", "facet_counts", "search_terms", "search_postings"];
    Ok(db.read(|tx| {
        tables
            .into_iter()
            .map(|table| Ok((table, db::row_numbers::count(tx, table)?)))
            .collect::<Result<_, DbError>>()
    })?)
}

/// Says where rows contradict each other.
pub(super) fn check_books(arguments: &StoreCheckBooks) -> Result<Exit> {
    let db = store::open_db(&arguments.root)?;
    let mut progress = Progress::new();
    let mut findings = Vec::new();
    let all = books::CHECKS.len() as u64;
    for (done, check) in (0..).zip(books::CHECKS) {
        if progress.at("Checking", check.what, done, all).is_break() {
            progress.clear();
            bail!("stopped");
        }
        findings.extend(db.read(|tx| books::run(tx, check))?);
    }
    progress.clear();
    for finding in &findings {
        let ids: Vec<_> = finding.ids.iter().map(i64::to_string).collect();
        let more =
            if usize::try_from(finding.count).is_ok_and(|count| count > ids.len()) { ", …" } else { "" };
        output::line(&format!(
            "{} of `{}` not so: {} (id {}{more})",
            finding.count,
            finding.table,
            finding.what,
            ids.join(", ")
        ));
    }
    if findings.is_empty() {
        output::note(&format!("{all} checks: everything agrees."));
        return Ok(Exit::Done);
    }
    output::problem(&format!("{} of {all} checks found rows that contradict others", findings.len()));
    Ok(Exit::Refused)
}
