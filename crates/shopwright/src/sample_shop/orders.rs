//! Orders in every state, with what they did to stock and money.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use db::Value;
use shop::order::{LinePieces, OrderMoney, delivery_state};
use shop::promotion::{Buyer, Promotion};
use shop::refund::{LineSold, Refund, of_pieces};
use shop::tax::{TaxDisplay, TaxRate, TaxRounding};
use shop::text::folded;
use shop::totals::{Basis, Line, LineTotals, Shipping, Taxed, Totals, totals};

use super::catalogue::{Catalogue, ProductOf};
use super::lists::{self, Offer};
use super::people;
use super::random::Stream;
use super::words::either;
use super::writer::Writer;

/// What became of an order; they come in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Story {
    Arrived,
    Sent,
    New,
    Wait,
    PartlySent,
    Cancelled,
    Returned,
    Accepted,
    CashNew,
    PartlyReturned,
}

const STORIES: [Story; 12] = [
    Story::Arrived,
    Story::New,
    Story::Sent,
    Story::Wait,
    Story::Arrived,
    Story::PartlySent,
    Story::Accepted,
    Story::Cancelled,
    Story::Arrived,
    Story::Returned,
    Story::CashNew,
    Story::PartlyReturned,
];

impl Story {
    fn state(self) -> &'static str {
        match self {
            Self::Arrived | Self::Sent | Self::Returned | Self::PartlyReturned => "kDone",
            Self::New | Self::CashNew => "kNew",
            Self::Wait => "kWait",
            Self::PartlySent | Self::Accepted => "kAccept",
            Self::Cancelled => "kCancel",
        }
    }

    /// Whether a parcel has left and not arrived.
    fn is_on_its_way(self) -> bool {
        matches!(self, Self::Sent | Self::PartlySent)
    }

    fn is_paid(self) -> bool {
        !matches!(self, Self::Wait | Self::CashNew | Self::Cancelled)
    }

    /// Pieces of a line: cancelled, sent, come back.
    fn pieces(self, line: usize, quantity: i64) -> LinePieces {
        let (shipped, returned) = match self {
            Self::Arrived | Self::Sent => (quantity, 0),
            Self::Returned => (quantity, quantity),
            Self::PartlyReturned => (quantity, if line == 0 { 1 } else { 0 }),
            Self::PartlySent => (if line == 0 { quantity } else { 0 }, 0),
            Self::New | Self::CashNew | Self::Wait | Self::Accepted | Self::Cancelled => (0, 0),
        };
        let cancelled = if self == Self::Cancelled { quantity } else { 0 };
        LinePieces { quantity, cancelled, shipped, returned }
    }
}

/// One line of an order.
struct LineOf<'c> {
    product: ProductOf<'c>,
    variant_id: i64,
    price: i64,
    pieces: LinePieces,
    /// What goes back to the customer for returned pieces.
    refunded: Refund,
}

/// One order, worked out from its place.
struct OrderOf<'c> {
    id: i64,
    at: i64,
    story: Story,
    customer: i64,
    language: &'static str,
    /// Hours before now.
    placed: i64,
    lines: Vec<LineOf<'c>>,
    totals: Totals,
    refunded: i64,
}

/// What orders did to the stock of a variant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effect {
    /// Pieces promised to lines that wait.
    pub(super) reserved: i64,
    /// Pieces that left and came back.
    pub(super) left: i64,
}

/// All orders.
pub(super) struct Orders<'c> {
    catalogue: &'c Catalogue<'c>,
    offers: [Offer; 4],
    orders: Vec<OrderOf<'c>>,
}

fn rates(class: &str) -> Vec<TaxRate> {
    vec![TaxRate { name: "VAT".to_owned(), rate_ppm: lists::rate(class), is_compound: false }]
}

