//! `store migrate`, `backup`, `restore`, `unlock`: a whole store moved, kept, made again, opened.

use std::io::BufRead as _;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result};
use engine::maintenance::{self, Activity, Migrated, Migration, RestoreOptions, Step, shown};

use crate::cli::{StoreBackup, StoreMigrate, StoreRestore, StoreUnlock};
use crate::output;
use crate::progress::Progress;

/// Shows the steps of the work.
fn watch(progress: &mut Progress) -> impl FnMut(Step<'_>) -> ControlFlow<()> + '_ {
    |step| {
        let what = match step.what {
            Activity::Rows => "Copying rows  ",
            Activity::Check => "Comparing rows",
            Activity::Files => "Copying files ",
            Activity::Backup => "Looking through the backup",
        };
        progress.at(what, step.name, step.done, step.all)
    }
}

/// What is left to do where the store stays closed.
fn tell_closed(root: &Path, is_closed: bool, engine_runs: bool) {
    let unlock = format!("`shopwright store unlock --root {}`", root.display());
    if engine_runs {
        output::note(&format!(
            "An engine still runs on this store: start it anew, then let people in by {unlock}."
        ));
    } else if is_closed {
        output::note(&format!("The store is closed, as it was before; {unlock} lets people in."));
    }
}

/// Opens a store.
pub(super) fn unlock(arguments: &StoreUnlock) -> Result<()> {
    let was_closed = maintenance::unlock(&arguments.root, arguments.moved)?;
    output::note(if was_closed { "The store is open." } else { "The store was open already." });
    Ok(())
}

/// Moves a store.
pub(super) fn migrate(arguments: &StoreMigrate) -> Result<()> {
    let to = match arguments.to.as_str() {
        "-" => std::io::stdin().lock().lines().next().context("no address on stdin")??.trim().to_owned(),
        to => to.to_owned(),
    };
    let mut progress = Progress::new();
    let migration = Migration { to, replace: arguments.replace };
    let mut is_told = false;
    // The first step comes when everything was looked at and the store is closed.
    let mut told = |step: Step<'_>| {
        if !std::mem::replace(&mut is_told, true) {
            output::note("Nobody is let in while the store moves.");
        }
        watch(&mut progress)(step)
    };
    let moved = maintenance::migrate(&arguments.root, &migration, &mut told);
    progress.clear();
    tell_moved(&arguments.root, &moved?, &migration.to);
    Ok(())
}

fn tell_moved(root: &Path, moved: &Migrated, to: &str) {
    if moved.tables.is_empty() {
        output::note(&format!(
            "An earlier move had come almost to its end; the store is in {} now.",
            shown(to)
        ));
        return tell_closed(root, moved.is_closed, moved.engine_runs);
    }
    output::line("table                rows, old = new  SHA-256 of the rows");
    for (table, sum) in &moved.tables {
        output::line(&format!("{:18} {:>9} = {:<9}  {}", table.name, sum.rows, sum.rows, sum.hex()));
    }
    let rows: u64 = moved.tables.iter().map(|(_, sum)| sum.rows).sum();
    output::line(&format!("{rows} rows in {} tables, every one the same on both sides", moved.tables.len()));
    output::note(&format!(
        "The store is in {} now, and config.json says so. The old database, {}, stays where it is, closed for writing; \
         nothing needs it any more.",
        shown(to),
        shown(&moved.from)
    ));
    tell_closed(root, moved.is_closed, moved.engine_runs);
}

/// Files of which old versions cannot be had any more.
fn tell_lost(paths: &[String], where_from: &str) {
    const SHOWN: usize = 5;
    for path in paths.iter().take(SHOWN) {
        output::problem(&format!(
            "an older version of `{path}` is missing or damaged {where_from}; what the file is now is not touched by that"
        ));
    }
    if paths.len() > SHOWN {
        output::problem(&format!("and so are versions of {} more files", paths.len() - SHOWN));
    }
}

/// Backs a store up.
pub(super) fn backup(arguments: &StoreBackup) -> Result<()> {
    let mut progress = Progress::new();
    let done = maintenance::backup(&arguments.root, &arguments.to, &mut watch(&mut progress));
    progress.clear();
    let done = done?;
    for name in &done.left_out {
        output::problem(&format!(
            "`{name}` is not in the backup: it is a link, something mounted there, the disk's `lost+found`, or no plain \
             file"
        ));
    }
    tell_lost(&done.lost_versions, "below core/versions, and not in the backup");
    output::note(&format!(
        "{} holds {} rows and {} files of one moment, {} KB. Keep it as you keep the store: it holds password hashes \
         and the secrets of config.json.",
        arguments.to.display(),
        done.rows,
        done.files,
        done.bytes.div_ceil(1024)
    ));
    Ok(())
}

/// Restores a store.
pub(super) fn restore(arguments: &StoreRestore) -> Result<()> {
    let options = RestoreOptions {
        from: arguments.from.clone(),
        database: arguments.database.clone(),
        replace: arguments.replace,
    };
    let mut progress = Progress::new();
    let done = maintenance::restore(&arguments.root, &options, &mut watch(&mut progress));
    progress.clear();
    let done = done?;
    if let Some(file) = &done.set_aside {
        output::note(&format!("The database file was damaged; it is kept as {}.", file.display()));
    }
    tell_lost(&done.lost_versions, "and was not in the backup");
    output::note(&format!(
        "`{}` is as it was at {}: {} rows, every one compared with the backup, and {} files.",
        done.store, done.made, done.rows, done.files
    ));
    tell_closed(&arguments.root, done.is_closed, done.engine_runs);
    Ok(())
}
