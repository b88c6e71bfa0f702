//! What every shop has: currencies, countries, states of orders, counters, and one of each that a shop needs at least.

use std::collections::HashSet;

use jiff::Timestamp;
use shop::locales::{FALLBACK, LANGUAGES, text};
use shop::money::CURRENCIES;
use shop::order::{OrderState, TRANSITIONS};

use crate::{DbError, Tx, Value, rows, texts};

/// The form of addresses, which of its fields must be there, and the countries where it is so.
struct Country(&'static str, &'static str, &'static [&'static str]);

const COMMON: &str = "{name}\n{company}\n{line1}\n{line2}\n{postcode} {city}";
const WITH_REGION: &str = "{name}\n{company}\n{line1}\n{line2}\n{city}, {region} {postcode}";
const BRITISH: &str = "{name}\n{company}\n{line1}\n{line2}\n{city}\n{postcode}";
const RUSSIAN: &str = "{name}\n{company}\n{line1}\n{line2}\n{city}\n{region}\n{postcode}";
const JAPANESE: &str = "{postcode}\n{region} {city}\n{line1}\n{line2}\n{company}\n{name}";
const NEEDS: &str = "name,line1,postcode,city";
const NEEDS_REGION: &str = "name,line1,postcode,city,region";
const NEEDS_NO_POSTCODE: &str = "name,line1,city";

/// Countries with their codes, English and Russian names.
const COUNTRIES: &[Country] = &[
    Country(
        COMMON,
        NEEDS,
        &[
            "AT Austria|Австрия",
            "BE Belgium|Бельгия",
            "BG Bulgaria|Болгария",
            "CH Switzerland|Швейцария",
            "CY Cyprus|Кипр",
            "CZ Czechia|Чехия",
            "DE Germany|Германия",
            "DK Denmark|Дания",
            "EE Estonia|Эстония",
            "ES Spain|Испания",
            "FI Finland|Финляндия",
            "FR France|Франция",
            "GR Greece|Греция",
            "HR Croatia|Хорватия",
            "HU Hungary|Венгрия",
            "IL Israel|Израиль",
            "IS Iceland|Исландия",
            "IT Italy|Италия",
            "LI Liechtenstein|Лихтенштейн",
            "LT Lithuania|Литва",
            "LU Luxembourg|Люксембург",
            "LV Latvia|Латвия",
            "MC Monaco|Монако",
            "MD Moldova|Молдова",
            "ME Montenegro|Черногория",
            "MT Malta|Мальта",
            "NL Netherlands|Нидерланды",
            "NO Norway|Норвегия",
            "PL Poland|Польша",
            "PT Portugal|Португалия",
            "RO Romania|Румыния",
            "RS Serbia|Сербия",
            "SE Sweden|Швеция",
            "SI Slovenia|Словения",
            "SK Slovakia|Словакия",
            "TR Türkiye|Турция",
        ],
    ),
    Country(BRITISH, NEEDS, &["GB United Kingdom|Великобритания"]),
    Country(
        BRITISH,
        NEEDS_NO_POSTCODE,
        &["AE United Arab Emirates|ОАЭ", "HK Hong Kong|Гонконг", "IE Ireland|Ирландия"],
    ),
    Country(
        WITH_REGION,
        NEEDS_REGION,
        &[
            "AU Australia|Австралия",
            "BR Brazil|Бразилия",
            "CA Canada|Канада",
            "CN China|Китай",
            "IN India|Индия",
            "MX Mexico|Мексика",
            "US United States|США",
        ],
    ),
    Country(
        WITH_REGION,
        NEEDS,
        &[
            "KR South Korea|Южная Корея",
            "NZ New Zealand|Новая Зеландия",
            "SG Singapore|Сингапур",
            "TH Thailand|Таиланд",
            "ZA South Africa|ЮАР",
        ],
    ),
    Country(
        RUSSIAN,
        NEEDS,
        &[
            "AM Armenia|Армения",
            "AZ Azerbaijan|Азербайджан",
            "BY Belarus|Беларусь",
            "GE Georgia|Грузия",
            "KG Kyrgyzstan|Кыргызстан",
            "KZ Kazakhstan|Казахстан",
            "RU Russia|Россия",
            "TJ Tajikistan|Таджикистан",
            "UA Ukraine|Украина",
            "UZ Uzbekistan|Узбекистан",
        ],
    ),
    Country(JAPANESE, NEEDS_REGION, &["JP Japan|Япония"]),
];

/// Adds what is missing and changes nothing that is there.
pub(super) fn add(tx: &mut Tx, now: Timestamp) -> Result<(), DbError> {
    add_currencies(tx)?;
    add_countries(tx, now)?;
    add_order_states(tx, now)?;
    let there = keys(tx, "select skey from counters")?;
    for counter in ["order", "kInvoice", "kCredit"].iter().filter(|counter| !there.contains(**counter)) {
        rows::insert(tx, "counters", &[("skey", (*counter).into())])?;
    }
    add_main(tx, "measures", "kPiece", "measure", &[], now)?;
    add_main(tx, "tax_classes", "kStandard", "tax_class", &[], now)?;
    add_main(tx, "customer_groups", "kCustomer", "customer_group", &[], now)?;
    add_main(tx, "locations", "kMain", "location", &[("pickup", true.into())], now)?;
    add_main(tx, "price_lists", "kMain", "price_list", &[("currency", "EUR".into())], now)
}

