//! What a total depends on and what it comes to.

use crate::money::Currency;
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
