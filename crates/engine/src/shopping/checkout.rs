//! From a cart to an order: contact and address, ways to send and to pay, the summary, the order itself.

use db::carts::{self, Cart};
use db::customers::{self, Address, Customer};
use db::orders::{self, NewLine, NewOrder, PlaceError, Use};
use db::places::{self, Country};
use db::stock::ReserveError;
use db::{Tx, Value, goods, payments as rows, promotions};
use jiff::SignedDuration;
use serde_json::Value as Json;

use super::basis::{Priced, price};
use super::fields::{self, Fields, address_json, fetcher_json};
use super::order_page::{order_key, token_of};
use super::summary::{missing_step, seen};
use super::{Cx, Done, NotDone, Problem, mails};
use crate::gate::tickets::hash;
use crate::payments;

/// An order that was placed now or by an earlier attempt, and the payment that begins with it.
pub(crate) struct Placed {
    /// The word in the address of its page.
    pub(crate) token: String,
    /// The payment to begin, where something is to be paid.
    pub(crate) payment: Option<i64>,
}

/// Keeps who buys and where it goes, if everything is there; else what is missing.
pub(crate) fn set_contact(
    tx: &mut Tx,
    cx: Cx<'_>,
    cart: &Cart,
    customer: Option<&Customer>,
    fields: &Fields,
) -> Done<Vec<Problem>> {
    let mut problems = Vec::new();
    let email = match customer {
        Some(customer) => Some(customer.email.clone()),
        None => fields::email(&fields::line(fields, "email")),
    };
    if email.is_none() {
        problems.push(Problem::field("email", "email"));
    }
    let priced = price(tx, cx, cart.clone(), customer)?;
    let mut values: Vec<(&str, Value)> = Vec::new();
    if priced.ships {
        let (kept, wrong) = if fetches(tx, fields)? {
            let (address, wrong) = fetcher(tx, fields)?;
            (fetcher_json(&address), wrong)
        } else {
            let (address, wrong) = delivery_address(tx, cx, customer, fields)?;
            (address_json(&address), wrong)
        };
        values.push(("address", kept.to_string().into()));
        problems.extend(wrong);
    }
    let invoice = fields::line(fields, "invoice");
    if invoice.is_empty() {
        values.push(("billing_address", Value::Null));
    } else {
        // An invoice may go where no goods go.
        let countries = places::countries(tx, false, &cx.look.language)?;
        let (address, wrong) = fields::invoice_address(fields, &countries);
        values.push(("billing_address", address_json(&address).to_string().into()));
        problems.extend(wrong);
    }
    if !problems.is_empty() {
        return Ok(problems);
    }
    values.push(("email", email.unwrap_or_default().into()));
    values.push(("phone", fields::line(fields, "phone").into()));
    values.push(("language", (&cx.look.language).into()));
    keep(tx, cx, cart, &values)?;
    let cart = carts::by_id(tx, cart.id)?.ok_or(Problem::of("changed"))?;
    let priced = price(tx, cx, cart, customer)?;
    let is_stuck = priced.ships && priced.fetches && priced.shipping_methods.is_empty();
    Ok(if is_stuck { vec![Problem::of("no_pickup")] } else { Vec::new() })
}

/// Whether the form says that the shopper comes for the goods, where the store lets them.
fn fetches(tx: &mut Tx, fields: &Fields) -> Done<bool> {
    let is_wanted = fields.get("address_id").and_then(Json::as_str) == Some("fetch");
    Ok(is_wanted && places::can_be_fetched(tx)?)
}

/// Who comes for the goods: a name, to hand them out to, and the country in which they lie.
fn fetcher(tx: &mut Tx, fields: &Fields) -> Done<(Address, Vec<Problem>)> {
    let name = fields::line(fields, "name");
    let country = goods::home_country(tx)?.unwrap_or_default();
    let wrong = if name.is_empty() { vec![Problem::field("name", "required")] } else { Vec::new() };
    Ok((fields::only_name(name, country), wrong))
}

/// The address of the form, or one that the customer kept.
fn delivery_address(
    tx: &mut Tx,
    cx: Cx<'_>,
    customer: Option<&Customer>,
    fields: &Fields,
) -> Done<(Address, Vec<Problem>)> {
    let countries = places::countries(tx, true, &cx.look.language)?;
    let chosen = fields.get("address_id").and_then(Json::as_str).and_then(|id| id.parse::<i64>().ok());
    if let (Some(customer), Some(chosen)) = (customer, chosen) {
        let own = customers::addresses(tx, customer.id)?;
        if let Some(address) = own.into_iter().find(|address| address.id == chosen) {
            let ships = countries.iter().any(|country| country.code == address.country);
            let wrong = if ships { Vec::new() } else { vec![Problem::field("country", "country")] };
            return Ok((address, wrong));
        }
    }
    Ok(fields::address(fields, &countries))
}