impl<'c> Orders<'c> {
    /// Works all orders out.
    pub(super) fn new(catalogue: &'c Catalogue<'c>) -> Result<Self> {
        let first = catalogue.plan.ids("orders");
        let offers = lists::offers(catalogue.plan.first_leaf(catalogue.words));
        let orders = (0..catalogue.plan.orders).map(|at| order(catalogue, &offers, first + at, at));
        let orders = orders.collect::<Result<_>>()?;
        Ok(Self { catalogue, offers, orders })
    }

    /// The promotions there are.
    pub(super) fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// Places of the promotions that an order uses; one that was cancelled has given them back.
    fn uses(&self, order: &OrderOf<'_>) -> Vec<i64> {
        let first = self.catalogue.plan.ids("promotions");
        let is_kept = order.story != Story::Cancelled;
        order.totals.promotions.iter().filter(|_| is_kept).map(|id| id - first).collect()
    }

    /// How often promotions were used, by their places.
    pub(super) fn promotions_used(&self) -> BTreeMap<i64, i64> {
        let mut used = BTreeMap::new();
        for at in self.orders.iter().flat_map(|order| self.uses(order)) {
            *used.entry(at).or_default() += 1;
        }
        used
    }

    /// What they did to the stock, by variant.
    pub(super) fn effects(&self) -> BTreeMap<i64, Effect> {
        let mut effects: BTreeMap<i64, Effect> = BTreeMap::new();
        for line in self.orders.iter().flat_map(|order| &order.lines) {
            let effect = effects.entry(line.variant_id).or_default();
            effect.reserved += line.pieces.open();
            effect.left += line.pieces.shipped - line.pieces.returned;
        }
        effects
    }

    /// Fills the tables.
    pub(super) fn write(&self, writer: &mut Writer<'_>) -> Result<()> {
        self.orders(writer)?;
        self.order_addresses(writer)?;
        self.lines(writer)?;
        self.adjustments(writer)?;
        self.promotion_uses(writer)?;
        self.history(writer)?;
        self.deliveries(writer)?;
        self.money(writer)?;
        self.stock_of_lines(writer)
    }

    fn orders(&self, writer: &mut Writer<'_>) -> Result<()> {
        let plan = self.catalogue.plan;
        let words = self.catalogue.words;
        writer.table("orders", plan.ids("orders"), |rows| {
            for order in &self.orders {
                let done = &order.totals;
                let paid = if order.story.is_paid() { done.total } else { 0 };
                let money = OrderMoney { total: done.total, held: 0, paid, refunded: order.refunded };
                let pieces: Vec<LinePieces> = order.lines.iter().map(|line| line.pieces).collect();
                let email = people::email(words, order.customer);
                let placed = plan.hours_ago(order.placed)?;
                let is_cash = order.story == Story::CashNew;
                let closed = if matches!(order.story.state(), "kDone" | "kCancel") {
                    Value::from(plan.hours_ago(order.placed / 2)?)
                } else {
                    Value::Null
                };
                let pay_until = if order.story == Story::Wait {
                    plan.hours_ago(order.placed - 24 * 30)?.into()
                } else {
                    Value::Null
                };
                let comment = if order.at % 5 == 0 {
                    either("Please ring twice.", "Позвоните, пожалуйста, дважды.", order.language)
                } else {
                    ""
                };
                let reason = if order.story == Story::Cancelled {
                    either("Changed my mind.", "Передумал.", order.language)
                } else {
                    ""
                };
                rows.add(&[
                    ("id", order.id.into()),
                    ("number", (plan.first_order_number + order.at).to_string().into()),
                    ("token_hash", Stream::of("order token", order.id).bytes().into()),
                    ("state", order.story.state().into()),
                    ("pay", money.state().into()),
                    ("delivery", delivery_state(&pieces, !order.story.is_on_its_way())?.into()),
                    ("customer_id", (plan.ids("customers") + order.customer).into()),
                    ("email_folded", folded(&email).into()),
                    ("email", email.into()),
                    ("phone", people::phone(order.customer).into()),
                    ("language", order.language.into()),
                    ("currency", plan.currency.code.into()),
                    ("decimals", i64::from(plan.currency.decimals).into()),
                    ("tax_included", true.into()),
                    ("rate_e9", 1_000_000_000_i64.into()),
                    ("goods", done.goods.into()),
                    ("discount", done.discount.into()),
                    ("shipping", done.shipping.into()),
                    ("fees", done.fees.into()),
                    ("rounding", done.rounding.into()),
                    ("tax", done.tax.into()),
                    ("total", done.total.into()),
                    ("paid", paid.into()),
                    ("refunded", order.refunded.into()),
                    ("shipping_method_id", plan.ids("shipping_methods").into()),
                    ("shipping_name", lists::SHIPPING[0].name(order.language).into()),
                    ("payment_method_id", (plan.ids("payment_methods") + i64::from(is_cash)).into()),
                    ("payment_name", lists::PAYMENT[usize::from(is_cash)].name(order.language).into()),
                    ("comment", comment.into()),
                    ("source", "kStorefront".into()),
                    ("placed", placed.clone().into()),
                    ("pay_until", pay_until),
                    ("closed", closed),
                    ("reason", reason.into()),
                    ("created", placed.clone().into()),
                    ("changed", placed.into()),
                ])?;
            }
            Ok(())
        })
    }

