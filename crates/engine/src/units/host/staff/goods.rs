//! `staff.…` of goods: products, variants, prices, stock; and rows of a table that become products.

use db::prices::{self, NewPrice};
use db::{Tx, exchange, listing, products, rows, slugs, stock};
use jiff::Timestamp;
use sandbox::Value;
use serde_json::{Map, Value as Json, json};
use shop::text::{folded, sort_key};
use wire::text::quoted;

use super::fields::{self, Field, Form, wrong};
use super::{Answer, PRODUCTS, step};
use crate::exchange::{ImportError, MOST_ROWS, TakeRows, TakenRows, take_rows};
use crate::shopping::staff::{StaffDone, StaffError};
use crate::units::host::arguments::Arguments;
use crate::units::run::Run;

/// Most prices of a call.
const MOST_PRICES: usize = 20_000;
/// The part that a preview is, which is taken back.
const PREVIEW: &str = "preview";

const PRODUCT: &[Field] = &[
    ("name", "name", Form::Name(500)),
    ("text", "text", Form::Html),
    ("kind", "kind", Form::Word(&["kGoods", "kDigital", "kService"])),
    ("state", "state", Form::Word(&["kDraft", "kShown", "kUnlisted", "kArchive"])),
    ("brand", "brand_id", Form::RowOrNull("brands")),
    ("tax_class", "tax_class_id", Form::RowOrNull("tax_classes")),
    ("measure", "measure_id", Form::RowOrNull("measures")),
    ("category", "main_category_id", Form::RowOrNull("categories")),
];

const VARIANT: &[Field] = &[
    ("sku", "sku", Form::TextOrNull(100)),
    ("gtin", "gtin", Form::Gtin),
    ("mpn", "mpn", Form::TextOrNull(100)),
    ("position", "position", Form::Int(0)),
    ("weight", "weight", Form::IntOrNull(0)),
    ("length", "length", Form::IntOrNull(0)),
    ("width", "width", Form::IntOrNull(0)),
    ("height", "height", Form::IntOrNull(0)),
    ("tracked", "tracked", Form::Truth),
    ("backorder", "backorder", Form::IntOrNull(0)),
    ("min_quantity", "min_quantity", Form::Int(1)),
    ("max_quantity", "max_quantity", Form::IntOrNull(1)),
    ("step", "step", Form::Int(1)),
    ("cost", "cost", Form::IntOrNull(0)),
    ("hs_code", "hs_code", Form::TextOrNull(20)),
    ("ships", "ships", Form::Truth),
];

/// The calls, by name.
pub(super) fn call(run: &mut Run<'_>, name: &str, args: &Arguments<'_>) -> Option<Answer> {
    Some(match name {
        "staff.import_products" => import_products(run, args),
        "staff.change_product" => change_product(run, args),
        "staff.change_variant" => change_variant(run, args),
        "staff.remove_variant" => remove_variant(run, args),
        "staff.set_prices" => set_prices(run, args),
        "staff.set_stock" => set_stock(run, args),
        "staff.move_stock" => move_stock(run, args),
        _ => return None,
    })
}

fn import_products(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let Json::Array(given) = args.json(0) else { return Err(args.wrong("`rows` is a list of objects")) };
    if given.len() > MOST_ROWS {
        return Err(args.wrong(&format!("at most {MOST_ROWS} rows come in one call")));
    }
    let is_applied = args.option(1, "apply") == Some(&Value::Bool(true));
    let jumps = u64::try_from(args.int_option(1, "jumps")?.unwrap_or(0)).unwrap_or(0);
    let takes_keyless = args.option(1, "keyless") == Some(&Value::Bool(true));
    let (settings, now) = (std::sync::Arc::clone(&run.visit.settings), run.visit.now);
    step(run, PRODUCTS, |tx, _, _| {
        let how = TakeRows { config: &settings.config, takes_keyless, now };
        tx.mark(PREVIEW)?;
        let taken = take_rows(tx, &how, &given);
        let is_kept = is_applied
            && taken.as_ref().is_ok_and(|taken| {
                // Prices that jump are taken only if somebody saw them all.
                let report = &taken.report;
                report.problem_count == 0 && report.jump_count <= jumps
            });
        tx.end_mark(PREVIEW, is_kept)?;
        match taken {
            Ok(taken) => Ok(told(&taken, is_kept)),
            Err(ImportError::Db(cause)) => Err(StaffError::Db(cause)),
            Err(other) => Err(wrong(other.to_string())),
        }
    })
}