/// Keeps how it is sent and paid, if both can be chosen; else what is wrong.
pub(crate) fn set_methods(
    tx: &mut Tx,
    cx: Cx<'_>,
    cart: &Cart,
    customer: Option<&Customer>,
    fields: &Fields,
) -> Done<Vec<Problem>> {
    let number =
        |name: &str| fields.get(name).and_then(Json::as_str).and_then(|id| id.trim().parse::<i64>().ok());
    let priced = price(tx, cx, cart.clone(), customer)?;
    let mut problems = Vec::new();
    let method = number("shipping").and_then(|id| priced.shipping_methods.iter().find(|one| one.id == id));
    let shipping = method.map(|method| method.id);
    if priced.ships && shipping.is_none() {
        problems.push(Problem::field("shipping", "choose"));
    }
    let location = match method.filter(|method| method.pickup) {
        Some(_) => pickup_place(tx, cx, number("place"), &mut problems)?,
        None => None,
    };
    keep(
        tx,
        cx,
        cart,
        &[
            ("shipping_method_id", shipping.into()),
            ("location_id", location.into()),
            ("comment", fields::comment(fields, "comment").into()),
        ],
    )?;
    // Which ways to pay there are may depend on what sending costs.
    let cart = carts::by_id(tx, cart.id)?.ok_or(Problem::of("changed"))?;
    let priced = price(tx, cx, cart.clone(), customer)?;
    let payment = number("payment").filter(|id| priced.payment_methods.iter().any(|one| one.id == *id));
    if priced.totals.total > 0 && payment.is_none() {
        problems.push(Problem::field("payment", "choose"));
    }
    keep(tx, cx, &cart, &[("payment_method_id", payment.into())])?;
    Ok(problems)
}

/// The place where the goods are fetched: the chosen one, else the only one there is.
fn pickup_place(
    tx: &mut Tx,
    cx: Cx<'_>,
    chosen: Option<i64>,
    problems: &mut Vec<Problem>,
) -> Done<Option<i64>> {
    let places = places::pickup_places(tx, &cx.look.language)?;
    let found = match places.as_slice() {
        [only] => Some(only.id),
        _ => chosen.filter(|id| places.iter().any(|place| place.id == *id)),
    };
    if found.is_none() && !places.is_empty() {
        problems.push(Problem::field("place", "choose"));
    }
    Ok(found)
}

fn keep(tx: &mut Tx, cx: Cx<'_>, cart: &Cart, values: &[(&str, Value)]) -> Done<()> {
    if carts::set(tx, cart.id, cart.version, values, cx.now)? {
        return Ok(());
    }
    Err(Problem::of("changed").into())
}

/// The order that a visitor's cart became already: a form that is sent twice places one order.
pub(crate) fn earlier(
    tx: &mut Tx,
    token: Option<&str>,
    customer: Option<&Customer>,
    cart: Option<i64>,
) -> Done<Option<Placed>> {
    let of_cookie = match token {
        Some(token) => carts::by_token(tx, &hash(token))?.filter(|cart| cart.customer_id.is_none()),
        None => None,
    };
    let named = match cart {
        Some(id) => carts::by_id(tx, id)?,
        None => None,
    };
    let own = named.filter(|cart| match (cart.customer_id, customer) {
        (Some(owner), Some(customer)) => owner == customer.id,
        (None, _) => of_cookie.as_ref().is_some_and(|of_cookie| of_cookie.id == cart.id),
        (Some(_), None) => false,
    });
    let Some(cart) = own.filter(|cart| cart.state == "kOrdered") else { return Ok(None) };
    let Some(order) = orders::by_cart(tx, cart.id)? else { return Ok(None) };
    let open = rows::of_order(tx, order.id)?.into_iter().find(|payment| payment.state == "kOpen");
    let Some(token) = token_of(tx, &order)? else { return Ok(None) };
    Ok(Some(Placed { token, payment: open.map(|payment| payment.id) }))
}

/// Places the order, if the cart is still what the shopper confirmed.
pub(crate) fn place(
    tx: &mut Tx,
    cx: Cx<'_>,
    cart: &Cart,
    customer: Option<&Customer>,
    confirmed: &str,
) -> Done<Placed> {
    tx.lock_row("carts", cart.id)?;
    let cart = carts::by_id(tx, cart.id)?.ok_or(Problem::of("changed"))?;
    let priced = price(tx, cx, cart, customer)?;
    if let Some(step) = missing_step(&priced) {
        return Err(Problem::of(if step == "cart" { "changed" } else { "missing" }).into());
    }
    if seen(&priced) != confirmed {
        return Err(Problem::of("changed").into());
    }
    let (key, token) = order_key(tx, priced.cart.id)?;
    let new = new_order(tx, cx, &priced, customer, key, &token)?;
    let placed = orders::place(tx, &new, &priced.basis, &priced.totals, cx.now).map_err(told)?;
    let payment = begin_payment(tx, cx, &priced, placed.id)?;
    if !placed.is_repeat {
        mails::placed(tx, cx, placed.id)?;
        // Who pays here and now is told how only if it does not work.
        let provider = priced.payment.as_ref().and_then(|way| payments::provider(&way.provider));
        if provider.is_some_and(|provider| !provider.is_online()) {
            mails::pay(tx, cx, placed.id)?;
        }
    }
    Ok(Placed { token, payment })
}

