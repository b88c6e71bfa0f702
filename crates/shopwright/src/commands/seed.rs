//! `store seed`: a shop full of goods, for measuring.

use anyhow::Result;
use engine::settings::Settings;
use engine::store;
use jiff::Timestamp;

use crate::cli::StoreSeed;
use crate::output;
use crate::progress::Progress;
use crate::sample_shop::{self, Setting, Size};

/// What counts as now, so that two stores get the same rows: days of orders and prices are counted from it.
const NOW: &str = "2026-12-01T00:00:00Z";

/// Fills a store.
pub(super) fn run(arguments: &StoreSeed) -> Result<()> {
    let config = Settings::read(&arguments.root)?.config;
    let now: Timestamp = NOW.parse()?;
    let setting = Setting { language: &config.language, now, root: &arguments.root };
    let db = store::open_db(&arguments.root)?;
    let mut progress = Progress::new();
    let mut watch =
        |step: sample_shop::Step<'_>| progress.at("Filling tables", step.table, step.done, step.all);
    let counts = sample_shop::fill(&db, Size::of(arguments.products), setting, &mut watch);
    progress.clear();
    let counts = counts?;
    for (table, rows) in &counts {
        output::line(&format!("{table:20} {rows:>9}"));
    }
    let rows: i64 = counts.values().sum();
    output::note(&format!("{rows} rows in {} tables.", counts.len()));
    Ok(())
}
