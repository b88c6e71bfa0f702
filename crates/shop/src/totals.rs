//! What a cart or an order comes to: one pure function, in the order of the specification (data.md, B).

mod discounts;
mod taxing;

use crate::money::{Currency, MoneyError, Result, for_quantity, sum, to_step};
use crate::promotion::{Buyer, Promotion};
use crate::tax::{TaxDisplay, TaxRate, TaxRounding};

/// Everything a total depends on.
#[derive(Clone, Debug)]
pub struct Basis {
    /// The currency of all amounts.
    pub currency: Currency,
    /// Whether prices hold the tax.
    pub display: TaxDisplay,
    /// Where taxes are rounded.
    pub rounding: TaxRounding,
    /// Paid in cash: the total is a multiple of this many minor units; 0 rounds nothing.
    pub cash_step: i64,
    /// The goods, in the order people see.
    pub lines: Vec<Line>,
    /// Promotions in force; those behind a coupon only where the coupon was typed.
    pub promotions: Vec<Promotion>,
    /// Who buys.
    pub buyer: Buyer,
    /// The chosen way of shipping.
    pub shipping: Option<Shipping>,
    /// What is added: cash on delivery, wrapping.
    pub fees: Vec<Fee>,
}

/// Goods of one kind.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// The product.
    pub product_id: i64,
    /// Its categories, those above them too.
    pub categories: Vec<i64>,
    /// Price of one measure (a piece, a kilogram).
    pub price: i64,
    /// How many smallest parts of the measure.
    pub quantity: i64,
    /// Digits of the measure's parts: 0 for pieces, 3 for kilograms in grams.
    pub decimals: u8,
    /// The rates that hold for these goods where they go.
    pub rates: Vec<TaxRate>,
}

/// A way of shipping and its price.
#[derive(Clone, Debug, Default)]
pub struct Shipping {
    /// Name that the customer reads.
    pub name: String,
    /// What it costs.
    pub amount: i64,
    /// Goods of this worth, after discounts and as displayed, ship for nothing.
    pub free_from: Option<i64>,
    /// The rates that hold for it.
    pub rates: Vec<TaxRate>,
}

/// Something that is added to the goods.
#[derive(Clone, Debug, Default)]
pub struct Fee {
    /// Name that the customer reads.
    pub name: String,
    /// What it costs.
    pub amount: i64,
    /// The rates that hold for it.
    pub rates: Vec<TaxRate>,
}

/// Why an amount differs from the price times the quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdjustmentKind {
    /// A promotion of the store.
    Promotion,
    /// A coupon that the customer typed.
    Coupon,
    /// A fee.
    Fee,
    /// Shipping.
    Shipping,
    /// Rounding to what can be paid in cash.
    Rounding,
}

impl AdjustmentKind {
    /// The key in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Promotion => "kPromotion",
            Self::Coupon => "kCoupon",
            Self::Fee => "kFee",
            Self::Shipping => "kShipping",
            Self::Rounding => "kRounding",
        }
    }
}

/// One change of an amount; discounts are below zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjustment {
    /// Index of the line it belongs to; `None` is the order's.
    pub line: Option<usize>,
    /// Why.
    pub kind: AdjustmentKind,
    /// Number of the promotion.
    pub source: Option<i64>,
    /// The coupon.
    pub code: Option<String>,
    /// Name that the customer reads.
    pub name: String,
    /// Minor units.
    pub amount: i64,
}

/// What a tax stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taxed {
    /// Goods: the index of the line.
    Line(usize),
    /// Shipping.
    Shipping,
    /// A fee, by its index.
    Fee(usize),
}

/// The tax of one rate on one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxLine {
    /// On what.
    pub on: Taxed,
    /// Name of the rate.
    pub name: String,
    /// Millionths.
    pub rate_ppm: i64,
    /// What the rate is applied to.
    pub base: i64,
    /// The tax.
    pub tax: i64,
}

/// What one line comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineTotals {
    /// Price times quantity.
    pub amount: i64,
    /// What is taken off, 0 or more.
    pub discount: i64,
    /// The tax in it or on top of it.
    pub tax: i64,
    /// `amount - discount`, with the tax where it comes on top.
    pub total: i64,
}

