//! A table comes into the store: looked through, read row by row, all of it or nothing.

use std::path::{Path, PathBuf};

use db::{Db, Tx, Value, exchange, rows};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;
use shop::money::Currency;

use super::amount::Sign;
use super::apply::Importer;
use super::broken::Broken;
use super::csv::Records;
use super::encoding::{Encoding, Look, look};
use super::goods::Goods;
use super::layout::{Ground, Head, Layout, Row};
use super::lookups::Lookups;
use super::pictures::Pictures;
use super::pieces::Place;
use super::problem::Code;
use super::report::{ImportError, Report};
use super::{price_list, shopify, sniff, woocommerce};
use crate::settings::{Config, Settings};

/// By how many per cent a price may change unseen: what more than halves it, or half as much again, is looked at.
pub const JUMP: u32 = 50;
/// Rows of one product at most.
const MOST_ROWS: usize = 5000;

/// How a table is taken.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Its layout, where the header row shall not decide.
    pub layout: Option<Layout>,
    /// Its encoding, where the content shall not decide.
    pub encoding: Option<Encoding>,
    /// The sign of its decimals, where amounts alone do not tell.
    pub decimal: Option<Sign>,
    /// Only what would happen is told.
    pub is_check: bool,
    /// The table says what visitors see; without it new products are drafts and others stay what they are.
    pub publishes: bool,
    /// The folder of pictures.
    pub pictures: Option<PathBuf>,
    /// The key of the supplier whose price list it is.
    pub supplier: Option<String>,
    /// By how many per cent a price may change unseen; [`JUMP`] where nobody says.
    pub jump: Option<u32>,
    /// What a look told: it is done only if it is what the look saw, jumps of prices too.
    pub token: Option<String>,
}

impl Options {
    pub(super) fn percent(&self) -> u32 {
        self.jump.unwrap_or(JUMP)
    }
}

/// Told how many bytes of how many are done; may stop.
pub(super) type Watch<'a> = &'a mut dyn FnMut(u64, u64) -> std::ops::ControlFlow<()>;

/// Takes a table into the store at `root`, whole or not at all: what is wrong with any row is told, and then nothing is
/// changed.
pub fn import(
    db: &Db,
    root: &Path,
    file: &Path,
    options: &Options,
    now: Timestamp,
    watch: Watch<'_>,
) -> Result<Report, ImportError> {
    let config = Settings::read(root)?.config;
    let look = look(file, options.encoding)?;
    let delimiter = sniff::delimiter(file, look.encoding)?;
    let mut records = Records::open(file, look.encoding, delimiter).map_err(Broken::from)?;
    let head = Head::new(records.next()?.ok_or(Broken::Empty)?);
    let layout = match options.layout {
        Some(layout) => layout,
        None => head.layout()?,
    };
    whole(&head, layout)?;
    let table = Table { file, look: &look, delimiter, head: &head, layout };
    let done = db.write(|tx| {
        let mut report = run(tx, root, &config, &table, records, options, now, watch)?;
        report.add(&(&table.look.sha256, options.publishes, &options.supplier, report.pictures));
        if let Some(token) = options.token.as_ref().filter(|_| report.problem_count == 0)
            && *token != report.token()
        {
            return Err(ImportError::Stale);
        }
        let waits = report.jump_count > 0 && options.token.is_none();
        if options.is_check || waits || report.problem_count > 0 {
            return Err(ImportError::TakenBack(Box::new(report)));
        }
        if !report.changes_nothing() {
            write_down(tx, &table, &report, now)?;
        }
        Ok(report)
    });
    match done {
        Err(ImportError::TakenBack(report)) => {
            if !options.is_check && report.problem_count > 0 {
                db.write(|tx| write_down(tx, &table, &report, now))?;
            }
            Ok(*report)
        }
        other => other,
    }
}

/// A file, as far as a look told.
struct Table<'a> {
    file: &'a Path,
    look: &'a Look,
    delimiter: char,
    head: &'a Head,
    layout: Layout,
}

fn whole(head: &Head, layout: Layout) -> Result<(), Broken> {
    let (is_whole, column) = match layout {
        Layout::Shopify => (shopify::is_whole(head), "Handle"),
        Layout::WooCommerce => (woocommerce::is_whole(head), "Type"),
        Layout::PriceList => (price_list::is_whole(head), "Article"),
    };
    if is_whole { Ok(()) } else { Err(Broken::NoColumn(column)) }
}

