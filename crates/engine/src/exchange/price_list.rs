//! A supplier's price list: what they offer under their article numbers, and which variant of the store it is.
//!
//! A choice that somebody made stays. Else GTIN, then brand with the manufacturer's
//! number, then the article number of the store decide; what fits nothing waits.

use db::{Tx, Value, exchange, rows};
use jiff::Timestamp;
use shop::money::Currency;
use shop::text::folded;

use super::amount;
use super::csv::Records;
use super::layout::{ARTICLE, COST, Ground, Head, Row};
use super::problem::{Code, Jump};
use super::report::{ImportError, Report};
use crate::settings::Config;

const NAME: [&str; 6] = ["name", "title", "description", "наименование", "название", "номенклатура"];
const BRAND: [&str; 5] = ["brand", "manufacturer", "vendor", "бренд", "производитель"];
const MPN: [&str; 4] = ["mpn", "manufacturer number", "manufacturer part number", "артикул производителя"];
const GTIN: [&str; 6] = ["gtin", "ean", "upc", "barcode", "штрихкод", "штрих-код"];
const SKU: [&str; 3] = ["sku", "our sku", "наш артикул"];
const CURRENCY: [&str; 2] = ["currency", "валюта"];
const QUANTITY: [&str; 7] = ["quantity", "qty", "stock", "available", "количество", "остаток", "наличие"];

/// Whether a table of this layout can be read.
pub(super) fn is_whole(head: &Head) -> bool {
    head.has(&ARTICLE)
}

/// Whose price list it is, and how it is taken.
pub(super) struct Way<'a> {
    pub(super) config: &'a Config,
    /// The supplier's key.
    pub(super) supplier: &'a str,
    /// By how many per cent a price may change unseen.
    pub(super) percent: u32,
}

/// One offer.
struct Offer {
    line: u64,
    article: String,
    name: String,
    brand: String,
    mpn: String,
    gtin: String,
    sku: Option<String>,
    cost: Option<i64>,
    currency: String,
    quantity: Option<i64>,
}

/// Takes all offers of a price list.
pub(super) fn take(
    tx: &mut Tx,
    way: &Way<'_>,
    head: &Head,
    ground: &Ground,
    records: &mut Records,
    now: Timestamp,
    told: &mut dyn FnMut(&Records) -> Result<(), ImportError>,
) -> Result<Report, ImportError> {
    let mut report = Report::default();
    let key = way.supplier;
    let supplier = match exchange::supplier(tx, key)? {
        Some(id) => id,
        None => rows::insert(tx, "suppliers", &[("skey", key.into()), ("name", key.into())])?,
    };
    while let Some(record) = records.next()? {
        report.rows += 1;
        if report.rows.is_multiple_of(100) {
            told(records)?;
        }
        let mut row = Row::new(head, ground, &record);
        let offer = offer(&mut row, way.config);
        let is_sound = row.problems.is_empty();
        report.note_all(row.problems);
        match offer {
            Some(offer) if is_sound => bring(tx, (supplier, way.percent), &offer, now, &mut report)?,
            Some(_) => {}
            None => report.keyless += u64::from(is_sound),
        }
    }
    Ok(report)
}

fn offer(row: &mut Row<'_>, config: &Config) -> Option<Offer> {
    let article = row.code(&ARTICLE)?;
    let currency = row.text(&CURRENCY).map_or_else(|| config.currency.clone(), str::to_uppercase);
    let Some(known) = Currency::find(&currency) else {
        let (column, text) = row.cell(&CURRENCY).unwrap_or_default();
        row.problem(column, Code::UnknownCurrency, text);
        return None;
    };
    let sign = row.ground.sign;
    let cost = row.read(&COST, |text| amount::price(text, known.decimals, sign));
    let text = |row: &Row<'_>, names: &[&str]| row.owned(names).unwrap_or_default();
    Some(Offer {
        line: row.record.line,
        name: text(row, &NAME),
        brand: text(row, &BRAND),
        mpn: row.code(&MPN).unwrap_or_default(),
        gtin: row.code(&GTIN).unwrap_or_default(),
        sku: row.code(&SKU),
        quantity: row.read(&QUANTITY, pieces),
        article,
        cost,
        currency,
    })
}