    fn order_addresses(&self, writer: &mut Writer<'_>) -> Result<()> {
        let plan = self.catalogue.plan;
        writer.table("order_addresses", plan.ids("order_addresses"), |rows| {
            for order in &self.orders {
                for kind in ["kShipping", "kBilling"] {
                    let mut columns = people::address(self.catalogue.words, order.customer);
                    columns.push(("order_id", order.id.into()));
                    columns.push(("kind", kind.into()));
                    rows.add(&columns)?;
                }
            }
            Ok(())
        })
    }

    /// Every line with its number.
    fn each_line(
        &self,
        mut take: impl FnMut(&OrderOf<'c>, usize, &LineOf<'c>, i64) -> Result<()>,
    ) -> Result<()> {
        let mut id = self.catalogue.plan.ids("order_lines");
        for order in &self.orders {
            for (at, line) in order.lines.iter().enumerate() {
                take(order, at, line, id)?;
                id += 1;
            }
        }
        Ok(())
    }

    fn lines(&self, writer: &mut Writer<'_>) -> Result<()> {
        let plan = self.catalogue.plan;
        writer.table("order_lines", plan.ids("order_lines"), |rows| {
            self.each_line(|order, at, line, id| {
                let done = order.totals.lines.get(at).context("a line without totals")?;
                let value = line.product.base.scheme.values.first().context("no variants")?;
                rows.add(&[
                    ("id", id.into()),
                    ("order_id", order.id.into()),
                    ("position", i64::try_from(at + 1)?.into()),
                    ("variant_id", line.variant_id.into()),
                    ("product_id", line.product.id.into()),
                    ("sku", line.product.sku(0).into()),
                    ("gtin", "".into()),
                    ("name", line.product.name(order.language).into()),
                    ("options", either(&value.1, &value.2, order.language).into()),
                    ("measure", "".into()),
                    ("measure_decimals", 0_i64.into()),
                    ("weight", value.4.into()),
                    ("quantity", line.pieces.quantity.into()),
                    ("cancelled", line.pieces.cancelled.into()),
                    ("shipped", line.pieces.shipped.into()),
                    ("returned", line.pieces.returned.into()),
                    ("refunded", line.refunded.amount.into()),
                    ("refunded_tax", line.refunded.tax.into()),
                    ("refunded_quantity", line.pieces.returned.into()),
                    ("list_price", line.price.into()),
                    ("price", line.price.into()),
                    ("amount", done.amount.into()),
                    ("discount", done.discount.into()),
                    ("tax", done.tax.into()),
                    ("total", done.total.into()),
                    ("tax_class_id", plan.key("tax_classes", line.product.base.tax)?.into()),
                ])?;
                Ok(())
            })
        })
    }

