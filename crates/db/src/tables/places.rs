//! Countries, zones, taxes, and what can be chosen there: ways to send and to pay. Currencies.

use std::collections::HashMap;

use jiff::Timestamp;
use shop::tax::TaxRate;

use crate::id_list::Ids;
use crate::record::record;
use crate::texts::translated;
use crate::{DbError, Tx, micros};

record! {
    /// A currency.
    pub struct Currency {
        /// Three letters.
        pub code: String,
        /// Name.
        pub name: String,
        /// Digits of the minor unit.
        pub decimals: i64,
        /// Sums in cash are rounded to this many minor units.
        pub cash_step: i64,
    }
}

record! {
    /// A country.
    pub struct Country {
        /// Two letters.
        pub code: String,
        /// Name.
        pub name: String,
        /// The lines of an address, with the names of fields in braces.
        pub address_format: String,
        /// Fields an address must have, with commas between.
        pub required: String,
        /// Whether the shop sends there.
        pub ships: bool,
    }
}

record! {
    /// A way to send, with the row of its rates that holds.
    pub struct ShippingMethod {
        /// Number.
        pub id: i64,
        /// Key.
        pub skey: String,
        /// Name.
        pub name: String,
        /// What the customer reads about it.
        pub text: String,
        /// Tax class.
        pub tax_class_id: Option<i64>,
        /// Whether the customer comes for the goods.
        pub pickup: bool,
        /// Days it takes at least.
        pub days_min: Option<i64>,
        /// Days it takes at most.
        pub days_max: Option<i64>,
        /// What it costs.
        pub amount: i64,
        /// From this sum of goods on it costs nothing.
        pub free_from: Option<i64>,
    }
}

record! {
    struct Rate {
        method_id: i64,
        zone_id: Option<i64>,
        basis: String,
        least: i64,
        most: Option<i64>,
        amount: i64,
        step: i64,
        per_step: i64,
        free_from: Option<i64>,
    }
}

record! {
    /// A way to pay.
    pub struct PaymentMethod {
        /// Number.
        pub id: i64,
        /// Key.
        pub skey: String,
        /// Name.
        pub name: String,
        /// What the customer reads about it.
        pub text: String,
        /// What carries it out.
        pub provider: String,
        /// Fee.
        pub fee: i64,
        /// Fee in millionths of the total, besides.
        pub fee_ppm: i64,
    }
}

record! {
    /// Where customers may fetch their goods.
    pub struct PickupPlace {
        /// Number.
        pub id: i64,
        /// Name.
        pub name: String,
        /// Where it is.
        pub address: String,
    }
}

/// What is to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parcel {
    /// Grams.
    pub weight: i64,
    /// Sum of the goods.
    pub total: i64,
    /// How many pieces.
    pub pieces: i64,
}

/// A currency by its code.
pub fn currency(tx: &mut Tx, code: &str) -> Result<Option<Currency>, DbError> {
    let sql = "select code, name, decimals, cash_step from currencies where code = :code";
    tx.row(sql, &[("code", code.into())])?.map(|row| Currency::of(&row)).transpose()
}

/// All countries, by name; or those the shop sends to, which are all as long as none is marked.
pub fn countries(tx: &mut Tx, only_shipped: bool, language: &str) -> Result<Vec<Country>, DbError> {
    let marked = "where c.ships or not exists (select 1 from countries k where k.ships)";
    let which = if only_shipped { marked } else { "" };
    let sql = format!(
        "select c.code, {}, c.address_format, c.required, c.ships from countries c {which} order by c.position, 2, c.code",
        translated("c", "countries", "name")
    );
    tx.rows(&sql, &[("language", language.into())])?.iter().map(Country::of).collect()
}

/// The zones of an address, the most exact first: postcode, region, country.
pub fn zones(tx: &mut Tx, country: &str, region: &str, postcode: &str) -> Result<Vec<i64>, DbError> {
    let rows = tx.rows(
        "select z.zone_id, case when z.postcode_from is not null then 0 when z.region is not null then 1 else 2 end
           as place
         from zone_places z
         where z.country = :country and (z.region is null or z.region = :region)
           and (z.postcode_from is null or (length(z.postcode_from) = length(:postcode)
             and z.postcode_from <= :postcode and z.postcode_to >= :postcode))
         order by place, z.zone_id",
        &[("country", country.into()), ("region", region.into()), ("postcode", postcode.into())],
    )?;
    let mut zones: Vec<i64> = Vec::new();
    for row in rows {
        let zone = row.get("zone_id")?;
        if !zones.contains(&zone) {
            zones.push(zone);
        }
    }
    Ok(zones)
}