#[allow(clippy::too_many_arguments, reason = "what one import needs, said once")]
fn run(
    tx: &mut Tx,
    root: &Path,
    config: &Config,
    table: &Table<'_>,
    mut records: Records,
    options: &Options,
    now: Timestamp,
    watch: Watch<'_>,
) -> Result<Report, ImportError> {
    let decimals = Currency::find(&config.currency).map_or(2, |currency| currency.decimals);
    let zone = TimeZone::get(&config.time_zone).unwrap_or(TimeZone::UTC);
    let ground = Ground { decimals, sign: options.decimal, zone };
    let mut watch = |records: &Records| match watch(records.done(), table.look.bytes) {
        std::ops::ControlFlow::Continue(()) => Ok(()),
        std::ops::ControlFlow::Break(()) => Err(ImportError::Stopped),
    };
    if table.layout == Layout::PriceList {
        let supplier = options.supplier.as_deref().ok_or(ImportError::NoSupplier)?;
        let way = price_list::Way { config, supplier, percent: options.percent() };
        return price_list::take(tx, &way, table.head, &ground, &mut records, now, &mut watch);
    }
    let folder = options.pictures.as_deref().map(std::fs::canonicalize).transpose();
    let place = Place {
        list: exchange::main_list(tx, &config.currency)?
            .ok_or(ImportError::Missing("price list in its currency"))?,
        location: exchange::main_location(tx)?.ok_or(ImportError::Missing("location for stock"))?,
        currency: config.currency.clone(),
        percent: options.percent(),
        now,
    };
    let mut importer = Importer {
        language: &config.language,
        place,
        pictures: Pictures {
            root,
            folder: folder.map_err(ImportError::Folder)?,
            url: config.url.trim_end_matches('/'),
            is_check: options.is_check,
        },
        publishes: options.publishes,
        lookups: Lookups::new(&config.language, now),
        parents: Default::default(),
        report: Report::default(),
        counted_same: None,
    };
    match table.layout {
        Layout::Shopify => of_shopify(tx, &mut importer, table, &ground, &mut records, &mut watch)?,
        _ => of_woocommerce(tx, &mut importer, table, &ground, &mut records, &mut watch)?,
    }
    Ok(importer.report)
}

type Told<'a> = &'a mut dyn FnMut(&Records) -> Result<(), ImportError>;

/// Products of rows that stand together under one handle.
fn of_shopify(
    tx: &mut Tx,
    importer: &mut Importer<'_>,
    table: &Table<'_>,
    ground: &Ground,
    records: &mut Records,
    told: Told<'_>,
) -> Result<(), ImportError> {
    let mut current: Option<(String, Goods)> = None;
    let (mut names, mut is_sound, mut count) = (Vec::new(), true, 0);
    while let Some(record) = records.next()? {
        importer.report.rows += 1;
        let mut row = Row::new(table.head, ground, &record);
        let Some(handle) = shopify::handle(&row).map(str::to_owned) else {
            importer.report.keyless += 1;
            continue;
        };
        if current.as_ref().is_none_or(|(known, _)| *known != handle) {
            told(records)?;
            finish(tx, importer, current.take(), is_sound)?;
            (names, is_sound, count) = (Vec::new(), true, 0);
        }
        count += 1;
        let (_, goods) = current.get_or_insert_with(|| (handle.clone(), shopify::begin(&mut row, &handle)));
        if count > MOST_ROWS {
            if count == MOST_ROWS + 1 {
                row.problem("Handle", Code::TooManyRows, &handle);
            }
        } else {
            shopify::add(&mut row, goods, &mut names);
        }
        is_sound &= row.problems.is_empty();
        importer.report.note_all(row.problems);
    }
    finish(tx, importer, current, is_sound)
}

fn finish(
    tx: &mut Tx,
    importer: &mut Importer<'_>,
    current: Option<(String, Goods)>,
    is_sound: bool,
) -> Result<(), ImportError> {
    if let Some((_, goods)) = current.filter(|_| is_sound) {
        importer.bring(tx, &goods)?;
    }
    Ok(())
}

