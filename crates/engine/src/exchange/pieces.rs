//! Variants of a product: found by article number or options, made, and changed where the file says something else.

use db::exchange::{self, OptionValue, Piece as Known};
use db::prices::NewPrice;
use db::{DbError, Tx, Value, prices, rows, stock};
use jiff::Timestamp;
use shop::text::{folded, option_key};

use super::goods::{Piece, Sale};
use super::problem::{Code, Jump, Problem};
use super::report::Report;

/// Where prices and stock of a table go.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) list: i64,
    pub(super) location: i64,
    pub(super) currency: String,
    /// By how many per cent a price may change unseen.
    pub(super) percent: u32,
    pub(super) now: Timestamp,
}

/// Brings variants to what a table says; whether anything changed.
pub(super) fn bring(
    tx: &mut Tx,
    place: &Place,
    (product, decimals): (i64, i64),
    wanted: &[Piece],
    report: &mut Report,
) -> Result<bool, DbError> {
    let mut known = exchange::pieces(tx, product, place.list, place.location)?;
    let mut options = exchange::options_of(tx, product)?;
    let mut is_changed = false;
    for piece in wanted {
        let problem = |column: &str, code, value: &str| Problem {
            line: piece.line,
            column: column.to_owned(),
            code,
            value: value.to_owned(),
        };
        if let Some(sku) = &piece.sku
            && let Some((_, owner)) = exchange::of_sku(tx, &folded(sku))?
            && owner != product
        {
            report.note(problem("SKU", Code::ForeignSku, sku));
            continue;
        }
        let (found, is_new_value) = match values(tx, product, piece, &mut options, known.is_empty())? {
            Some(found) => found,
            None => {
                let words: Vec<String> =
                    piece.options.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                report.note(problem("Options", Code::OtherOptions, &words.join(", ")));
                continue;
            }
        };
        is_changed |= is_new_value;
        let ids: Vec<i64> = found.iter().map(|(_, value)| *value).collect();
        let key = option_key(&ids);
        let sku = piece.sku.as_deref().map(folded);
        let by_sku = known.iter().position(|known| sku.is_some() && known.sku.as_deref().map(folded) == sku);
        let at = by_sku.or_else(|| known.iter().position(|known| known.option_key == key));
        let mut variant = match at.and_then(|at| known.get(at)) {
            Some(variant) if variant.option_key != key => {
                report.note(problem("Options", Code::OtherOptions, piece.sku.as_deref().unwrap_or_default()));
                continue;
            }
            Some(variant) => variant.clone(),
            None => {
                let made = make(tx, product, &key, &found, known.len())?;
                is_changed = true;
                known.push(made.clone());
                made
            }
        };
        let before = (variant.sku.clone(), variant.gtin.clone(), variant.on_hand);
        let is_other = change(tx, &mut variant, piece, place)?
            | price(tx, &mut variant, piece, place, report)?
            | count(tx, &mut variant, piece, decimals, place)?;
        if is_other {
            report.add(&before);
        }
        is_changed |= is_other;
        if let Some(slot) = known.iter_mut().find(|known| known.id == variant.id) {
            *slot = variant;
        }
    }
    Ok(is_changed)
}

type Values = (Vec<(i64, i64)>, bool);