fn told(taken: &TakenRows, is_kept: bool) -> Json {
    let report = &taken.report;
    let problems: Vec<Json> = report
        .problems
        .iter()
        .map(|it| json!({"row": it.line, "column": it.column, "value": it.value, "code": it.code.key(), "why": it.code.words()}))
        .collect();
    let jumps: Vec<Json> = report
        .jumps
        .iter()
        .map(|it| json!({"row": it.line, "sku": it.article, "what": it.what, "before": it.before, "after": it.after}))
        .collect();
    // Numbers of rows that were taken back name nothing.
    let products: Vec<Json> = taken
        .products
        .iter()
        .map(|(row, id, what)| json!({"row": row, "product": (is_kept || *what != "new").then_some(id), "what": what}))
        .collect();
    json!({
        "rows": report.rows, "new": report.new, "changed": report.changed, "same": report.same,
        "keyless": report.keyless, "problem_count": report.problem_count, "problems": problems,
        "jump_count": report.jump_count, "jumps": jumps, "products": products, "applied": is_kept,
    })
}

fn change_product(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (id, given) = (args.int(0, "product")?, args.fields(1)?);
    let (language, now) = (run.visit.settings.config.language.clone(), run.visit.now);
    step(run, PRODUCTS, |tx, _, person| {
        let unknown = StaffError::Unknown { what: "product", id };
        let known = exchange::product(tx, id)?.ok_or(unknown)?;
        let mut row = fields::columns(tx, &given, PRODUCT, &["categories", "path"])?;
        if let Some(name) = fields::text(&given, "name")?.map(str::trim) {
            row.push(("name_folded", folded(name).into()));
            row.push(("name_sort", sort_key(name).into()));
        }
        if let Some(categories) = fields::ids(tx, &given, "categories", "categories")? {
            place(tx, id, &categories)?;
            let main = known.main_category_id.filter(|main| categories.contains(main));
            if !given.contains_key("category") {
                row.push(("main_category_id", main.or(categories.first().copied()).into()));
            }
        }
        if let Some(main) = fields::int(&given, "category")?
            && !exchange::categories_of(tx, id)?.contains(&main)
        {
            products::add_category(tx, id, main)?;
        }
        if let Some(path) = fields::path(&given)? {
            slugs::set(tx, "products", id, &language, path, now)?;
        }
        row.push(("author_id", person.into()));
        rows::update(tx, "products", id, None, &row, now)?;
        listing::reindex(tx, &[id], now)?;
        listing::changed(tx, "products", id, now)?;
        Ok(json!({}))
    })
}

/// The product lies in these categories and in no other.
fn place(tx: &mut Tx, product: i64, wanted: &[i64]) -> StaffDone<()> {
    let known = exchange::categories_of(tx, product)?;
    for category in known.iter().filter(|category| !wanted.contains(category)) {
        products::remove_category(tx, product, *category)?;
    }
    for category in wanted.iter().filter(|category| !known.contains(category)) {
        products::add_category(tx, product, *category)?;
    }
    Ok(())
}

fn change_variant(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (id, given) = (args.int(0, "variant")?, args.fields(1)?);
    let (currency, now) = (run.visit.settings.config.currency.clone(), run.visit.now);
    step(run, PRODUCTS, |tx, _, person| {
        let product = product_of(tx, id)?;
        let mut row = fields::columns(tx, &given, VARIANT, &[])?;
        if given.contains_key("sku") {
            let sku = fields::text(&given, "sku")?;
            if let Some(sku) = sku
                && exchange::of_sku(tx, &folded(sku))?.is_some_and(|(other, _)| other != id)
            {
                return Err(wrong(format!(
                    "the article number `{}` belongs to another variant",
                    quoted(sku, 60)
                )));
            }
            row.push(("sku_folded", sku.map(folded).into()));
        }
        if given.contains_key("cost") {
            let has_cost = fields::int(&given, "cost")?.is_some();
            row.push(("cost_currency", has_cost.then_some(currency.as_str()).into()));
        }
        row.push(("author_id", person.into()));
        rows::update(tx, "variants", id, None, &row, now)?;
        listing::reindex(tx, &[product], now)?;
        listing::changed(tx, "products", product, now)?;
        Ok(json!({"product": product}))
    })
}

fn product_of(tx: &mut Tx, variant: i64) -> StaffDone<i64> {
    let found = products::variants_by_ids(tx, &[variant])?.remove(&variant);
    found.map(|found| found.product_id).ok_or(StaffError::Unknown { what: "variant", id: variant })
}

fn remove_variant(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (id, now) = (args.int(0, "variant")?, run.visit.now);
    step(run, PRODUCTS, |tx, _, _| {
        let product = product_of(tx, id)?;
        if products::variants(tx, &[product])?.len() < 2 {
            return Err(wrong("the last variant of a product stays; hide the product"));
        }
        rows::remove(tx, "variants", id, now)?;
        listing::reindex(tx, &[product], now)?;
        listing::changed(tx, "products", product, now)?;
        Ok(json!({"product": product}))
    })
}

fn set_prices(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let Json::Array(given) = args.json(0) else { return Err(args.wrong("`prices` is a list of objects")) };
    if given.len() > MOST_PRICES {
        return Err(args.wrong(&format!("at most {MOST_PRICES} prices are set in one call")));
    }
    let now = run.visit.now;
    step(run, PRODUCTS, |tx, _, person| {
        for price in &given {
            let Json::Object(price) = price else { return Err(wrong("a price is an object")) };
            let new = new_price(tx, price)?;
            prices::set(tx, &new, Some(person), now)?;
        }
        Ok(json!({"count": given.len()}))
    })
}

