//! Carts and orders as pages and mails show them.

use std::collections::HashMap;

use db::customers::Address;
use db::orders::{self, Order};
use db::places::{self, Country, PickupPlace};
use db::products::{self, File};
use db::{DbError, Tx, payments, slugs};
use serde_json::{Map, Value as Json, json};

use super::basis::{Priced, PricedLine};
use super::{Cx, Done, Problem};
use crate::media::{Kind, main_address};
use crate::units::path::encoded;
use crate::units::templates::{Look, money_text};

/// An amount with its words.
pub(super) fn money(amount: i64, currency: &str, language: &str) -> Json {
    json!({"amount": amount, "text": money_text(amount, currency, language).unwrap_or_default()})
}

/// A problem as pages read it.
pub(crate) fn problem(problem: &Problem) -> Json {
    json!({"code": problem.code, "field": problem.field, "value": problem.value})
}

/// The address of one of the store's own pages, in the language of the page.
pub(crate) fn page_path(cx: Cx<'_>, language: &str, path: &str) -> String {
    let path = path.trim_start_matches('/');
    if language == cx.settings.config.language || language.is_empty() {
        encoded(path)
    } else {
        encoded(&format!("{language}/{path}"))
    }
}

/// The public address of one of the store's own pages. It is made of the settings, whatever host was asked.
pub(crate) fn page_url(cx: Cx<'_>, language: &str, path: &str) -> String {
    format!("{}{}", cx.settings.config.url.trim_end_matches('/'), page_path(cx, language, path))
}

struct Products {
    urls: HashMap<i64, String>,
    images: HashMap<i64, Json>,
}

impl Products {
    fn read(tx: &mut Tx, cx: Cx<'_>, look: &Look, ids: &[i64]) -> Result<Self, DbError> {
        let paths = slugs::current(tx, "products", ids, &look.language)?;
        let urls = paths.into_iter().map(|(id, path)| (id, page_path(cx, &look.language, &path))).collect();
        let mut images = HashMap::new();
        for file in products::files(tx, "products", ids)? {
            if Kind::of_mime(&file.mime).is_some_and(Kind::is_picture) {
                images.entry(file.elem_id).or_insert_with(|| image(&file));
            }
        }
        Ok(Self { urls, images })
    }
}

fn image(file: &File) -> Json {
    json!({
        "id": file.id,
        "url": main_address(&file.stored_name),
        "width": file.width,
        "height": file.height,
        "alt": file.alt,
    })
}

/// A cart as pages show it.
pub(crate) fn cart_view(tx: &mut Tx, cx: Cx<'_>, priced: &Priced) -> Done<Json> {
    let ids: Vec<i64> =
        priced.lines.iter().filter_map(|line| line.goods.as_ref()).map(|goods| goods.product_id).collect();
    let products = Products::read(tx, cx, cx.look, &ids)?;
    let lines: Vec<Json> = priced.lines.iter().map(|line| line_view(cx, priced, &products, line)).collect();
    let coupons: Vec<Json> = priced
        .coupons
        .iter()
        .map(|(_, code)| {
            let works = priced.totals.promotions.iter().any(|id| {
                let of = priced.basis.promotions.iter().find(|one| one.id == *id);
                of.and_then(|one| one.coupon.as_deref()) == Some(code.as_str())
            });
            json!({"code": code, "works": works})
        })
        .collect();
    Ok(json!({
        "id": priced.cart.id,
        "lines": lines,
        "count": priced.lines.len(),
        "can_order": !priced.basis.lines.is_empty() && priced.lines.iter().all(|line| line.problem.is_none()),
        "coupons": coupons,
        "sums": sums(cx, priced),
    }))
}

fn line_view(cx: Cx<'_>, priced: &Priced, products: &Products, line: &PricedLine) -> Json {
    let text = |amount: i64| money(amount, &priced.cart.currency, &cx.look.language);
    let goods = line.goods.as_ref();
    let product = goods.map(|goods| goods.product_id).unwrap_or_default();
    let sums = line.at.and_then(|at| priced.totals.lines.get(at));
    let seen = line.line.as_ref().and_then(|row| row.seen_price);
    let price = line.price.map(|price| price.amount);
    let changed = seen.zip(price).filter(|(seen, price)| seen != price).map(|(seen, _)| text(seen));
    json!({
        "id": line.line.as_ref().map(|row| row.id),
        "is_gift": line.line.is_none(),
        "variant": line.variant_id,
        "product": product,
        "name": goods.map(|goods| &goods.name),
        "options": line.options.join(", "),
        "sku": goods.and_then(|goods| goods.sku.as_ref()),
        "url": products.urls.get(&product),
        "image": products.images.get(&product),
        "quantity": line.quantity,
        "min_quantity": goods.map(|goods| goods.min_quantity),
        "max_quantity": goods.and_then(|goods| goods.max_quantity),
        "step": goods.map(|goods| goods.step),
        "price": price.map(text),
        "price_before": changed,
        "amount": sums.map(|sums| text(sums.amount)),
        "discount": sums.map(|sums| text(sums.discount)),
        "total": sums.map(|sums| text(sums.amount - sums.discount)),
        "problem": line.problem.as_ref().map(problem),
    })
}