    fn adjustments(&self, writer: &mut Writer<'_>) -> Result<()> {
        let plan = self.catalogue.plan;
        let first_line = plan.ids("order_lines");
        writer.table("order_adjustments", plan.ids("order_adjustments"), |rows| {
            let mut first = first_line;
            for order in &self.orders {
                for row in &order.totals.adjustments {
                    let line = row.line.map(i64::try_from).transpose()?.map(|at| first + at);
                    rows.add(&[
                        ("order_id", order.id.into()),
                        ("order_line_id", line.into()),
                        ("kind", row.kind.as_str().into()),
                        ("source", row.source.into()),
                        ("code", row.code.clone().unwrap_or_default().into()),
                        ("name", (&row.name).into()),
                        ("amount", row.amount.into()),
                    ])?;
                }
                first += i64::try_from(order.lines.len())?;
            }
            Ok(())
        })?;
        writer.table("order_tax_lines", plan.ids("order_tax_lines"), |rows| {
            let mut first = first_line;
            for order in &self.orders {
                for tax in &order.totals.tax_lines {
                    let line = match tax.on {
                        Taxed::Line(at) => Some(first + i64::try_from(at)?),
                        Taxed::Shipping | Taxed::Fee(_) => None,
                    };
                    rows.add(&[
                        ("order_id", order.id.into()),
                        ("order_line_id", line.into()),
                        ("name", (&tax.name).into()),
                        ("rate_ppm", tax.rate_ppm.into()),
                        ("base", tax.base.into()),
                        ("tax", tax.tax.into()),
                    ])?;
                }
                first += i64::try_from(order.lines.len())?;
            }
            Ok(())
        })
    }

    fn promotion_uses(&self, writer: &mut Writer<'_>) -> Result<()> {
        let plan = self.catalogue.plan;
        // How often each customer has used each promotion so far.
        let mut counts: BTreeMap<(i64, i64), i64> = BTreeMap::new();
        writer.table("promotion_uses", plan.ids("promotion_uses"), |rows| {
            for order in &self.orders {
                for at in self.uses(order) {
                    let count = counts.entry((at, order.customer)).or_default();
                    *count += 1;
                    rows.add(&[
                        ("promotion_id", (plan.ids("promotions") + at).into()),
                        ("coupon_id", lists::coupon_id(plan, &self.offers, at).into()),
                        ("order_id", order.id.into()),
                        ("customer_key", folded(&people::email(self.catalogue.words, order.customer)).into()),
                        ("n", (*count).into()),
                    ])?;
                }
            }
            Ok(())
        })
    }

    fn history(&self, writer: &mut Writer<'_>) -> Result<()> {
        let plan = self.catalogue.plan;
        writer.table("order_history", plan.ids("order_history"), |rows| {
            for order in &self.orders {
                let way: &[&str] = match order.story {
                    Story::Wait => &["kDraft", "kWait"],
                    Story::CashNew => &["kDraft", "kNew"],
                    Story::New => &["kDraft", "kWait", "kNew"],
                    Story::Accepted | Story::PartlySent => &["kDraft", "kWait", "kNew", "kAccept"],
                    Story::Cancelled => &["kDraft", "kWait", "kCancel"],
                    Story::Arrived | Story::Sent | Story::Returned | Story::PartlyReturned => {
                        &["kDraft", "kWait", "kNew", "kAccept", "kDone"]
                    }
                };
                for (step, pair) in (0_i64..).zip(way.windows(2)) {
                    let [old, new] = pair else { continue };
                    rows.add(&[
                        ("order_id", order.id.into()),
                        ("time", plan.hours_ago(order.placed - step * order.placed / 5)?.into()),
                        ("axis", "kState".into()),
                        ("old", (*old).into()),
                        ("new", (*new).into()),
                        ("text", "".into()),
                        ("for_customer", true.into()),
                    ])?;
                }
            }
            Ok(())
        })
    }