fn new_price(tx: &mut Tx, price: &Map<String, Json>) -> StaffDone<NewPrice> {
    let form: &[Field] = &[
        ("list", "list_id", Form::Row("price_lists")),
        ("variant", "variant_id", Form::Row("variants")),
        ("min_quantity", "min_quantity", Form::Int(1)),
        ("amount", "amount", Form::Int(0)),
        ("compare_at", "compare_at", Form::IntOrNull(0)),
    ];
    fields::columns(tx, price, form, &["valid_from", "valid_until"])?;
    let must = |name: &'static str| move || wrong(format!("a price has `{name}`"));
    let amount = fields::int(price, "amount")?.ok_or_else(must("amount"))?;
    let moment = |name| -> StaffDone<Option<Timestamp>> {
        let text = fields::text(price, name)?;
        let moment = text.map(str::parse::<Timestamp>).transpose();
        moment.map_err(|_| wrong(format!("`{name}` is a moment like 2026-12-01T00:00:00Z")))
    };
    Ok(NewPrice {
        list_id: fields::int(price, "list")?.ok_or_else(must("list"))?,
        variant_id: fields::int(price, "variant")?.ok_or_else(must("variant"))?,
        min_quantity: fields::int(price, "min_quantity")?.unwrap_or(1),
        amount,
        // A price before the reduction is above the price, or it is none.
        compare_at: fields::int(price, "compare_at")?.filter(|before| *before > amount),
        valid_from: moment("valid_from")?,
        valid_until: moment("valid_until")?,
    })
}

fn set_stock(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let variant = args.int(0, "variant")?;
    let (location, count, add) =
        (args.int_option(1, "location")?, args.int_option(1, "count")?, args.int_option(1, "add")?);
    let reason = args.text_option(1, "reason")?.unwrap_or_default().to_owned();
    let now = run.visit.now;
    step(run, PRODUCTS, |tx, _, person| {
        product_of(tx, variant)?;
        let location = place_of(tx, location)?;
        let before = stock::hold(tx, variant, location)?;
        let (quantity, kind) = match (count, add) {
            (Some(count), None) if count >= 0 => (count - before, "kCorrect"),
            (None, Some(add)) => (add, if add > 0 { "kReceipt" } else { "kCorrect" }),
            _ => return Err(wrong("either `count`, not below 0, or `add` is named")),
        };
        shift(tx, Shift { variant, location, before, quantity, kind, reason: &reason, person, now })?;
        Ok(json!({"location": location, "before": before, "on_hand": before + quantity}))
    })
}

fn move_stock(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (variant, from, to) = (args.int(0, "variant")?, args.int(1, "from")?, args.int(2, "to")?);
    let pieces = args.int(3, "pieces")?;
    let now = run.visit.now;
    step(run, PRODUCTS, |tx, _, person| {
        product_of(tx, variant)?;
        if pieces < 1 || from == to {
            return Err(wrong("at least one piece goes to another location"));
        }
        let mut told = Map::new();
        for (name, location, quantity) in [("from", from, -pieces), ("to", to, pieces)] {
            let location = place_of(tx, Some(location))?;
            let before = stock::hold(tx, variant, location)?;
            shift(
                tx,
                Shift { variant, location, before, quantity, kind: "kTransfer", reason: "", person, now },
            )?;
            told.insert(name.to_owned(), (before + quantity).into());
        }
        Ok(Json::Object(told))
    })
}

/// The location that is named, else the first that sells.
fn place_of(tx: &mut Tx, location: Option<i64>) -> StaffDone<i64> {
    match location {
        Some(id) if rows::is_there(tx, "locations", id)? => Ok(id),
        Some(id) => Err(StaffError::Unknown { what: "location", id }),
        None => exchange::main_location(tx)?.ok_or_else(|| wrong("the store has no location for stock")),
    }
}

/// Pieces that come or go.
struct Shift<'a> {
    variant: i64,
    location: i64,
    before: i64,
    quantity: i64,
    kind: &'a str,
    reason: &'a str,
    person: i64,
    now: Timestamp,
}

fn shift(tx: &mut Tx, shift: Shift<'_>) -> StaffDone<()> {
    if shift.quantity == 0 {
        return Ok(());
    }
    if shift.before.checked_add(shift.quantity).is_none_or(|after| after < 0) {
        let words =
            format!("of variant {} only {} lie in location {}", shift.variant, shift.before, shift.location);
        return Err(wrong(words));
    }
    let what = stock::Move {
        variant_id: shift.variant,
        location_id: shift.location,
        quantity: shift.quantity,
        kind: shift.kind.to_owned(),
        source: None,
        reason: shift.reason.chars().take(500).collect(),
        author_id: Some(shift.person),
    };
    Ok(stock::add_move(tx, &what, shift.now)?)
}