fn sums(cx: Cx<'_>, priced: &Priced) -> Json {
    let text = |amount: i64| money(amount, &priced.cart.currency, &cx.look.language);
    let sums = &priced.totals;
    let mut names: Vec<(String, Option<String>, i64)> = Vec::new();
    for row in sums.adjustments.iter().filter(|row| row.line.is_some()) {
        match names.iter_mut().find(|(name, code, _)| *name == row.name && *code == row.code) {
            Some((_, _, amount)) => *amount += row.amount,
            None => names.push((row.name.clone(), row.code.clone(), row.amount)),
        }
    }
    let discounts: Vec<Json> = names
        .into_iter()
        .map(|(name, code, amount)| json!({"name": name, "code": code, "amount": text(amount)}))
        .collect();
    json!({
        "goods": text(sums.goods),
        "discount": text(sums.discount),
        "discounts": discounts,
        "shipping": priced.shipping.as_ref().map(|method| json!({"name": method.name, "amount": text(sums.shipping)})),
        "fees": text(sums.fees),
        "rounding": text(sums.rounding),
        "tax": text(sums.tax),
        "tax_included": priced.basis.display == shop::tax::TaxDisplay::Included,
        "total": text(sums.total),
    })
}

/// What the steps of the checkout show beside the cart.
pub(crate) fn checkout_view(tx: &mut Tx, cx: Cx<'_>, priced: &Priced, countries: &[Country]) -> Done<Json> {
    let text = |amount: i64| money(amount, &priced.cart.currency, &cx.look.language);
    let goods = priced.totals.goods - priced.totals.discount;
    let pickup = places::pickup_places(tx, &cx.look.language)?;
    let place = |place: &PickupPlace| {
        let chosen = priced.cart.location_id == Some(place.id);
        json!({"id": place.id, "name": place.name, "address": place.address, "chosen": chosen})
    };
    let shipping: Vec<Json> = priced
        .shipping_methods
        .iter()
        .map(|method| {
            let is_free = method.free_from.is_some_and(|least| goods >= least);
            json!({
                "id": method.id, "name": method.name, "text": method.text, "pickup": method.pickup,
                "places": pickup.iter().filter(|_| method.pickup).map(place).collect::<Vec<_>>(),
                "days_min": method.days_min, "days_max": method.days_max,
                "amount": text(if is_free { 0 } else { method.amount }),
                "chosen": priced.cart.shipping_method_id == Some(method.id),
            })
        })
        .collect();
    let payments: Vec<Json> = priced
        .payment_methods
        .iter()
        .map(|method| {
            json!({
                "id": method.id, "name": method.name, "text": method.text, "fee": text(method.fee),
                "chosen": priced.cart.payment_method_id == Some(method.id),
            })
        })
        .collect();
    let countries = country_views(countries);
    let lines = match &priced.address {
        Some(address) if priced.fetches => vec![address.name.clone()],
        Some(address) => address_lines(tx, cx, address)?,
        None => Vec::new(),
    };
    let invoice = priced.cart.billing_address.as_deref().and_then(super::fields::address_of);
    let invoice_lines = match &invoice {
        Some(address) => invoice_lines(tx, cx, address)?,
        None => Vec::new(),
    };
    Ok(json!({
        "cart": cart_view(tx, cx, priced)?,
        "step": super::summary::missing_step(priced).unwrap_or("summary"),
        "seen": super::summary::seen(priced),
        "ships": priced.ships,
        "can_fetch": priced.ships && places::can_be_fetched(tx)?,
        "fetches": priced.fetches,
        "email": priced.cart.email,
        "phone": priced.cart.phone,
        "comment": priced.cart.comment,
        "address": priced.address.as_ref().map(super::fields::address_json),
        "address_lines": lines,
        "invoice_address": invoice.as_ref().map(super::fields::address_json),
        "invoice_lines": invoice_lines,
        "all_countries": country_views(&places::countries(tx, false, &cx.look.language)?),
        "countries": countries,
        "shipping_methods": shipping,
        "payment_methods": payments,
        "payment_name": priced.payment.as_ref().map(|method| &method.name),
    }))
}