    fn deliveries(&self, writer: &mut Writer<'_>) -> Result<()> {
        let plan = self.catalogue.plan;
        let sent: Vec<&OrderOf<'_>> = self
            .orders
            .iter()
            .filter(|order| order.lines.iter().any(|line| line.pieces.shipped > 0))
            .collect();
        let shipments: BTreeMap<i64, i64> =
            sent.iter().map(|order| order.id).zip(plan.ids("shipments")..).collect();
        writer.table("shipments", plan.ids("shipments"), |rows| {
            for order in &sent {
                let is_on_its_way = order.story.is_on_its_way();
                let arrived =
                    if is_on_its_way { Value::Null } else { plan.hours_ago(order.placed / 3)?.into() };
                rows.add(&[
                    ("order_id", order.id.into()),
                    ("location_id", plan.main_location.into()),
                    ("carrier", "Post".into()),
                    ("tracking", format!("CK{:09}LT", order.id).into()),
                    ("state", if is_on_its_way { "kSent" } else { "kArrived" }.into()),
                    ("sent", plan.hours_ago(order.placed / 2)?.into()),
                    ("arrived", arrived),
                ])?;
            }
            Ok(())
        })?;
        writer.table("shipment_lines", plan.ids("shipment_lines"), |rows| {
            self.each_line(|order, _, line, id| {
                if let (Some(shipment), 1..) = (shipments.get(&order.id), line.pieces.shipped) {
                    rows.add(&[
                        ("shipment_id", (*shipment).into()),
                        ("order_line_id", id.into()),
                        ("quantity", line.pieces.shipped.into()),
                    ])?;
                }
                Ok(())
            })
        })?;
        self.returns(writer)
    }

    /// Numbers of what each order that was given back has once, a return or a refund, by order.
    fn ids_of_returned(&self, table: &str) -> BTreeMap<i64, i64> {
        let back = self.orders.iter().filter(|order| order.refunded > 0);
        back.map(|order| order.id).zip(self.catalogue.plan.ids(table)..).collect()
    }

    fn returns(&self, writer: &mut Writer<'_>) -> Result<()> {
        let plan = self.catalogue.plan;
        let returns = self.ids_of_returned("returns");
        writer.table("returns", plan.ids("returns"), |rows| {
            for order in self.orders.iter().filter(|order| returns.contains_key(&order.id)) {
                let text = either("It does not fit my shelf.", "Не встаёт на мою полку.", order.language);
                let answer = either(
                    "It has arrived, the money is on its way.",
                    "Получили, деньги отправлены.",
                    order.language,
                );
                rows.add(&[
                    ("id", returns.get(&order.id).copied().into()),
                    ("order_id", order.id.into()),
                    ("state", "kGot".into()),
                    ("text", text.into()),
                    ("answer", answer.into()),
                ])?;
            }
            Ok(())
        })?;
        writer.table("return_lines", plan.ids("return_lines"), |rows| {
            self.each_line(|order, _, line, id| {
                if let (Some(back), 1..) = (returns.get(&order.id), line.pieces.returned) {
                    rows.add(&[
                        ("return_id", (*back).into()),
                        ("order_line_id", id.into()),
                        ("quantity", line.pieces.returned.into()),
                        ("restock", true.into()),
                        ("location_id", plan.main_location.into()),
                        ("reason", "".into()),
                    ])?;
                }
                Ok(())
            })
        })
    }