/// Products and variations, each in a row.
fn of_woocommerce(
    tx: &mut Tx,
    importer: &mut Importer<'_>,
    table: &Table<'_>,
    ground: &Ground,
    records: &mut Records,
    told: Told<'_>,
) -> Result<(), ImportError> {
    let options = options_of(table, ground)?;
    while let Some(record) = records.next()? {
        importer.report.rows += 1;
        if importer.report.rows.is_multiple_of(100) {
            told(records)?;
        }
        let mut row = Row::new(table.head, ground, &record);
        if row.cell(&["id", "sku", "parent"]).is_none() {
            importer.report.keyless += 1;
            continue;
        }
        match woocommerce::kind(&mut row) {
            Some(woocommerce::Kind::Variation) => variation(tx, importer, &mut row)?,
            Some(kind) => {
                let is_variable = matches!(kind, woocommerce::Kind::Variable);
                let goods = woocommerce::product(&mut row, is_variable, &options);
                if row.problems.is_empty()
                    && let Some(id) = importer.bring(tx, &goods)?
                {
                    for name in woocommerce::own_names(&row) {
                        importer.parents.insert(name, id);
                    }
                }
            }
            None => {}
        }
        importer.report.note_all(row.problems);
    }
    Ok(())
}

/// The first look through a table of WooCommerce: which attributes are options.
fn options_of(table: &Table<'_>, ground: &Ground) -> Result<woocommerce::Options, ImportError> {
    let mut options = woocommerce::Options::new();
    let mut records =
        Records::open(table.file, table.look.encoding, table.delimiter).map_err(Broken::from)?;
    records.next()?;
    while let Some(record) = records.next()? {
        let mut row = Row::new(table.head, ground, &record);
        if matches!(woocommerce::kind(&mut row), Some(woocommerce::Kind::Variation)) {
            woocommerce::learn(&row, &mut options);
        }
    }
    Ok(options)
}

fn variation(tx: &mut Tx, importer: &mut Importer<'_>, row: &mut Row<'_>) -> Result<(), ImportError> {
    let parent = woocommerce::parent(row).unwrap_or_default();
    let Some(product) = importer.parents.get(&parent).copied() else {
        row.problem("Parent", Code::NoParent, &parent);
        return Ok(());
    };
    let piece = woocommerce::variation(row);
    if !row.problems.is_empty() {
        return Ok(());
    }
    let before = importer.report.problem_count;
    let mut goods = Goods::new(row.record.line, super::goods::Key::Handle(String::new()));
    goods.pictures = woocommerce::pictures(row);
    let is_changed = importer.pieces(tx, product, std::slice::from_ref(&piece))?
        | importer.pictures(tx, product, &goods)?;
    if importer.report.problem_count == before && is_changed {
        db::listing::changed(tx, "products", product, importer.place.now)?;
        importer.variation_changed(product);
    }
    Ok(())
}

/// What came of a table stands in the store's own tables, with what was wrong.
fn write_down(tx: &mut Tx, table: &Table<'_>, report: &Report, now: Timestamp) -> Result<(), ImportError> {
    let kind = match table.layout {
        Layout::Shopify => "shopify",
        Layout::WooCommerce => "woocommerce",
        Layout::PriceList => "price_list",
    };
    let name = table.file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let counts = json!({
        "rows": report.rows, "new": report.new, "changed": report.changed, "same": report.same,
        "keyless": report.keyless, "unmatched": report.unmatched, "pictures": report.pictures,
        "missing_pictures": report.missing_pictures, "problems": report.problem_count,
    });
    let state = if report.problem_count > 0 { "kFailed" } else { "kDone" };
    let time = db::micros(now);
    let row: [(&str, Value); 7] = [
        ("kind", kind.into()),
        ("state", state.into()),
        ("file_name", name.into()),
        ("sha256", (&table.look.sha256).into()),
        ("counts", counts.to_string().into()),
        ("created", (&time).into()),
        ("changed", (&time).into()),
    ];
    let id = rows::insert(tx, "imports", &row)?;
    let columns = ["import_id", "line", "column_name", "code", "value"];
    let problems: Vec<Vec<Value>> = report
        .problems
        .iter()
        .map(|problem| {
            let line = i64::try_from(problem.line).unwrap_or(i64::MAX);
            let value: String = problem.value.chars().take(500).collect();
            vec![id.into(), line.into(), (&problem.column).into(), problem.code.key().into(), value.into()]
        })
        .collect();
    rows::insert_many(tx, "import_rows", &columns, &problems)?;
    Ok(())
}