fn told(error: PlaceError) -> NotDone {
    match error {
        PlaceError::OutOfStock(ReserveError::OutOfStock { cause, .. }) if cause.available == 0 => {
            Problem::of("sold_out").into()
        }
        PlaceError::OutOfStock(cause) => cause.into(),
        PlaceError::Db(cause) => cause.into(),
        PlaceError::UsedUp(_) => Problem::of("used_up").into(),
        PlaceError::CartChanged => Problem::of("changed").into(),
        PlaceError::Lines(..) => NotDone::Broke("lines and totals differ".to_owned()),
    }
}

fn new_order(
    tx: &mut Tx,
    cx: Cx<'_>,
    priced: &Priced,
    customer: Option<&Customer>,
    key: String,
    token: &str,
) -> Done<NewOrder> {
    let cart = &priced.cart;
    let rate = places::exchange_rate(tx, &cx.settings.config.currency, &cart.currency, cx.now)?;
    let pay_until = match &priced.payment {
        Some(method) if priced.totals.total > 0 => pay_until(tx, cx, method.id)?,
        _ => None,
    };
    Ok(NewOrder {
        cart: Some((cart.id, cart.version)),
        key,
        token_hash: hash(token).to_vec(),
        customer_id: customer.map(|customer| customer.id),
        email: cart.email.clone(),
        phone: cart.phone.clone(),
        language: cx.look.language.clone(),
        rate_e9: rate.unwrap_or(1_000_000_000),
        lines: priced.lines.iter().filter(|line| line.at.is_some()).map(new_line).collect(),
        shipping_address: priced.address.clone().filter(|_| priced.ships),
        billing_address: cart.billing_address.as_deref().and_then(fields::address_of),
        shipping_method: priced.shipping.as_ref().map(|method| (method.id, method.name.clone())),
        payment_method: priced.payment.as_ref().map(|method| (method.id, method.name.clone())),
        location_id: cart.location_id,
        comment: cart.comment.clone(),
        source: "kStorefront".to_owned(),
        pay_until,
        uses: uses(tx, priced)?,
        author_id: None,
    })
}

fn new_line(line: &super::basis::PricedLine) -> NewLine {
    let price = line.price.map_or(0, |price| price.amount);
    let Some(goods) = &line.goods else { return NewLine::default() };
    NewLine {
        variant_id: Some(line.variant_id),
        sku: goods.sku.clone().unwrap_or_default(),
        gtin: goods.gtin.clone().unwrap_or_default(),
        name: goods.name.clone(),
        options: line.options.join(", "),
        file_id: goods.file_id,
        measure: goods.measure.clone().unwrap_or_default(),
        weight: goods.weight,
        cost: goods.cost.zip(goods.cost_currency.clone()),
        list_price: price,
        tax_class_id: goods.tax_class_id,
    }
}

/// Promotions that took effect, with the coupons they took it by.
fn uses(tx: &mut Tx, priced: &Priced) -> Done<Vec<Use>> {
    let mut uses = Vec::new();
    for id in &priced.totals.promotions {
        let promotion = priced.basis.promotions.iter().find(|one| one.id == *id);
        let coupon_id = match promotion.and_then(|promotion| promotion.coupon.as_deref()) {
            Some(code) => promotions::coupon(tx, code)?.map(|coupon| coupon.id),
            None => None,
        };
        uses.push(Use { promotion_id: *id, coupon_id });
    }
    Ok(uses)
}

fn pay_until(tx: &mut Tx, cx: Cx<'_>, method: i64) -> Done<Option<jiff::Timestamp>> {
    let Some((provider, settings)) = places::provider(tx, method)? else { return Ok(None) };
    let Some(provider) = payments::provider(&provider) else { return Ok(None) };
    let minutes = provider.minutes_to_pay(&payments::settings(&settings));
    Ok(minutes.map(|minutes| cx.now + SignedDuration::from_mins(minutes.clamp(1, 60 * 24 * 365))))
}

fn begin_payment(tx: &mut Tx, cx: Cx<'_>, priced: &Priced, order: i64) -> Done<Option<i64>> {
    let Some(method) = priced.payment.as_ref().filter(|_| priced.totals.total > 0) else { return Ok(None) };
    let amount = (priced.totals.total, priced.basis.currency.code);
    let key = format!("order:{order}:1");
    let payment = rows::start(tx, order, Some(method.id), &method.provider, amount, &key, cx.now)?;
    Ok(Some(payment.id))
}

/// Countries that the shop sends to.
pub(crate) fn countries(tx: &mut Tx, cx: Cx<'_>) -> Done<Vec<Country>> {
    Ok(places::countries(tx, true, &cx.look.language)?)
}