/// Countries as forms offer them.
pub(crate) fn country_views(countries: &[Country]) -> Vec<Json> {
    let view = |one: &Country| json!({"code": one.code, "name": one.name, "required": one.required});
    countries.iter().map(view).collect()
}

/// The address of an invoice, with the number that taxes know its reader by.
fn invoice_lines(tx: &mut Tx, cx: Cx<'_>, address: &Address) -> Done<Vec<String>> {
    let mut lines = address_lines(tx, cx, address)?;
    lines.extend(Some(address.tax_number.clone()).filter(|number| !number.is_empty()));
    Ok(lines)
}

/// An address as it is written in its country.
pub(crate) fn address_lines(tx: &mut Tx, cx: Cx<'_>, address: &Address) -> Done<Vec<String>> {
    let countries = places::countries(tx, false, &cx.look.language)?;
    let country = countries.into_iter().find(|country| country.code == address.country);
    let form =
        country.as_ref().map_or("{name}\n{company}\n{line1}\n{line2}\n{postcode} {city}\n{region}", |one| {
            one.address_format.as_str()
        });
    let values = [
        ("{name}", &address.name),
        ("{company}", &address.company),
        ("{line1}", &address.line1),
        ("{line2}", &address.line2),
        ("{city}", &address.city),
        ("{region}", &address.region),
        ("{postcode}", &address.postcode),
    ];
    let mut lines = Vec::new();
    for line in form.lines() {
        let filled = filled(line, &values);
        let filled = filled.trim().trim_matches(',').trim();
        if !filled.is_empty() {
            lines.push(filled.to_owned());
        }
    }
    lines.push(country.map_or_else(|| address.country.clone(), |country| country.name));
    lines.retain(|line| !line.is_empty());
    Ok(lines)
}