    fn money(&self, writer: &mut Writer<'_>) -> Result<()> {
        let plan = self.catalogue.plan;
        writer.table("payments", plan.ids("payments"), |rows| {
            for order in self.orders.iter().filter(|order| order.story != Story::CashNew) {
                let is_paid = order.story.is_paid();
                let when = plan.hours_ago(order.placed)?;
                rows.add(&[
                    ("id", payment_id(plan.ids("payments"), order.at).into()),
                    ("order_id", order.id.into()),
                    ("method_id", plan.ids("payment_methods").into()),
                    ("provider", "transfer".into()),
                    ("amount", order.totals.total.into()),
                    ("currency", plan.currency.code.into()),
                    (
                        "state",
                        if is_paid {
                            "kPaid"
                        } else if order.story == Story::Wait {
                            "kOpen"
                        } else {
                            "kVoid"
                        }
                        .into(),
                    ),
                    ("captured", if is_paid { order.totals.total } else { 0 }.into()),
                    ("refunded", order.refunded.into()),
                    ("key", format!("sample-{}", order.id).into()),
                    ("error", "".into()),
                    ("created", when.clone().into()),
                    ("changed", when.into()),
                ])?;
            }
            Ok(())
        })?;
        let returns = self.ids_of_returned("returns");
        let refunds = self.ids_of_returned("refunds");
        writer.table("refunds", plan.ids("refunds"), |rows| {
            for order in self.orders.iter().filter(|order| order.refunded > 0) {
                let when = plan.hours_ago(order.placed / 4)?;
                rows.add(&[
                    ("id", refunds.get(&order.id).copied().into()),
                    ("payment_id", payment_id(plan.ids("payments"), order.at).into()),
                    ("amount", order.refunded.into()),
                    ("state", "kDone".into()),
                    ("reason", either("Returned.", "Возврат.", order.language).into()),
                    ("return_id", returns.get(&order.id).copied().into()),
                    ("key", format!("sample-refund-{}", order.id).into()),
                    ("error", "".into()),
                    ("created", when.clone().into()),
                    ("changed", when.into()),
                ])?;
            }
            Ok(())
        })?;
        writer.table("refund_lines", plan.ids("refund_lines"), |rows| {
            self.each_line(|order, _, line, id| {
                if let (Some(refund), 1..) = (refunds.get(&order.id), line.pieces.returned) {
                    rows.add(&[
                        ("refund_id", (*refund).into()),
                        ("kind", "kLine".into()),
                        ("order_line_id", id.into()),
                        ("quantity", line.pieces.returned.into()),
                        ("amount", line.refunded.amount.into()),
                        ("tax", line.refunded.tax.into()),
                    ])?;
                }
                Ok(())
            })
        })
    }

    fn stock_of_lines(&self, writer: &mut Writer<'_>) -> Result<()> {
        let plan = self.catalogue.plan;
        writer.table("reservations", plan.ids("reservations"), |rows| {
            self.each_line(|_, _, line, id| {
                if line.pieces.open() > 0 {
                    rows.add(&[
                        ("variant_id", line.variant_id.into()),
                        ("location_id", plan.main_location.into()),
                        ("quantity", line.pieces.open().into()),
                        ("order_line_id", id.into()),
                    ])?;
                }
                Ok(())
            })
        })?;
        writer.table("stock_moves", plan.ids("stock_moves"), |rows| {
            self.each_line(|order, _, line, id| {
                let when = plan.hours_ago(order.placed / 2)?;
                for (kind, pieces) in [("kSale", -line.pieces.shipped), ("kReturn", line.pieces.returned)] {
                    if pieces != 0 {
                        rows.add(&[
                            ("variant_id", line.variant_id.into()),
                            ("location_id", plan.main_location.into()),
                            ("quantity", pieces.into()),
                            ("kind", kind.into()),
                            ("source", format!("order_lines:{id}:{kind}").into()),
                            ("reason", "".into()),
                            ("time", when.clone().into()),
                        ])?;
                    }
                }
                Ok(())
            })
        })
    }
}

fn payment_id(first: i64, at: i64) -> i64 {
    first + at
}

