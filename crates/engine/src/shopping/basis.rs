//! What a cart comes to: everything its totals depend on is read here, and handed to `shop::totals`.

use std::collections::HashMap;

use db::carts::{Cart, CartLine};
use db::customers::{Address, Customer};
use db::goods::{self, Goods};
use db::places::{self, Parcel, PaymentMethod, ShippingMethod};
use db::prices::{self, Price, PriceList};
use db::stock::Availability;
use db::{Tx, carts, customers, orders, promotions, stock};
use shop::money::{Currency, part};
use shop::promotion::Buyer;
use shop::stock::{QuantityError, QuantityRule};
use shop::tax::{TaxDisplay, TaxRate, TaxRounding};
use shop::totals::{Basis, Fee, Line, Shipping, Totals, totals};

use super::fields::{address_of, is_fetcher};
use super::{Cx, Done, NotDone, Problem};
use crate::payments;

/// A cart with everything that follows from it at this moment.
pub(crate) struct Priced {
    /// The cart.
    pub(crate) cart: Cart,
    /// Its lines and what comes for nothing, as people see them.
    pub(crate) lines: Vec<PricedLine>,
    /// Coupons in it.
    pub(crate) coupons: Vec<(i64, String)>,
    /// What the totals were worked out from: lines that can be bought.
    pub(crate) basis: Basis,
    /// What it comes to.
    pub(crate) totals: Totals,
    /// Ways to send it.
    pub(crate) shipping_methods: Vec<ShippingMethod>,
    /// The chosen one, where it can still be chosen.
    pub(crate) shipping: Option<ShippingMethod>,
    /// Ways to pay it.
    pub(crate) payment_methods: Vec<PaymentMethod>,
    /// The chosen one, where it can still be chosen.
    pub(crate) payment: Option<PaymentMethod>,
    /// Whether anything of it is sent.
    pub(crate) ships: bool,
    /// Where it goes.
    pub(crate) address: Option<Address>,
    /// Whether the shopper comes for it: they gave no address to send it to.
    pub(crate) fetches: bool,
}

/// A line of a cart.
pub(crate) struct PricedLine {
    /// The line; a gift has none.
    pub(crate) line: Option<CartLine>,
    /// The variant.
    pub(crate) variant_id: i64,
    /// How many.
    pub(crate) quantity: i64,
    /// What it is, if it still is.
    pub(crate) goods: Option<Goods>,
    /// Values of the options.
    pub(crate) options: Vec<String>,
    /// Its price.
    pub(crate) price: Option<Price>,
    /// Why it cannot be bought so.
    pub(crate) problem: Option<Problem>,
    /// Its place among the lines of the totals.
    pub(crate) at: Option<usize>,
}

/// What lines are looked up in.
struct Lookup {
    goods: HashMap<i64, Goods>,
    options: HashMap<i64, Vec<String>>,
    stock: HashMap<i64, Availability>,
    own: HashMap<i64, i64>,
    lists: Vec<PriceList>,
    prices: prices::Prices,
    categories: HashMap<i64, Vec<i64>>,
    rates: HashMap<i64, Vec<TaxRate>>,
}

/// Works a cart out.
pub(crate) fn price(tx: &mut Tx, cx: Cx<'_>, cart: Cart, customer: Option<&Customer>) -> Done<Priced> {
    let held = carts::lines(tx, cart.id)?;
    let address = cart.address.as_deref().and_then(address_of);
    let zones = zones(tx, address.as_ref())?;
    let variants: Vec<i64> = held.iter().map(|line| line.variant_id).collect();
    let found = look_up(tx, cx, &cart, customer, &variants, &zones)?;
    let mut lines: Vec<PricedLine> = held.into_iter().map(|line| found.line(line, cx)).collect();
    let currency = Currency::find(&cart.currency)
        .ok_or_else(|| NotDone::Broke(format!("no such currency: {}", cart.currency)))?;
    let included = found.lists.first().is_none_or(|list| list.tax_included);
    let mut basis = Basis {
        currency,
        display: if included { TaxDisplay::Included } else { TaxDisplay::OnTop },
        rounding: TaxRounding::Order,
        cash_step: 0,
        lines: Vec::new(),
        promotions: promotions::in_force(tx, Some(cart.id), cx.now)?,
        buyer: buyer(tx, &cart, customer, &zones)?,
        shipping: None,
        fees: Vec::new(),
    };
    for line in &mut lines {
        found.put(line, &mut basis);
    }
    let mut sums = totals(&basis)?;
    if !sums.gifts.is_empty() {
        add_gifts(tx, cx, &cart, &sums.gifts, &mut lines, &mut basis, customer, &zones)?;
        sums = totals(&basis)?;
    }
    let coupons = carts::coupons(tx, cart.id)?;
    let ships =
        lines.iter().any(|line| line.at.is_some() && line.goods.as_ref().is_some_and(|goods| goods.ships));
    let mut priced = Priced {
        coupons,
        totals: sums,
        shipping_methods: Vec::new(),
        shipping: None,
        payment_methods: Vec::new(),
        payment: None,
        ships,
        address,
        fetches: cart.address.as_deref().is_some_and(is_fetcher),
        cart,
        lines,
        basis,
    };
    choose_shipping(tx, cx, &mut priced, &zones, &found)?;
    choose_payment(tx, cx, &mut priced, &zones, &found)?;
    Ok(priced)
}