/// One line with its fields put in, each once: what a visitor typed is no form itself.
fn filled(line: &str, values: &[(&str, &String)]) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('{') {
        out.push_str(rest.get(..at).unwrap_or_default());
        let tail = rest.get(at..).unwrap_or_default();
        let Some((place, value)) = values.iter().find(|(place, _)| tail.starts_with(place)) else {
            out.push('{');
            rest = tail.get(1..).unwrap_or_default();
            continue;
        };
        out.push_str(value);
        rest = tail.get(place.len()..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// An order as its page and its mails show it.
pub(crate) fn order_view(tx: &mut Tx, cx: Cx<'_>, order: &Order) -> Done<Json> {
    let token = super::order_page::token_of(tx, order)?;
    let path = token.as_ref().map(|token| format!("order/{token}"));
    let text = |amount: i64| money(amount, &order.currency, &cx.look.language);
    let address = orders::address(tx, order.id, "kShipping")?;
    // Of who comes for the goods only the name is known, and the country in which they lie.
    let is_place = |address: &&Address| !(address.line1.is_empty() && address.city.is_empty());
    let address_lines = match address.as_ref().filter(is_place) {
        Some(address) => address_lines(tx, cx, address)?,
        None => Vec::new(),
    };
    let invoice_lines = match orders::address(tx, order.id, "kBilling")? {
        Some(address) => invoice_lines(tx, cx, &address)?,
        None => Vec::new(),
    };
    let lines = order_lines(tx, cx, order)?;
    let pickup = places::pickup_place_of(tx, order.id, &cx.look.language)?;
    let mut view = Map::new();
    let mut put = |name: &str, value: Json| {
        view.insert(name.to_owned(), value);
    };
    put("number", json!(order.number));
    put("token", json!(token));
    put("path", json!(path.as_ref().map(|path| page_path(cx, &order.language, path))));
    put("url", json!(path.as_ref().map(|path| page_url(cx, &order.language, path))));
    put("placed", json!(order.placed));
    put("pay_until", json!(order.pay_until));
    put("state", json!(order.base));
    put("own_state", json!(order.state));
    put("pay", json!(order.pay));
    put("delivery", json!(order.delivery));
    // A key of the store's own is no word for shoppers.
    put("reason", json!(if orders::is_key(&order.reason) { "" } else { order.reason.as_str() }));
    put("email", json!(order.email));
    put("phone", json!(order.phone));
    put("name", json!(address.map(|address| address.name)));
    put("address_lines", json!(address_lines));
    put("invoice_lines", json!(invoice_lines));
    put("pickup", json!(pickup.map(|place| json!({"name": place.name, "address": place.address}))));
    put("comment", json!(order.comment));
    put("shipping_name", json!(order.shipping_name));
    put("payment_name", json!(order.payment_name));
    put("payment_text", json!(payment_text(tx, cx, order)?));
    put("lines", json!(lines));
    put("tax_included", json!(order.tax_included));
    for (name, amount) in [
        ("goods", order.goods),
        ("discount", order.discount),
        ("shipping", order.shipping),
        ("fees", order.fees),
        ("rounding", order.rounding),
        ("tax", order.tax),
        ("total", order.total),
        ("paid", order.paid),
        ("refunded", order.refunded),
    ] {
        put(name, text(amount));
    }
    put("discounts", json!(discounts(tx, cx, order)?));
    put("parcels", json!(parcels(tx, order)?));
    put("history", json!(history(tx, order)?));
    put("return_open", json!(orders::has_open_return(tx, order.id)?));
    put("can_return", json!(super::order_page::can_return(tx, order)?));
    put("can_cancel", json!(super::order_page::can_cancel(order)));
    put("can_pay", json!(super::order_page::can_pay(tx, order)?));
    put("payment_failed", json!(has_failed(tx, order)?));
    Ok(Json::Object(view))
}

fn order_lines(tx: &mut Tx, cx: Cx<'_>, order: &Order) -> Done<Vec<Json>> {
    let lines = orders::lines(tx, order.id)?;
    let ids: Vec<i64> = lines.iter().filter_map(|line| line.product_id).collect();
    let products = Products::read(tx, cx, cx.look, &ids)?;
    let text = |amount: i64| money(amount, &order.currency, &cx.look.language);
    let line = |line: &orders::Line| {
        let product = line.product_id.unwrap_or_default();
        json!({
            "id": line.id, "product": product,
            "name": line.name, "options": line.options, "sku": line.sku, "quantity": line.quantity,
            "cancelled": line.cancelled, "shipped": line.shipped, "returned": line.returned,
            "price": text(line.price), "discount": text(line.discount), "total": text(line.amount - line.discount),
            "url": products.urls.get(&product), "image": products.images.get(&product),
        })
    };
    Ok(lines.iter().map(line).collect())
}

fn discounts(tx: &mut Tx, cx: Cx<'_>, order: &Order) -> Done<Vec<Json>> {
    let mut names: Vec<(String, String, i64)> = Vec::new();
    for row in orders::adjustments(tx, order.id)? {
        if !matches!(row.kind.as_str(), "kPromotion" | "kCoupon" | "kManual") {
            continue;
        }
        match names.iter_mut().find(|(name, code, _)| *name == row.name && *code == row.code) {
            Some((_, _, amount)) => *amount += row.amount,
            None => names.push((row.name, row.code, row.amount)),
        }
    }
    let text = |amount: i64| money(amount, &order.currency, &cx.look.language);
    let row = |(name, code, amount): (String, String, i64)| json!({"name": name, "code": code, "amount": text(amount)});
    Ok(names.into_iter().map(row).collect())
}

fn parcels(tx: &mut Tx, order: &Order) -> Done<Vec<Json>> {
    let parcels = orders::shipments(tx, order.id)?;
    let parcel = |one: orders::Shipment| json!({"carrier": one.carrier, "tracking": one.tracking, "state": one.state, "sent": one.sent});
    Ok(parcels.into_iter().map(parcel).collect())
}

fn history(tx: &mut Tx, order: &Order) -> Done<Vec<Json>> {
    let entries = orders::history(tx, order.id, true)?;
    let entry = |one: orders::HistoryEntry| json!({"time": one.time, "axis": one.axis, "new": one.new, "text": one.text});
    Ok(entries.into_iter().map(entry).collect())
}

/// What the owner wrote for those who pay this way: where to send the money.
fn payment_text(tx: &mut Tx, cx: Cx<'_>, order: &Order) -> Done<String> {
    let Some(method) = order.payment_method_id else { return Ok(String::new()) };
    Ok(places::payment_text(tx, method, &cx.look.language)?.unwrap_or_default())
}

/// Whether the last attempt to pay it failed.
fn has_failed(tx: &mut Tx, order: &Order) -> Done<bool> {
    let last = payments::of_order(tx, order.id)?.pop();
    Ok(last.is_some_and(|payment| matches!(payment.state.as_str(), "kFailed" | "kVoid")))
}