/// What a cart or an order comes to.
///
/// Invariant: `goods - discount + shipping + fees + rounding` (`+ tax` where it comes on top) is `total`, and each
/// of them is the sum of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Lines, in the order of the basis.
    pub lines: Vec<LineTotals>,
    /// Sum of price times quantity.
    pub goods: i64,
    /// Sum of all discounts, 0 or more.
    pub discount: i64,
    /// Shipping.
    pub shipping: i64,
    /// Fees.
    pub fees: i64,
    /// Rounding for cash.
    pub rounding: i64,
    /// All taxes.
    pub tax: i64,
    /// What is to be paid.
    pub total: i64,
    /// Every change of an amount.
    pub adjustments: Vec<Adjustment>,
    /// Every tax.
    pub tax_lines: Vec<TaxLine>,
    /// Variants that come for nothing.
    pub gifts: Vec<i64>,
    /// Numbers of the promotions that took effect, for counting their use.
    pub promotions: Vec<i64>,
}

/// Works a total out.
pub fn totals(basis: &Basis) -> Result<Totals> {
    let amounts = basis.lines.iter().map(|line| for_quantity(line.price, line.quantity, line.decimals));
    let amounts = amounts.collect::<Result<Vec<i64>>>()?;
    let discounts = discounts::apply(basis, &amounts)?;
    let shipping = shipping(basis, &discounts)?;
    let fees = sum(basis.fees.iter().map(|fee| fee.amount))?;
    let tax_lines = taxing::tax_lines(basis, &discounts.left, shipping)?;
    let tax = sum(tax_lines.iter().map(|line| line.tax))?;
    let lines = line_totals(basis, &amounts, &discounts.left, &tax_lines)?;
    let goods = sum(amounts.iter().copied())?;
    let discount = sum(lines.iter().map(|line| line.discount))?;
    let on_top = if basis.display == TaxDisplay::OnTop { tax } else { 0 };
    let exact = sum([goods, -discount, shipping, fees, on_top])?;
    let total = to_step(exact, basis.cash_step)?;
    let mut adjustments = discounts.adjustments;
    adjustments.extend(order_rows(basis, shipping, total - exact));
    Ok(Totals {
        lines,
        goods,
        discount,
        shipping,
        fees,
        rounding: total - exact,
        tax,
        total,
        adjustments,
        tax_lines,
        gifts: discounts.gifts,
        promotions: discounts.used,
    })
}

/// What shipping costs: judged on the goods after discounts as displayed, alike with and without a coupon.
fn shipping(basis: &Basis, discounts: &discounts::Discounts) -> Result<i64> {
    let Some(shipping) = &basis.shipping else { return Ok(0) };
    let goods = sum(discounts.left.iter().copied())?;
    let is_free = discounts.is_shipping_free || shipping.free_from.is_some_and(|least| goods >= least);
    Ok(if is_free { 0 } else { shipping.amount })
}

fn line_totals(
    basis: &Basis,
    amounts: &[i64],
    left: &[i64],
    tax_lines: &[TaxLine],
) -> Result<Vec<LineTotals>> {
    let mut lines: Vec<LineTotals> = amounts
        .iter()
        .zip(left)
        .map(|(amount, left)| LineTotals { amount: *amount, discount: amount - left, tax: 0, total: *left })
        .collect();
    for tax in tax_lines {
        let Taxed::Line(at) = tax.on else { continue };
        if let Some(line) = lines.get_mut(at) {
            line.tax = line.tax.checked_add(tax.tax).ok_or(MoneyError::TooLarge)?;
            if basis.display == TaxDisplay::OnTop {
                line.total = line.total.checked_add(tax.tax).ok_or(MoneyError::TooLarge)?;
            }
        }
    }
    Ok(lines)
}

/// Rows of what belongs to no line: shipping, fees, rounding.
fn order_rows(basis: &Basis, shipping: i64, rounding: i64) -> Vec<Adjustment> {
    let row = |kind, name: &str, amount| Adjustment {
        line: None,
        kind,
        source: None,
        code: None,
        name: name.to_owned(),
        amount,
    };
    let mut rows = Vec::new();
    if let Some(way) = &basis.shipping {
        rows.push(row(AdjustmentKind::Shipping, &way.name, shipping));
    }
    rows.extend(basis.fees.iter().map(|fee| row(AdjustmentKind::Fee, &fee.name, fee.amount)));
    if rounding != 0 {
        rows.push(row(AdjustmentKind::Rounding, "", rounding));
    }
    rows
}

#[cfg(test)]
mod tests;