/// The keys that a table has.
fn keys(tx: &mut Tx, sql: &str) -> Result<HashSet<String>, DbError> {
    tx.rows(sql, &[])?.iter().map(|row| row.get("skey")).collect()
}

fn add_currencies(tx: &mut Tx) -> Result<(), DbError> {
    let there = keys(tx, "select code as skey from currencies")?;
    let missing = (1i64..).zip(CURRENCIES).filter(|(_, currency)| !there.contains(currency.code));
    let values: Vec<Vec<Value>> = missing
        .map(|(position, currency)| {
            vec![
                currency.code.into(),
                currency.name.into(),
                i64::from(currency.decimals).into(),
                position.into(),
            ]
        })
        .collect();
    rows::insert_many(tx, "currencies", &["code", "name", "decimals", "position"], &values)
}

fn add_countries(tx: &mut Tx, now: Timestamp) -> Result<(), DbError> {
    let there = keys(tx, "select code as skey from countries")?;
    let mut countries = Vec::new();
    let mut russian = Vec::new();
    for Country(form, needs, lines) in COUNTRIES {
        for line in *lines {
            let (code, names) = line.split_once(' ').unwrap_or((line, ""));
            let (name, name_ru) = names.split_once('|').unwrap_or((names, ""));
            if !there.contains(code) {
                countries.push(vec![code.into(), name.into(), (*form).into(), (*needs).into()]);
                russian.push((code, name_ru));
            }
        }
    }
    rows::insert_many(tx, "countries", &["code", "name", "address_format", "required"], &countries)?;
    if russian.is_empty() {
        return Ok(());
    }
    let mut ids = std::collections::HashMap::new();
    for row in tx.rows("select code, id from countries", &[])? {
        ids.insert(row.get::<String>("code")?, row.get::<i64>("id")?);
    }
    let named = russian.iter().filter_map(|(code, name)| ids.get(*code).map(|id| (*id, *name)));
    let values: Vec<_> = named.map(|(id, name)| (id, "ru", "name", name)).collect();
    texts::add_many(tx, "countries", &values, now)
}

fn add_order_states(tx: &mut Tx, now: Timestamp) -> Result<(), DbError> {
    let there = keys(tx, "select skey from order_states")?;
    for (position, state) in (1i64..).zip(OrderState::ALL) {
        let skey = state.as_str();
        if there.contains(skey) {
            continue;
        }
        let key = format!("order_state.{skey}");
        let id = rows::insert(
            tx,
            "order_states",
            &[
                ("skey", skey.into()),
                ("name", text(FALLBACK, &key).unwrap_or(skey).into()),
                ("position", position.into()),
                ("base", skey.into()),
            ],
        )?;
        name_in_all_languages(tx, "order_states", id, &key, now)?;
    }
    if !there.is_empty() {
        return Ok(());
    }
    let values: Vec<Vec<Value>> = TRANSITIONS
        .iter()
        .map(|(from, to)| vec![from.as_str().into(), to.as_str().into(), condition(*from, *to).into()])
        .collect();
    rows::insert_many(tx, "order_transitions", &["from_state", "to_state", "condition"], &values)
}

/// What must be true, for people: the rule itself is [`shop::order::check_move`].
fn condition(from: OrderState, to: OrderState) -> &'static str {
    use OrderState::{Accept, Cancel, Done, Draft, New, Wait};
    match (from, to) {
        (Draft, Wait) => "kPrepaymentDue",
        (Draft, _) => "kPlaced",
        (Wait, New) => "kPaidOrHeld",
        (Wait, Cancel) => "kUnpaid",
        (New, Accept) => "kConfirmed",
        (_, Cancel) => "kNothingSent",
        (Accept, Done) => "kAllSentNothingOwed",
        _ => "kReservedAnew",
    }
}

/// The first row of a table that has none.
fn add_main(
    tx: &mut Tx,
    table: &str,
    skey: &str,
    word: &str,
    more: &[(&str, Value)],
    now: Timestamp,
) -> Result<(), DbError> {
    if tx.row(&format!("select 1 as yes from {table} limit 1"), &[])?.is_some() {
        return Ok(());
    }
    let key = format!("main.{word}");
    let mut values = vec![("skey", skey.into()), ("name", text(FALLBACK, &key).unwrap_or(word).into())];
    values.extend(more.iter().cloned());
    let id = rows::insert(tx, table, &values)?;
    name_in_all_languages(tx, table, id, &key, now)
}

fn name_in_all_languages(
    tx: &mut Tx,
    entity: &str,
    id: i64,
    key: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    let named = LANGUAGES.iter().filter(|language| language.code != FALLBACK);
    let values: Vec<_> = named
        .filter_map(|language| language.text(key).map(|name| (id, language.code, "name", name)))
        .collect();
    texts::add_many(tx, entity, &values, now)
}
