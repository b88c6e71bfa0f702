//! What a cart or an order comes to: one pure function, in the order of the specification (data.md, B).

mod discounts;
mod taxing;
mod types;

use crate::money::{MoneyError, Result, for_quantity, sum, to_step};
use crate::tax::TaxDisplay;

pub use types::{Adjustment, AdjustmentKind, Basis, Fee, Line, LineTotals, Shipping, TaxLine, Taxed, Totals};

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