/// The values of a variant's options, made where they are missing, and whether any was; `None` where the product has
/// other options. A product without variants gets the options of the first.
fn values(
    tx: &mut Tx,
    product: i64,
    piece: &Piece,
    options: &mut Vec<OptionValue>,
    is_first: bool,
) -> Result<Option<Values>, DbError> {
    let mut names: Vec<String> = Vec::new();
    for name in options.iter().map(|option| folded(&option.option_name)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut is_new = false;
    if is_first && names.is_empty() {
        for (position, (name, _)) in (0_i64..).zip(&piece.options) {
            let values =
                [("product_id", product.into()), ("name", name.into()), ("position", position.into())];
            let option_id = rows::insert(tx, "product_options", &values)?;
            let option_name = name.clone();
            options.push(OptionValue { option_id, option_name, value_id: None, value_name: None });
            names.push(folded(name));
            is_new = true;
        }
    }
    if names.len() != piece.options.len() {
        return Ok(None);
    }
    let mut found = Vec::new();
    for (name, value) in &piece.options {
        let of: Vec<&OptionValue> =
            options.iter().filter(|known| folded(&known.option_name) == folded(name)).collect();
        let Some(first) = of.first() else { return Ok(None) };
        let option_id = first.option_id;
        let same = |known: &&&OptionValue| known.value_name.as_deref().map(folded) == Some(folded(value));
        if let Some(id) = of.iter().find(same).and_then(|known| known.value_id) {
            found.push((option_id, id));
            continue;
        }
        let position = i64::try_from(of.len()).unwrap_or_default();
        let option_name = first.option_name.clone();
        let row = [("option_id", option_id.into()), ("name", value.into()), ("position", position.into())];
        let id = rows::insert(tx, "product_option_values", &row)?;
        options.push(OptionValue {
            option_id,
            option_name,
            value_id: Some(id),
            value_name: Some(value.clone()),
        });
        found.push((option_id, id));
        is_new = true;
    }
    Ok(Some((found, is_new)))
}

fn make(
    tx: &mut Tx,
    product: i64,
    key: &str,
    found: &[(i64, i64)],
    position: usize,
) -> Result<Known, DbError> {
    let position = i64::try_from(position).unwrap_or_default();
    let row: [(&str, Value); 3] =
        [("product_id", product.into()), ("option_key", key.into()), ("position", position.into())];
    let id = rows::insert(tx, "variants", &row)?;
    for (option, value) in found {
        let pair: [(&str, Value); 3] =
            [("variant_id", id.into()), ("option_id", (*option).into()), ("value_id", (*value).into())];
        rows::insert(tx, "variant_values", &pair)?;
    }
    Ok(Known {
        id,
        sku: None,
        gtin: None,
        option_key: key.to_owned(),
        weight: None,
        length: None,
        width: None,
        height: None,
        tracked: true,
        backorder: Some(0),
        cost: None,
        cost_currency: None,
        amount: None,
        compare_at: None,
        on_hand: 0,
    })
}

/// Sets a field where the table says another value, and notes the column.
fn set<T: Clone + PartialEq + Into<Value>>(
    field: &mut T,
    wanted: Option<T>,
    column: &'static str,
    row: &mut Vec<(&'static str, Value)>,
) {
    if let Some(wanted) = wanted
        && *field != wanted
    {
        row.push((column, wanted.clone().into()));
        *field = wanted;
    }
}

fn change(tx: &mut Tx, known: &mut Known, piece: &Piece, place: &Place) -> Result<bool, DbError> {
    let mut row = Vec::new();
    if piece.sku.is_some() && piece.sku != known.sku {
        row.push(("sku_folded", piece.sku.as_deref().map(folded).into()));
    }
    set(&mut known.sku, piece.sku.clone().map(Some), "sku", &mut row);
    set(&mut known.gtin, piece.gtin.clone().map(Some), "gtin", &mut row);
    set(&mut known.weight, piece.weight.map(Some), "weight", &mut row);
    set(&mut known.length, piece.length.map(Some), "length", &mut row);
    set(&mut known.width, piece.width.map(Some), "width", &mut row);
    set(&mut known.height, piece.height.map(Some), "height", &mut row);
    set(&mut known.tracked, piece.is_tracked, "tracked", &mut row);
    set(&mut known.backorder, piece.backorder, "backorder", &mut row);
    if let Some(cost) = piece.cost {
        set(&mut known.cost, Some(Some(cost)), "cost", &mut row);
        set(&mut known.cost_currency, Some(Some(place.currency.clone())), "cost_currency", &mut row);
    }
    if row.is_empty() {
        return Ok(false);
    }
    rows::update(tx, "variants", known.id, None, &row, place.now)?;
    Ok(true)
}

fn price(
    tx: &mut Tx,
    known: &mut Known,
    piece: &Piece,
    place: &Place,
    report: &mut Report,
) -> Result<bool, DbError> {
    let Some(amount) = piece.amount.or(known.amount) else { return Ok(false) };
    // A price before the reduction is above the price, or it is none.
    let compare_at = piece.compare_at.or(known.compare_at).filter(|before| *before > amount);
    let new = |amount, compare_at, valid_from, valid_until| NewPrice {
        list_id: place.list,
        variant_id: known.id,
        min_quantity: 1,
        amount,
        compare_at,
        valid_from,
        valid_until,
    };
    let mut told = |what, before, after| {
        let article = known.sku.clone().unwrap_or_default();
        let currency = place.currency.clone();
        report.note_price(place.percent, Jump { line: piece.line, article, what, before, after, currency });
    };
    let mut is_changed = false;
    if (known.amount, known.compare_at) != (Some(amount), compare_at) {
        told("price", known.amount.unwrap_or_default(), amount);
        prices::set(tx, &new(amount, compare_at, None, None), None, place.now)?;
        is_changed = true;
    }
    if let Some(Sale { amount: lower, from, until }) = piece.sale {
        let from = from.unwrap_or(Timestamp::UNIX_EPOCH);
        let there = exchange::sale(tx, place.list, known.id)?;
        let is_same = there.as_ref().is_some_and(|there| {
            there.amount == lower
                && is_second(there.valid_from.as_deref(), Some(from))
                && is_second(there.valid_until.as_deref(), until)
        });
        if !is_same && until.is_none_or(|until| until > from) {
            told("sale price", there.map_or(amount, |there| there.amount), lower);
            let before = Some(amount).filter(|before| *before > lower);
            prices::set(tx, &new(lower, before, Some(from), until), None, place.now)?;
            is_changed = true;
        }
    }
    (known.amount, known.compare_at) = (Some(amount), compare_at);
    Ok(is_changed)
}

/// Whether a kept moment is in the same second as one of a table, which knows no parts of seconds.
fn is_second(kept: Option<&str>, told: Option<Timestamp>) -> bool {
    match (kept.map(str::parse::<Timestamp>), told) {
        (None, None) => true,
        (Some(Ok(kept)), Some(told)) => kept.as_second() == told.as_second(),
        _ => false,
    }
}

/// Of how many parts a piece is that is measured with so many digits behind the point.
pub(super) fn parts_of_piece(decimals: i64) -> i64 {
    u32::try_from(decimals).ok().and_then(|decimals| 10_i64.checked_pow(decimals)).unwrap_or(1)
}

/// Brings the count of pieces to what the table says: the difference is a correction.
fn count(
    tx: &mut Tx,
    known: &mut Known,
    piece: &Piece,
    decimals: i64,
    place: &Place,
) -> Result<bool, DbError> {
    let Some(wanted) = piece.stock.map(|stock| stock.saturating_mul(parts_of_piece(decimals))) else {
        return Ok(false);
    };
    let difference = wanted.saturating_sub(known.on_hand);
    if difference == 0 {
        return Ok(false);
    }
    let correction = stock::Move {
        variant_id: known.id,
        location_id: place.location,
        quantity: difference,
        kind: "kCorrect".to_owned(),
        source: None,
        reason: "import".to_owned(),
        author_id: None,
    };
    stock::add_move(tx, &correction, place.now)?;
    known.on_hand = wanted;
    Ok(true)
}