/// How many they have: `10`, `> 10`, `10+`.
fn pieces(text: &str) -> Result<i64, Code> {
    amount::whole(text.trim_matches(|letter: char| letter == '>' || letter == '+' || letter.is_whitespace()))
        .and_then(|count| if count < 0 { Err(Code::NotNumber) } else { Ok(count) })
}

fn bring(
    tx: &mut Tx,
    (supplier, percent): (i64, u32),
    offer: &Offer,
    now: Timestamp,
    report: &mut Report,
) -> Result<(), ImportError> {
    let key = folded(&offer.article);
    let known = exchange::supplier_item(tx, supplier, &key)?;
    let variant = match known.as_ref().and_then(|known| known.variant_id) {
        Some(chosen) => Some(chosen),
        None => matching(tx, offer)?,
    };
    report.unmatched += u64::from(variant.is_none());
    let keep = |new: &str, old: Option<&str>| match (new, old) {
        ("", Some(old)) => old.to_owned(),
        (new, _) => new.to_owned(),
    };
    let old = known.as_ref();
    let name = keep(&offer.name, old.map(|old| old.name.as_str()));
    let brand = keep(&offer.brand, old.map(|old| old.brand.as_str()));
    let mpn = keep(&offer.mpn, old.map(|old| old.mpn.as_str()));
    let gtin = keep(&offer.gtin, old.map(|old| old.gtin.as_str()));
    let cost = offer.cost.or_else(|| old.and_then(|old| old.cost));
    let quantity = offer.quantity.or_else(|| old.and_then(|old| old.quantity));
    let is_same = old.is_some_and(|old| {
        (&old.name, &old.brand, &old.mpn, &old.gtin) == (&name, &brand, &mpn, &gtin)
            && (old.variant_id, old.cost, old.quantity) == (variant, cost, quantity)
            && old.currency.as_ref() == Some(&offer.currency)
    });
    report.count(old.is_none(), !is_same);
    if is_same {
        return Ok(());
    }
    let of_currency = old.filter(|old| old.currency.as_ref() == Some(&offer.currency));
    if let (Some(before), Some(after)) = (of_currency.and_then(|old| old.cost), cost) {
        let (article, currency) = (offer.article.clone(), offer.currency.clone());
        report.note_price(percent, Jump { line: offer.line, article, what: "cost", before, after, currency });
    }
    let row: Vec<(&str, Value)> = vec![
        ("name", name.into()),
        ("brand", brand.into()),
        ("mpn", mpn.into()),
        ("gtin", gtin.into()),
        ("variant_id", variant.into()),
        ("cost", cost.into()),
        ("currency", (&offer.currency).into()),
        ("quantity", quantity.into()),
        ("seen", db::micros(now).into()),
    ];
    match old {
        Some(old) => {
            rows::update(tx, "supplier_items", old.id, None, &row, now)?;
        }
        None => {
            let mut row = row;
            row.push(("supplier_id", supplier.into()));
            row.push(("article", (&offer.article).into()));
            row.push(("article_folded", key.into()));
            rows::insert(tx, "supplier_items", &row)?;
        }
    }
    if let (Some(variant), Some(cost)) = (variant, cost) {
        let row: [(&str, Value); 2] = [("cost", cost.into()), ("cost_currency", (&offer.currency).into())];
        rows::update(tx, "variants", variant, None, &row, now)?;
    }
    Ok(())
}

fn matching(tx: &mut Tx, offer: &Offer) -> Result<Option<i64>, ImportError> {
    if !offer.gtin.is_empty()
        && let Some(variant) = exchange::of_gtin(tx, &offer.gtin)?
    {
        return Ok(Some(variant));
    }
    if !offer.mpn.is_empty()
        && !offer.brand.is_empty()
        && let Some(variant) = exchange::of_mpn(tx, &folded(&offer.brand), &offer.mpn)?
    {
        return Ok(Some(variant));
    }
    let Some(sku) = &offer.sku else { return Ok(None) };
    Ok(exchange::of_sku(tx, &folded(sku))?.map(|(variant, _)| variant))
}