fn order<'c>(catalogue: &'c Catalogue<'c>, offers: &[Offer], id: i64, at: i64) -> Result<OrderOf<'c>> {
    let plan = catalogue.plan;
    let mut stream = Stream::of("order", at);
    let story = STORIES[usize::try_from(at).unwrap_or(0) % STORIES.len()];
    let mut lines: Vec<LineOf<'c>> = Vec::new();
    // What is partly sent has something left to send.
    let least = if story == Story::PartlySent { 3 } else { 1 };
    for _ in 0..least + stream.below(4) {
        let product = catalogue.product(stream.below(plan.products))?;
        let quantity = 1 + stream.below(3);
        if lines.iter().any(|line| line.product.id == product.id) {
            continue;
        }
        let pieces = story.pieces(lines.len(), quantity);
        let (variant_id, price) = (product.first_variant, product.price(0));
        lines.push(LineOf { product, variant_id, price, pieces, refunded: Refund { amount: 0, tax: 0 } });
    }
    // What is closed may be old; nobody waits for long.
    let placed = 6 + (at * 11) % if matches!(story.state(), "kDone" | "kCancel") { 2000 } else { 200 };
    let done = totals(&basis(catalogue, &lines, promotions(catalogue, offers, at, placed)?))?;
    let mut refunded = 0;
    for (line, totals) in lines.iter_mut().zip(&done.lines) {
        if line.pieces.returned > 0 {
            line.refunded = of_pieces(sold(totals, line.pieces.quantity), line.pieces.returned)?;
            refunded += line.refunded.amount;
        }
    }
    let language = if at % 3 == 0 { "ru" } else { "en" };
    Ok(OrderOf {
        id,
        at,
        story,
        customer: stream.below(plan.customers),
        language,
        placed,
        lines,
        totals: done,
        refunded,
    })
}

/// Promotions in force when an order was placed: those for everybody, and that of the coupon which came with it.
/// Coupons have limits, so that they come with early orders only.
fn promotions(catalogue: &Catalogue<'_>, offers: &[Offer], at: i64, placed: i64) -> Result<Vec<Promotion>> {
    if placed >= 60 * 24 {
        return Ok(Vec::new());
    }
    let coupon = match at {
        at if at % 5 == 0 && at < 400 => Some("FIVE"),
        at if at % 7 == 0 && at < 35 => Some("DECEMBER"),
        _ => None,
    };
    let all = (0_i64..).zip(offers);
    let open = all.filter(|(_, offer)| offer.coupon.is_none_or(|(code, _)| Some(code) == coupon));
    let mut open: Vec<_> =
        open.map(|(at, offer)| offer.promotion(catalogue.plan, at)).collect::<Result<_>>()?;
    open.sort_by_key(|promotion| std::cmp::Reverse(promotion.priority));
    Ok(open)
}

/// A line of which nothing came back yet.
fn sold(line: &LineTotals, quantity: i64) -> LineSold {
    let (total, tax) = (line.total, line.tax);
    LineSold { total, tax, quantity, back: quantity, refunded_quantity: 0, refunded: 0, refunded_tax: 0 }
}

fn basis(catalogue: &Catalogue<'_>, lines: &[LineOf<'_>], promotions: Vec<Promotion>) -> Basis {
    Basis {
        currency: catalogue.plan.currency,
        display: TaxDisplay::Included,
        rounding: TaxRounding::Order,
        cash_step: 0,
        lines: lines
            .iter()
            .map(|line| Line {
                product_id: line.product.id,
                categories: vec![line.product.base.category_id],
                price: line.price,
                quantity: line.pieces.quantity,
                decimals: 0,
                rates: rates(line.product.base.tax),
            })
            .collect(),
        promotions,
        buyer: Buyer::default(),
        shipping: Some(Shipping {
            name: lists::SHIPPING[0].en.to_owned(),
            amount: 490,
            free_from: Some(5000),
            rates: rates("kStandard"),
        }),
        fees: Vec::new(),
    }
}
