//! What is promised, what came and went.

use std::collections::HashMap;

use jiff::Timestamp;
use shop::stock::{Backorder, LocationStock, OutOfStock, Taking, allocate};

use crate::id_list::Ids;
use crate::record::record;
use crate::{DbError, Tx, listing, micros, rows};

/// For whom something is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A cart, until its time is over.
    Cart(i64),
    /// A line of an order.
    Line(i64),
}

/// One wish: a variant for somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// For whom.
    pub holder: Holder,
    /// What.
    pub variant_id: i64,
    /// How many.
    pub quantity: i64,
    /// Until when; `None` until it is sent or cancelled.
    pub until: Option<Timestamp>,
}

/// Why nothing was reserved.
#[derive(Debug, thiserror::Error)]
pub enum ReserveError {
    /// There is not enough of this variant.
    #[error("variant {variant_id}: {cause}")]
    OutOfStock {
        /// The variant.
        variant_id: i64,
        /// What can be had.
        cause: OutOfStock,
    },
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// What came or went.
#[derive(Clone, Debug)]
pub struct Move {
    /// The variant.
    pub variant_id: i64,
    /// The location.
    pub location_id: i64,
    /// How many; below zero: went.
    pub quantity: i64,
    /// `kReceipt`, `kReturn`, `kCorrect`, `kTransfer`.
    pub kind: String,
    /// The line and document it belongs to: lands once.
    pub source: Option<String>,
    /// Why.
    pub reason: String,
    /// Who did it.
    pub author_id: Option<i64>,
}

record! {
    struct StockRow {
        id: i64,
        variant_id: i64,
        location_id: i64,
        on_hand: i64,
        reserved: i64,
        tracked: bool,
        backorder: Option<i64>,
        sells: bool,
    }
}

record! {
    struct Reserved {
        id: i64,
        variant_id: i64,
        location_id: i64,
        quantity: i64,
    }
}

/// Reserves everything or nothing: the caller's transaction must end with the error.
///
/// What somebody held of a variant before counts as theirs and is replaced. What
/// others hold for a time that is over is released first.
pub fn reserve(tx: &mut Tx, wishes: &[Wanted], now: Timestamp) -> Result<(), ReserveError> {
    let mut variants: Vec<_> = wishes.iter().map(|wish| wish.variant_id).collect();
    variants.sort_unstable();
    variants.dedup();
    hold_rows(tx, &variants)?;
    release_expired(tx, &variants, now)?;
    for wish in wishes {
        let own = held(tx, wish.holder, Some(wish.variant_id))?;
        give_back(tx, &own)?;
    }
    let mut stock = stock_rows(tx, &variants)?;
    for wish in wishes {
        take(tx, wish, stock.get_mut(&wish.variant_id).map_or(&mut [][..], Vec::as_mut_slice))?;
    }
    refresh(tx, &variants, now)?;
    Ok(())
}

/// Releases everything that somebody holds.
pub fn release(tx: &mut Tx, holder: Holder, now: Timestamp) -> Result<(), DbError> {
    let held = held(tx, holder, None)?;
    let variants: Vec<_> = held.iter().map(|held| held.variant_id).collect();
    hold_rows(tx, &variants)?;
    give_back(tx, &held)?;
    refresh(tx, &variants, now)
}

/// Releases so many of the pieces that a line holds; where it holds fewer, since nobody counts them, all of them.
pub fn release_pieces(tx: &mut Tx, order_line: i64, pieces: i64, now: Timestamp) -> Result<(), DbError> {
    let held = held(tx, Holder::Line(order_line), None)?;
    let variants: Vec<_> = held.iter().map(|held| held.variant_id).collect();
    hold_rows(tx, &variants)?;
    let mut left = pieces;
    for held in held {
        let quantity = held.quantity.min(left);
        left -= quantity;
        if quantity > 0 {
            give_back(tx, &[Reserved { quantity, ..held }])?;
        }
    }
    refresh(tx, &variants, now)
}

/// Releases what is held for a time that is over. Nobody needs it for selling: [`reserve`] does it by itself.
pub fn release_all_expired(tx: &mut Tx, now: Timestamp) -> Result<u64, DbError> {
    let rows = tx.rows(
        "select distinct variant_id from reservations where until <= :now order by variant_id limit 500",
        &[("now", micros(now).into())],
    )?;
    let variants = rows.iter().map(|row| row.get("variant_id")).collect::<Result<Vec<i64>, _>>()?;
    hold_rows(tx, &variants)?;
    let released = release_expired(tx, &variants, now)?;
    refresh(tx, &variants, now)?;
    Ok(released)
}

/// Sends so many pieces of an order's line: they leave both the shelf and the promise. `source` is the line of the
/// parcel. Pieces that nobody holds for the line are an error.
pub fn ship(
    tx: &mut Tx,
    order_line: i64,
    quantity: i64,
    source: &str,
    author: Option<i64>,
    now: Timestamp,
) -> Result<(), DbError> {
    let held = held(tx, Holder::Line(order_line), None)?;
    let variants: Vec<_> = held.iter().map(|held| held.variant_id).collect();
    hold_rows(tx, &variants)?;
    let mut left = quantity;
    for held in held {
        let part = held.quantity.min(left);
        if part == 0 {
            continue;
        }
        left -= part;
        give_back(tx, &[Reserved { quantity: part, ..held.clone() }])?;
        let sold = Move {
            variant_id: held.variant_id,
            location_id: held.location_id,
            quantity: -part,
            kind: "kSale".to_owned(),
            source: Some(format!("{source}@{}", held.location_id)),
            reason: String::new(),
            author_id: author,
        };
        record_move(tx, &sold, now)?;
    }
    if left > 0 {
        return Err(DbError::Dangling(format!("order line {order_line}: {left} pieces are not reserved")));
    }
    refresh(tx, &variants, now)
}

/// How many of a variant lie in a location; nobody else changes that before the transaction ends.
pub fn hold(tx: &mut Tx, variant: i64, location: i64) -> Result<i64, DbError> {
    let of = [("variant", variant.into()), ("location", location.into())];
    tx.run(
        "insert into stock (variant_id, location_id) values (:variant, :location)
         on conflict (variant_id, location_id) do nothing",
        &of,
    )?;
    let of_row = "from stock where variant_id = :variant and location_id = :location";
    let row = tx.row(&format!("select id {of_row}"), &of)?;
    let Some(row) = row else { return Ok(0) };
    tx.lock_row("stock", row.get("id")?)?;
    let row = tx.row(&format!("select on_hand {of_row}"), &of)?;
    row.map_or(Ok(0), |row| row.get("on_hand"))
}

/// Writes down what came or went. A source that was written down already is a [`DbError::Conflict`].
pub fn add_move(tx: &mut Tx, what: &Move, now: Timestamp) -> Result<(), DbError> {
    let sql = "insert into stock (variant_id, location_id) values (:variant, :location)
               on conflict (variant_id, location_id) do nothing";
    tx.run(sql, &[("variant", what.variant_id.into()), ("location", what.location_id.into())])?;
    record_move(tx, what, now)?;
    refresh(tx, &[what.variant_id], now)
}

fn record_move(tx: &mut Tx, what: &Move, now: Timestamp) -> Result<(), DbError> {
    rows::insert(
        tx,
        "stock_moves",
        &[
            ("variant_id", what.variant_id.into()),
            ("location_id", what.location_id.into()),
            ("quantity", what.quantity.into()),
            ("kind", (&what.kind).into()),
            ("source", what.source.clone().into()),
            ("reason", (&what.reason).into()),
            ("time", micros(now).into()),
            ("author_id", what.author_id.into()),
        ],
    )?;
    tx.run(
        "update stock set on_hand = on_hand + :quantity
         where variant_id = :variant and location_id = :location",
        &[
            ("quantity", what.quantity.into()),
            ("variant", what.variant_id.into()),
            ("location", what.location_id.into()),
        ],
    )?;
    Ok(())
}

/// Holds the rows of variants to the end of the transaction, in the order of their numbers.
fn hold_rows(tx: &mut Tx, variants: &[i64]) -> Result<(), DbError> {
    let list = Ids::new("id", variants);
    let sql = format!("select id from stock where variant_id in {} order by id", list.places());
    for row in tx.rows(&sql, &list.with(&[]))? {
        tx.lock_row("stock", row.get("id")?)?;
    }
    Ok(())
}

/// The rows of variants in locations that sell, the first to take from first.
fn stock_rows(tx: &mut Tx, variants: &[i64]) -> Result<HashMap<i64, Vec<StockRow>>, DbError> {
    let list = Ids::new("id", variants);
    let sql = format!(
        "select s.id, s.variant_id, s.location_id, s.on_hand, s.reserved, v.tracked, v.backorder, l.sells
         from stock s join variants v on v.id = s.variant_id join locations l on l.id = s.location_id
         where s.variant_id in {} and l.deleted is null order by s.variant_id, l.priority desc, l.id",
        list.places()
    );
    let mut found: HashMap<i64, Vec<StockRow>> = HashMap::new();
    for row in tx.rows(&sql, &list.with(&[]))? {
        let row = StockRow::of(&row)?;
        if row.sells {
            found.entry(row.variant_id).or_default().push(row);
        }
    }
    Ok(found)
}

/// Reserves one wish out of these rows.
fn take(tx: &mut Tx, wish: &Wanted, stock: &mut [StockRow]) -> Result<(), ReserveError> {
    if !is_tracked(tx, wish.variant_id, stock)? {
        return Ok(());
    }
    let backorder = match stock.first().map_or(Some(0), |row| row.backorder) {
        None => Backorder::Any,
        Some(most) => Backorder::UpTo(most),
    };
    let places: Vec<_> = stock
        .iter()
        .map(|row| LocationStock {
            location_id: row.location_id,
            on_hand: row.on_hand,
            reserved: row.reserved,
        })
        .collect();
    let out = |cause| ReserveError::OutOfStock { variant_id: wish.variant_id, cause };
    let mut takings = allocate(wish.quantity, backorder, &places).map_err(out)?;
    takings.sort_unstable_by_key(|taking| taking.location_id);
    for taking in takings {
        let row = stock.iter_mut().find(|row| row.location_id == taking.location_id);
        let Some(row) = row else { continue };
        if !reserve_row(tx, row, taking.quantity)? {
            return Err(out(OutOfStock { available: (row.on_hand - row.reserved).max(0) }));
        }
        row.reserved += taking.quantity;
        write_reservation(tx, wish, taking)?;
    }
    Ok(())
}

fn is_tracked(tx: &mut Tx, variant: i64, stock: &[StockRow]) -> Result<bool, DbError> {
    if let Some(row) = stock.first() {
        return Ok(row.tracked);
    }
    let row = tx.row("select tracked from variants where id = :id", &[("id", variant.into())])?;
    row.map_or(Ok(true), |row| row.get("tracked"))
}

/// The one statement that promises pieces: it does nothing where there are not enough, whoever came first.
fn reserve_row(tx: &mut Tx, row: &StockRow, quantity: i64) -> Result<bool, DbError> {
    // What may be sold beyond the stock was dealt out over all locations already.
    let beyond = row.backorder.map_or(i64::MAX / 4, |most| most);
    let count = tx.run(
        "update stock set reserved = reserved + :n where id = :id and on_hand - reserved + :beyond >= :n",
        &[("id", row.id.into()), ("n", quantity.into()), ("beyond", beyond.into())],
    )?;
    Ok(count == 1)
}

fn write_reservation(tx: &mut Tx, wish: &Wanted, taking: Taking) -> Result<(), DbError> {
    let (cart, line) = match wish.holder {
        Holder::Cart(id) => (Some(id), None),
        Holder::Line(id) => (None, Some(id)),
    };
    rows::insert(
        tx,
        "reservations",
        &[
            ("variant_id", wish.variant_id.into()),
            ("location_id", taking.location_id.into()),
            ("quantity", taking.quantity.into()),
            ("cart_id", cart.into()),
            ("order_line_id", line.into()),
            ("until", wish.until.map(micros).into()),
        ],
    )?;
    Ok(())
}

/// What somebody holds, of one variant or of all.
fn held(tx: &mut Tx, holder: Holder, variant: Option<i64>) -> Result<Vec<Reserved>, DbError> {
    let (column, id) = match holder {
        Holder::Cart(id) => ("cart_id", id),
        Holder::Line(id) => ("order_line_id", id),
    };
    let which = if variant.is_some() { " and variant_id = :variant" } else { "" };
    let sql = format!(
        "select id, variant_id, location_id, quantity from reservations where {column} = :id{which} order by id"
    );
    let mut params = vec![("id", id.into())];
    params.extend(variant.map(|variant| ("variant", variant.into())));
    tx.rows(&sql, &params)?.iter().map(Reserved::of).collect()
}

fn release_expired(tx: &mut Tx, variants: &[i64], now: Timestamp) -> Result<u64, DbError> {
    let list = Ids::new("id", variants);
    let sql = format!(
        "select id, variant_id, location_id, quantity from reservations
         where until <= :now and variant_id in {} order by id",
        list.places()
    );
    let rows = tx.rows(&sql, &list.with(&[("now", micros(now).into())]))?;
    let expired = rows.iter().map(Reserved::of).collect::<Result<Vec<_>, _>>()?;
    give_back(tx, &expired)?;
    Ok(expired.len() as u64)
}

/// Takes pieces out of reservations and off the promise; the rows of `stock` are held by the caller.
fn give_back(tx: &mut Tx, reserved: &[Reserved]) -> Result<(), DbError> {
    for part in reserved {
        let of = [("id", part.id.into()), ("quantity", part.quantity.into())];
        // Somebody else may have released it in the meantime: only who takes it off gives it back.
        let mut gone = tx.run("delete from reservations where id = :id and quantity = :quantity", &of)? == 1;
        if !gone {
            let sql = "update reservations set quantity = quantity - :quantity where id = :id and quantity > :quantity";
            gone = tx.run(sql, &of)? == 1;
        }
        if gone {
            tx.run(
                "update stock set reserved = reserved - :quantity
                 where variant_id = :variant and location_id = :location",
                &[
                    ("quantity", part.quantity.into()),
                    ("variant", part.variant_id.into()),
                    ("location", part.location_id.into()),
                ],
            )?;
        }
    }
    Ok(())
}

/// Brings the lists of products up to date with the stock.
fn refresh(tx: &mut Tx, variants: &[i64], now: Timestamp) -> Result<(), DbError> {
    listing::refresh_availability(tx, variants, now)
}
