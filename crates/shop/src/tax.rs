//! Taxes: rates of a zone and class, and what of an amount is tax.

use crate::money::{MILLION, MoneyError, Result, part, rounded, share};

/// One rate that holds for a class of goods in a zone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaxRate {
    /// Name that stands on the invoice.
    pub name: String,
    /// Millionths: 20 % is 200,000.
    pub rate_ppm: i64,
    /// Reckoned on the amount with the plain rates' taxes in it.
    pub is_compound: bool,
}

/// How prices relate to taxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaxDisplay {
    /// Prices hold the tax.
    Included,
    /// The tax comes on top.
    OnTop,
}

/// Where taxes are rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaxRounding {
    /// Once for each rate over the whole order.
    #[default]
    Order,
    /// On each line, where the law asks for it.
    Line,
}

/// The tax of one rate within an amount or on top of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTax {
    /// What the rate is applied to.
    pub base: i64,
    /// The tax.
    pub tax: i64,
}

/// The taxes of all rates on an amount, in the order of the rates.
pub fn taxes(amount: i64, rates: &[TaxRate], display: TaxDisplay) -> Result<Vec<RateTax>> {
    match display {
        TaxDisplay::OnTop => on_top(amount, rates),
        TaxDisplay::Included => within(amount, rates),
    }
}

fn on_top(amount: i64, rates: &[TaxRate]) -> Result<Vec<RateTax>> {
    let mut out = vec![RateTax { base: amount, tax: 0 }; rates.len()];
    let mut base = amount;
    for is_compound in [false, true] {
        let before = base;
        for (rate, place) in rates.iter().zip(&mut out).filter(|(rate, _)| rate.is_compound == is_compound) {
            // Plain rates stand beside each other, compound ones on top of each other.
            let on = if is_compound { base } else { before };
            let tax = part(on, rate.rate_ppm)?;
            *place = RateTax { base: on, tax };
            base = base.checked_add(tax).ok_or(MoneyError::TooLarge)?;
        }
    }
    Ok(out)
}

/// `gross · r / (1 + r)`; where several rates hold, their taxes together are rounded once and then shared.
fn within(gross: i64, rates: &[TaxRate]) -> Result<Vec<RateTax>> {
    let million = i128::from(MILLION);
    let plain: i128 =
        rates.iter().filter(|rate| !rate.is_compound).map(|rate| i128::from(rate.rate_ppm)).sum();
    // What one million of net becomes with all taxes, kept exact to a millionth of a millionth.
    let mut with_taxes = (million + plain) * million;
    let mut weights = vec![0_i64; rates.len()];
    for (rate, weight) in rates.iter().zip(&mut weights).filter(|(rate, _)| !rate.is_compound) {
        *weight = rate.rate_ppm;
    }
    for (rate, weight) in rates.iter().zip(&mut weights).filter(|(rate, _)| rate.is_compound) {
        let tax = with_taxes * i128::from(rate.rate_ppm) / million;
        *weight = i64::try_from(tax / million).map_err(|_| MoneyError::TooLarge)?;
        with_taxes += tax;
    }
    let taxed = with_taxes - million * million;
    let tax = rounded(i128::from(gross).checked_mul(taxed), with_taxes)?;
    let net = gross - tax;
    let parts = share(tax, &weights)?;
    let simple: i64 =
        rates.iter().zip(&parts).filter(|(rate, _)| !rate.is_compound).map(|(_, tax)| tax).sum();
    let mut base = net + simple;
    Ok(rates
        .iter()
        .zip(parts)
        .map(|(rate, tax)| {
            let on = if rate.is_compound { base } else { net };
            if rate.is_compound {
                base += tax;
            }
            RateTax { base: on, tax }
        })
        .collect())
}

/// The price abroad of a price that holds the taxes at home, where the net amount is kept instead of the gross.
pub fn gross_abroad(gross: i64, home: &[TaxRate], abroad: &[TaxRate]) -> Result<i64> {
    let at_home: i64 = within(gross, home)?.iter().map(|one| one.tax).sum();
    let net = gross - at_home;
    let tax: i64 = on_top(net, abroad)?.iter().map(|one| one.tax).sum();
    net.checked_add(tax).ok_or(MoneyError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(rate_ppm: i64) -> TaxRate {
        TaxRate { name: "VAT".to_owned(), rate_ppm, is_compound: false }
    }

    fn tax(amount: i64, rates: &[TaxRate], display: TaxDisplay) -> Vec<i64> {
        taxes(amount, rates, display).unwrap().into_iter().map(|one| one.tax).collect()
    }

    #[test]
    fn a_single_rate_is_in_the_amount_or_on_top_of_it() {
        assert_eq!(tax(2997, &[rate(200_000)], TaxDisplay::Included), [500]);
        assert_eq!(tax(3112, &[rate(82_500)], TaxDisplay::OnTop), [257]);
        assert_eq!(tax(1654, &[rate(190_000)], TaxDisplay::Included), [264]);
        assert_eq!(tax(1881, &[rate(100_000)], TaxDisplay::Included), [171]);
        assert_eq!(tax(10_000, &[rate(240_000)], TaxDisplay::Included), [1935]);
        assert_eq!(tax(10_000, &[], TaxDisplay::Included), Vec::<i64>::new());
    }

    #[test]
    fn compound_rates_stand_on_the_plain_ones() {
        let rates = [rate(50_000), TaxRate { name: "QST".to_owned(), rate_ppm: 100_000, is_compound: true }];
        assert_eq!(tax(10_000, &rates, TaxDisplay::OnTop), [500, 1050]);
        let within = taxes(11_550, &rates, TaxDisplay::Included).unwrap();
        assert_eq!(within[0], RateTax { base: 10_000, tax: 500 });
        assert_eq!(within[1], RateTax { base: 10_500, tax: 1050 });
    }

    #[test]
    fn abroad_the_net_price_can_be_kept() {
        assert_eq!(gross_abroad(12_000, &[rate(200_000)], &[rate(240_000)]), Ok(12_400));
        assert_eq!(gross_abroad(12_000, &[rate(200_000)], &[]), Ok(10_000));
    }
}