/// Taxes of tax classes in the first of these zones that has any for the class, at this moment.
pub fn tax_rates(
    tx: &mut Tx,
    zones: &[i64],
    is_business: bool,
    now: Timestamp,
) -> Result<HashMap<i64, Vec<TaxRate>>, DbError> {
    let list = Ids::new("zone", zones);
    let sql = format!(
        "select zone_id, tax_class_id, name, rate_ppm, compound from tax_rates
         where zone_id in {} and (business is null or business = :business)
           and (valid_from is null or valid_from <= :now) and (valid_until is null or valid_until > :now)
         order by position, id",
        list.places()
    );
    let params = list.with(&[("business", is_business.into()), ("now", micros(now).into())]);
    let mut found: HashMap<i64, HashMap<i64, Vec<TaxRate>>> = HashMap::new();
    for row in tx.rows(&sql, &params)? {
        let rate = TaxRate {
            name: row.get("name")?,
            rate_ppm: row.get("rate_ppm")?,
            is_compound: row.get("compound")?,
        };
        found.entry(row.get("zone_id")?).or_default().entry(row.get("tax_class_id")?).or_default().push(rate);
    }
    let mut rates = HashMap::new();
    for zone in zones {
        for (class, of_class) in found.remove(zone).unwrap_or_default() {
            rates.entry(class).or_insert(of_class);
        }
    }
    Ok(rates)
}

/// Ways to send something to an address of these zones, with what each costs.
pub fn shipping_methods(
    tx: &mut Tx,
    zones: &[i64],
    currency: &str,
    parcel: Parcel,
    language: &str,
) -> Result<Vec<ShippingMethod>, DbError> {
    let rates = tx.rows(
        "select method_id, zone_id, basis, least, most, amount, step, per_step, free_from from shipping_rates
         where currency = :currency order by position, id",
        &[("currency", currency.into())],
    )?;
    let rates = rates.iter().map(Rate::of).collect::<Result<Vec<_>, _>>()?;
    let sql = format!(
        "select m.id, m.skey, {}, {}, m.tax_class_id, m.pickup, m.days_min, m.days_max, cast(0 as bigint) as amount,
           cast(null as bigint) as free_from
         from shipping_methods m where m.deleted is null and m.enabled order by m.position, m.id",
        translated("m", "shipping_methods", "name"),
        translated("m", "shipping_methods", "text")
    );
    let mut methods = Vec::new();
    for row in tx.rows(&sql, &[("language", language.into())])? {
        let mut method = ShippingMethod::of(&row)?;
        // The most exact zone first, everywhere last.
        let places = zones.iter().map(|zone| Some(*zone)).chain([None]);
        let found = places.into_iter().find_map(|zone| {
            rates.iter().find(|rate| rate.method_id == method.id && rate.zone_id == zone && rate.fits(parcel))
        });
        if let Some(rate) = found {
            method.amount = rate.cost(parcel)?;
            method.free_from = rate.free_from;
            methods.push(method);
        }
    }
    Ok(methods)
}

impl Rate {
    fn measured(&self, parcel: Parcel) -> i64 {
        match self.basis.as_str() {
            "kWeight" => parcel.weight,
            "kTotal" => parcel.total,
            "kPieces" => parcel.pieces,
            _ => self.least,
        }
    }

    fn fits(&self, parcel: Parcel) -> bool {
        let measured = self.measured(parcel);
        measured >= self.least && self.most.is_none_or(|most| measured <= most)
    }

    fn cost(&self, parcel: Parcel) -> Result<i64, DbError> {
        let beyond = self.measured(parcel).saturating_sub(self.least).max(0);
        let steps = beyond / self.step + i64::from(beyond % self.step != 0);
        let more = steps.checked_mul(self.per_step).and_then(|more| self.amount.checked_add(more));
        more.ok_or_else(|| DbError::sql("shipping costs more than fits"))
    }
}

