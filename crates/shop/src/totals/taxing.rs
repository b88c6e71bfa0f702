//! Taxes of an order: once for each set of rates over all it holds for, then shared to lines, shipping and fees.

use super::{Basis, TaxLine, Taxed};
use crate::money::{MoneyError, Result, share};
use crate::tax::{RateTax, TaxDisplay, TaxRate, TaxRounding, taxes};

/// One thing that is taxed.
struct Part<'a> {
    on: Taxed,
    amount: i64,
    rates: &'a [TaxRate],
}

pub(super) fn tax_lines(basis: &Basis, left: &[i64], shipping: i64) -> Result<Vec<TaxLine>> {
    let parts = parts(basis, left, shipping);
    match basis.rounding {
        TaxRounding::Line => {
            let mut out = Vec::new();
            for part in &parts {
                let found = taxes(part.amount, part.rates, basis.display)?;
                out.extend(rows(part, &found));
            }
            Ok(out)
        }
        TaxRounding::Order => over_the_order(&parts, basis.display),
    }
}

fn parts<'a>(basis: &'a Basis, left: &[i64], shipping: i64) -> Vec<Part<'a>> {
    let lines = basis.lines.iter().zip(left).enumerate();
    let mut parts: Vec<Part<'a>> = lines
        .map(|(at, (line, left))| Part { on: Taxed::Line(at), amount: *left, rates: &line.rates })
        .collect();
    if let Some(way) = &basis.shipping {
        parts.push(Part { on: Taxed::Shipping, amount: shipping, rates: &way.rates });
    }
    let fees = basis.fees.iter().enumerate();
    parts.extend(fees.map(|(at, fee)| Part { on: Taxed::Fee(at), amount: fee.amount, rates: &fee.rates }));
    parts
}

fn rows(part: &Part<'_>, found: &[RateTax]) -> Vec<TaxLine> {
    let row = |(rate, one): (&TaxRate, &RateTax)| TaxLine {
        on: part.on,
        name: rate.name.clone(),
        rate_ppm: rate.rate_ppm,
        base: one.base,
        tax: one.tax,
    };
    part.rates.iter().zip(found).map(row).collect()
}

fn over_the_order(parts: &[Part<'_>], display: TaxDisplay) -> Result<Vec<TaxLine>> {
    let mut found: Vec<Vec<RateTax>> = parts.iter().map(|_| Vec::new()).collect();
    let mut sets: Vec<&[TaxRate]> = Vec::new();
    for part in parts {
        if !sets.contains(&part.rates) {
            sets.push(part.rates);
        }
    }
    for rates in sets {
        let of: Vec<usize> = (0..parts.len()).filter(|at| parts[*at].rates == rates).collect();
        let amounts: Vec<i64> = of.iter().map(|at| parts[*at].amount).collect();
        let whole = amounts.iter().try_fold(0_i64, |sum, one| sum.checked_add(*one));
        let whole = taxes(whole.ok_or(MoneyError::TooLarge)?, rates, display)?;
        // A shared tax and a shared base: each adds up to what the rate brings over the order.
        for one in &whole {
            let shares = share(one.tax, &amounts)?;
            let bases = share(one.base, &amounts)?;
            for (at, (tax, base)) in of.iter().zip(shares.into_iter().zip(bases)) {
                found[*at].push(RateTax { base, tax });
            }
        }
    }
    Ok(parts.iter().zip(&found).flat_map(|(part, found)| rows(part, found)).collect())
}
