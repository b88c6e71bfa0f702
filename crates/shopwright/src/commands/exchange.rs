//! `store import`, `store export`: goods from and to tables of other shops and suppliers.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use engine::exchange::{self, Encoding, Layout, Options, Report, Sign};
use engine::store;
use jiff::Timestamp;

use crate::cli::{ExchangeEncoding, ExchangeFormat, ExchangeSign, ExportFormat, StoreExport, StoreImport};
use crate::exit::Exit;
use crate::output;
use crate::progress::Progress;

/// Problems, and jumps of prices, that are printed.
const MOST: usize = 100;

/// Takes a table into the store.
pub(super) fn import(arguments: &StoreImport) -> Result<Exit> {
    let options = Options {
        layout: arguments.format.map(|format| match format {
            ExchangeFormat::Shopify => Layout::Shopify,
            ExchangeFormat::Woocommerce => Layout::WooCommerce,
            ExchangeFormat::Prices => Layout::PriceList,
        }),
        encoding: arguments.encoding.map(|encoding| match encoding {
            ExchangeEncoding::Utf8 => Encoding::Utf8,
            ExchangeEncoding::Utf16le => Encoding::Utf16Le,
            ExchangeEncoding::Utf16be => Encoding::Utf16Be,
            ExchangeEncoding::Windows1251 => Encoding::Windows1251,
            ExchangeEncoding::Windows1252 => Encoding::Windows1252,
        }),
        decimal: arguments.decimal.map(|sign| match sign {
            ExchangeSign::Comma => Sign::Comma,
            ExchangeSign::Point => Sign::Point,
        }),
        is_check: arguments.check,
        publishes: arguments.publish,
        pictures: arguments.pictures.clone(),
        supplier: arguments.supplier.clone(),
        jump: Some(arguments.jump),
        token: arguments.token.clone(),
    };
    let db = store::open_db(&arguments.root)?;
    let mut progress = Progress::new();
    let mut watch = |done, all| progress.at("Importing", "rows", done, all);
    let report =
        exchange::import(&db, &arguments.root, &arguments.file, &options, Timestamp::now(), &mut watch);
    progress.clear();
    let report = report?;
    tell(&report);
    list(&report.jumps, report.jump_count);
    list(&report.problems, report.problem_count);
    if report.problem_count > 0 {
        output::note("Nothing was changed.");
        return Ok(Exit::Refused);
    }
    if arguments.check {
        output::line(&format!("{:20} {}", "token", report.token()));
        output::note("Nothing was changed: this was a look only.");
        return Ok(Exit::Done);
    }
    if report.jump_count > 0 && arguments.token.is_none() {
        output::note(&format!(
            "Nothing was changed: prices change by more than {} per cent. Look with --check, then take it with the --token it tells.",
            arguments.jump
        ));
        return Ok(Exit::Refused);
    }
    output::note("Done.");
    Ok(Exit::Done)
}

/// What somebody should read, a line each.
fn list<T: ToString>(kept: &[T], count: u64) {
    for one in kept.iter().take(MOST) {
        output::problem(&one.to_string());
    }
    let rest = count.saturating_sub(MOST as u64);
    if rest > 0 {
        output::problem(&format!("and {rest} more"));
    }
}

fn tell(report: &Report) {
    let counts = [
        ("rows", report.rows),
        ("new", report.new),
        ("changed", report.changed),
        ("as they were", report.same),
        ("without a key", report.keyless),
        ("of no variant yet", report.unmatched),
        ("new pictures", report.pictures),
        ("pictures not found", report.missing_pictures),
        ("price jumps", report.jump_count),
        ("problems", report.problem_count),
    ];
    for (name, count) in counts.into_iter().filter(|(name, count)| *count > 0 || *name == "rows") {
        output::line(&format!("{name:20} {count:>9}"));
    }
}

/// Writes the store's products into a table.
pub(super) fn export(arguments: &StoreExport) -> Result<()> {
    let layout = match arguments.format {
        ExportFormat::Shopify => Layout::Shopify,
        ExportFormat::Woocommerce => Layout::WooCommerce,
    };
    let db = store::open_db(&arguments.root)?;
    let fresh = fresh_name(&arguments.to)?;
    let file =
        File::create_new(&fresh).with_context(|| format!("`{}` cannot be written", fresh.display()))?;
    let mut out = BufWriter::new(file);
    let mut progress = Progress::new();
    let mut watch = |done, all| progress.at("Exporting", "products", done, all);
    let written = exchange::export(&db, &arguments.root, layout, &mut out, &mut watch);
    progress.clear();
    let whole = written.map_err(anyhow::Error::from).and_then(|written| {
        out.flush()?;
        out.get_ref().sync_all()?;
        fs::rename(&fresh, &arguments.to)?;
        Ok(written)
    });
    let written = match whole {
        Ok(written) => written,
        Err(error) => {
            // It is not whole, and of no use to anybody.
            let _ = fs::remove_file(&fresh);
            return Err(error);
        }
    };
    output::note(&format!("{} products.", written.products));
    if written.left_out > 0 {
        output::note(&format!(
            "{} were left out: they have no article number or address to be known by, or more options than the layout.",
            written.left_out
        ));
    }
    Ok(())
}

/// A name beside the file, for as long as it is not whole.
fn fresh_name(to: &Path) -> Result<PathBuf> {
    let Some(name) = to.file_name() else { bail!("`{}` is no name of a file", to.display()) };
    let mut fresh = std::ffi::OsString::from(".");
    fresh.push(name);
    fresh.push(format!(".{}", std::process::id()));
    Ok(to.with_file_name(fresh))
}