/// The zones of where the goods go; until that is known, of where they are sent from.
fn zones(tx: &mut Tx, address: Option<&Address>) -> Done<Vec<i64>> {
    if let Some(address) = address {
        return Ok(places::zones(tx, &address.country, &address.region, &address.postcode)?);
    }
    match goods::home_country(tx)? {
        Some(country) => Ok(places::zones(tx, &country, "", "")?),
        None => Ok(Vec::new()),
    }
}

fn look_up(
    tx: &mut Tx,
    cx: Cx<'_>,
    cart: &Cart,
    customer: Option<&Customer>,
    variants: &[i64],
    zones: &[i64],
) -> Done<Lookup> {
    let goods = goods::of_variants(tx, variants, &cx.look.language, cx.now)?;
    let products: Vec<i64> = goods.values().map(|goods| goods.product_id).collect();
    let group = customer.and_then(|customer| customer.group_id);
    let mut lists = prices::open_lists(tx, &cart.currency, group, cx.now)?;
    // One order has prices of one kind: with the tax in them, or without.
    if let Some(included) = lists.first().map(|list| list.tax_included) {
        lists.retain(|list| list.tax_included == included);
    }
    let is_exempt = match group {
        Some(group) => customers::is_tax_exempt(tx, group)?,
        None => false,
    };
    let is_business = customer.is_some_and(|customer| !customer.tax_number.is_empty());
    Ok(Lookup {
        options: goods::option_words(tx, variants, &cx.look.language)?,
        stock: stock::of_variants(tx, variants, cx.now)?,
        own: stock::held_by_cart(tx, cart.id, cx.now)?,
        prices: prices::of_variants(tx, variants, &lists)?,
        categories: goods::categories(tx, &products)?,
        rates: if is_exempt { HashMap::new() } else { places::tax_rates(tx, zones, is_business, cx.now)? },
        lists,
        goods,
    })
}

fn buyer(tx: &mut Tx, cart: &Cart, customer: Option<&Customer>, zones: &[i64]) -> Done<Buyer> {
    let email = customer.map_or(cart.email.as_str(), |customer| customer.email.as_str());
    let is_first_order = email.is_empty() || !orders::has_ordered(tx, email)?;
    Ok(Buyer {
        group_id: customer.and_then(|customer| customer.group_id),
        zone_id: zones.first().copied(),
        is_first_order,
    })
}

impl Lookup {
    fn line(&self, line: CartLine, cx: Cx<'_>) -> PricedLine {
        let goods = self.goods.get(&line.variant_id).cloned();
        let price = self.prices.choose(line.variant_id, line.quantity, &self.lists, cx.now);
        let problem = self.problem(&line, goods.as_ref(), price.as_ref());
        PricedLine {
            variant_id: line.variant_id,
            quantity: line.quantity,
            options: self.options.get(&line.variant_id).cloned().unwrap_or_default(),
            line: Some(line),
            goods,
            price,
            problem,
            at: None,
        }
    }

    fn problem(&self, line: &CartLine, goods: Option<&Goods>, price: Option<&Price>) -> Option<Problem> {
        let Some(goods) = goods.filter(|goods| goods.is_sold) else { return Some(Problem::of("gone")) };
        if price.is_none() {
            return Some(Problem::of("no_price"));
        }
        if let Err(problem) = check_quantity(goods, line.quantity) {
            return Some(problem);
        }
        let own = self.own.get(&line.variant_id).copied().unwrap_or(0);
        check_stock(self.stock.get(&line.variant_id), own, line.quantity).err()
    }

    /// Puts a line that can be bought among those of the totals.
    fn put(&self, line: &mut PricedLine, basis: &mut Basis) {
        let (Some(goods), Some(price), None) = (&line.goods, &line.price, &line.problem) else { return };
        line.at = Some(basis.lines.len());
        basis.lines.push(Line {
            product_id: goods.product_id,
            categories: self.categories.get(&goods.product_id).cloned().unwrap_or_default(),
            price: price.amount,
            quantity: line.quantity,
            decimals: u8::try_from(goods.decimals).unwrap_or(0),
            rates: self.rates_of(goods.tax_class_id),
        });
    }

    fn rates_of(&self, class: Option<i64>) -> Vec<TaxRate> {
        class.and_then(|class| self.rates.get(&class)).cloned().unwrap_or_default()
    }
}

/// Whether so many of something may be bought at all.
pub(crate) fn check_quantity(goods: &Goods, quantity: i64) -> Result<(), Problem> {
    let rule = QuantityRule { least: goods.min_quantity, most: goods.max_quantity, step: goods.step };
    rule.check(quantity).map_err(|error| match error {
        QuantityError::TooFew(least) => Problem::with("too_few", least),
        QuantityError::TooMany(most) => Problem::with("too_many", most),
        QuantityError::Step(step) => Problem::with("step", step),
    })
}