/// Ways to pay a total in these zones.
pub fn payment_methods(
    tx: &mut Tx,
    zones: &[i64],
    currency: &str,
    total: i64,
    language: &str,
) -> Result<Vec<PaymentMethod>, DbError> {
    let list = Ids::new("zone", zones);
    let sql = format!(
        "select m.id, m.skey, {}, {}, m.provider, m.fee, m.fee_ppm from payment_methods m
         where m.deleted is null and m.enabled and (m.currency is null or m.currency = :currency)
           and (m.min_total is null or m.min_total <= :total) and (m.max_total is null or m.max_total >= :total)
           and (not exists (select 1 from payment_method_zones z where z.method_id = m.id)
             or exists (select 1 from payment_method_zones z where z.method_id = m.id and z.zone_id in {}))
         order by m.position, m.id",
        translated("m", "payment_methods", "name"),
        translated("m", "payment_methods", "text"),
        list.places()
    );
    let params =
        list.with(&[("language", language.into()), ("currency", currency.into()), ("total", total.into())]);
    tx.rows(&sql, &params)?.iter().map(PaymentMethod::of).collect()
}

/// The newest rate from one currency into another, in billionths.
pub fn exchange_rate(tx: &mut Tx, base: &str, quote: &str, now: Timestamp) -> Result<Option<i64>, DbError> {
    if base == quote {
        return Ok(Some(1_000_000_000));
    }
    let row = tx.row(
        "select rate_e9 from exchange_rates where base = :base and quote = :quote and since <= :now
         order by since desc limit 1",
        &[("base", base.into()), ("quote", quote.into()), ("now", micros(now).into())],
    )?;
    row.map(|row| row.get("rate_e9")).transpose()
}

/// What carries a way to pay out, and the settings it has for that, JSON; also of one that is not offered any more.
pub fn provider(tx: &mut Tx, method: i64) -> Result<Option<(String, String)>, DbError> {
    let row =
        tx.row("select provider, settings from payment_methods where id = :id", &[("id", method.into())])?;
    row.map(|row| Ok((row.get("provider")?, row.get("settings")?))).transpose()
}

/// What carries each way to pay out that is offered, with its settings, JSON.
pub fn providers(tx: &mut Tx) -> Result<Vec<(String, String)>, DbError> {
    let rows = tx.rows(
        "select provider, settings from payment_methods where deleted is null and enabled order by position, id",
        &[],
    )?;
    rows.iter().map(|row| Ok((row.get("provider")?, row.get("settings")?))).collect()
}

/// Whether some way to send is that the customer comes for the goods.
pub fn can_be_fetched(tx: &mut Tx) -> Result<bool, DbError> {
    let sql = "select id from shipping_methods where pickup and enabled and deleted is null limit 1";
    Ok(tx.row(sql, &[])?.is_some())
}

/// Where customers may fetch their goods.
pub fn pickup_places(tx: &mut Tx, language: &str) -> Result<Vec<PickupPlace>, DbError> {
    let sql = format!(
        "select l.id, {}, {} from locations l where l.deleted is null and l.pickup order by l.position, l.id",
        translated("l", "locations", "name"),
        translated("l", "locations", "address")
    );
    tx.rows(&sql, &[("language", language.into())])?.iter().map(PickupPlace::of).collect()
}

/// Where the goods of an order are fetched, as it was chosen; also a place that is not offered any more.
pub fn pickup_place_of(tx: &mut Tx, order: i64, language: &str) -> Result<Option<PickupPlace>, DbError> {
    let sql = format!(
        "select l.id, {}, {} from orders o join locations l on l.id = o.location_id where o.id = :order",
        translated("l", "locations", "name"),
        translated("l", "locations", "address")
    );
    let row = tx.row(&sql, &[("order", order.into()), ("language", language.into())])?;
    row.map(|row| PickupPlace::of(&row)).transpose()
}

/// What customers read about a way to pay; also of one that is not offered any more.
pub fn payment_text(tx: &mut Tx, method: i64, language: &str) -> Result<Option<String>, DbError> {
    let sql = format!(
        "select {} from payment_methods m where m.id = :id",
        translated("m", "payment_methods", "text")
    );
    let row = tx.row(&sql, &[("id", method.into()), ("language", language.into())])?;
    row.map(|row| row.get("text")).transpose()
}

/// Where the customer of an order comes for it: name and address of its location, else of the first to come to.
pub fn pickup_place(tx: &mut Tx, order: i64) -> Result<Option<(String, String)>, DbError> {
    let row = tx.row(
        "select l.name, l.address from orders o join locations l on l.id = o.location_id or
           (o.location_id is null and l.pickup and l.deleted is null)
         where o.id = :id order by l.priority desc, l.id limit 1",
        &[("id", order.into())],
    )?;
    row.map(|row| Ok((row.get("name")?, row.get("address")?))).transpose()
}