/// Whether there are so many; `own` are those the cart itself holds.
pub(crate) fn check_stock(stock: Option<&Availability>, own: i64, quantity: i64) -> Result<(), Problem> {
    let Some(stock) = stock else { return Err(Problem::of("gone")) };
    match stock.for_sale().map(|count| count + own) {
        Some(0) => Err(Problem::of("sold_out")),
        Some(left) if left < quantity => Err(Problem::with("only_left", left)),
        _ => Ok(()),
    }
}

/// Gifts of promotions, one of each, as long as there are some.
#[expect(clippy::too_many_arguments, reason = "called once, from `price`, with what it has at hand")]
fn add_gifts(
    tx: &mut Tx,
    cx: Cx<'_>,
    cart: &Cart,
    gifts: &[i64],
    lines: &mut Vec<PricedLine>,
    basis: &mut Basis,
    customer: Option<&Customer>,
    zones: &[i64],
) -> Done<()> {
    let found = look_up(tx, cx, cart, customer, gifts, zones)?;
    for variant in gifts {
        let bought: i64 =
            lines.iter().filter(|line| line.variant_id == *variant).map(|line| line.quantity).sum();
        let Some(goods) = found.goods.get(variant).filter(|goods| goods.is_sold) else { continue };
        if check_stock(found.stock.get(variant), 0, bought + 1).is_err() {
            continue;
        }
        let price = Price { list_id: 0, min_quantity: 1, amount: 0, compare_at: None };
        let mut line = PricedLine {
            line: None,
            variant_id: *variant,
            quantity: 1,
            goods: Some(goods.clone()),
            options: found.options.get(variant).cloned().unwrap_or_default(),
            price: Some(price),
            problem: None,
            at: None,
        };
        found.put(&mut line, basis);
        lines.push(line);
    }
    Ok(())
}

fn choose_shipping(tx: &mut Tx, cx: Cx<'_>, priced: &mut Priced, zones: &[i64], found: &Lookup) -> Done<()> {
    if !priced.ships {
        return Ok(());
    }
    let bought = priced.lines.iter().filter(|line| line.at.is_some());
    let mut parcel = Parcel { total: priced.totals.goods - priced.totals.discount, ..Parcel::default() };
    for line in bought {
        let Some(goods) = line.goods.as_ref().filter(|goods| goods.ships) else { continue };
        let whole = 10_i64.pow(u32::try_from(goods.decimals).unwrap_or(0));
        let weight = goods.weight.unwrap_or(0).saturating_mul(line.quantity) / whole;
        parcel.weight = parcel.weight.saturating_add(weight);
        parcel.pieces = parcel.pieces.saturating_add(line.quantity / whole);
    }
    let language = &cx.look.language;
    priced.shipping_methods = places::shipping_methods(tx, zones, &priced.cart.currency, parcel, language)?;
    if priced.fetches {
        priced.shipping_methods.retain(|method| method.pickup);
    }
    let chosen = priced.cart.shipping_method_id;
    priced.shipping = priced.shipping_methods.iter().find(|method| Some(method.id) == chosen).cloned();
    // What is taxed as nothing of its own is taxed as the goods are.
    let class = priced.lines.iter().find_map(|line| line.goods.as_ref()?.tax_class_id);
    if let Some(method) = &priced.shipping {
        priced.basis.shipping = Some(Shipping {
            name: method.name.clone(),
            amount: method.amount,
            free_from: method.free_from,
            rates: found.rates_of(method.tax_class_id.or(class)),
        });
        priced.totals = totals(&priced.basis)?;
    }
    Ok(())
}

fn choose_payment(tx: &mut Tx, cx: Cx<'_>, priced: &mut Priced, zones: &[i64], found: &Lookup) -> Done<()> {
    let (currency, language) = (&priced.cart.currency, &cx.look.language);
    let methods = places::payment_methods(tx, zones, currency, priced.totals.total, language)?;
    // A way to pay that nothing here carries out is none.
    priced.payment_methods =
        methods.into_iter().filter(|method| payments::provider(&method.provider).is_some()).collect();
    let chosen = priced.cart.payment_method_id;
    priced.payment = priced.payment_methods.iter().find(|method| Some(method.id) == chosen).cloned();
    let Some(method) = &priced.payment else { return Ok(()) };
    let amount = method.fee + part(priced.totals.total, method.fee_ppm)?;
    if amount != 0 {
        let class = priced.lines.iter().find_map(|line| line.goods.as_ref()?.tax_class_id);
        priced.basis.fees = vec![Fee { name: method.name.clone(), amount, rates: found.rates_of(class) }];
    }
    let is_cash = payments::provider(&method.provider).is_some_and(|provider| provider.is_cash());
    if is_cash && let Some(row) = places::currency(tx, &priced.cart.currency)? {
        priced.basis.cash_step = row.cash_step;
    }
    priced.totals = totals(&priced.basis)?;
    Ok(())
}
