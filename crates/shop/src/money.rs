//! Amounts of money: whole minor units beside a currency, rounded half up, never a number with a fraction.

mod format;

pub use format::{NotAmount, format_amount, parse_amount};

/// A rule that could not be worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// The result does not fit into 64 bits, or something was divided by nothing.
    #[error("the amount is too large")]
    TooLarge,
}

/// What is worked out, or why not.
pub type Result<T> = std::result::Result<T, MoneyError>;

/// Rates are written in millionths: 20 % is 200,000.
pub const MILLION: i64 = 1_000_000;

/// A currency as ISO 4217 lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Currency {
    /// Three letters.
    pub code: &'static str,
    /// How many digits the minor unit has: 2 for EUR, 0 for JPY, 3 for KWD.
    pub decimals: u8,
    /// Its sign, where people know one.
    pub symbol: Option<&'static str>,
    /// English name.
    pub name: &'static str,
}

/// Currencies that a store may use, by code.
pub const CURRENCIES: &[Currency] = &[
    currency("AED", 2, None, "UAE dirham"),
    currency("AMD", 2, Some("֏"), "Armenian dram"),
    currency("ARS", 2, None, "Argentine peso"),
    currency("AUD", 2, Some("A$"), "Australian dollar"),
    currency("AZN", 2, Some("₼"), "Azerbaijani manat"),
    currency("BGN", 2, None, "Bulgarian lev"),
    currency("BHD", 3, None, "Bahraini dinar"),
    currency("BRL", 2, Some("R$"), "Brazilian real"),
    currency("BYN", 2, None, "Belarusian ruble"),
    currency("CAD", 2, Some("CA$"), "Canadian dollar"),
    currency("CHF", 2, None, "Swiss franc"),
    currency("CLP", 0, None, "Chilean peso"),
    currency("CNY", 2, Some("CN¥"), "Chinese yuan"),
    currency("COP", 2, None, "Colombian peso"),
    currency("CZK", 2, None, "Czech koruna"),
    currency("DKK", 2, None, "Danish krone"),
    currency("EGP", 2, None, "Egyptian pound"),
    currency("EUR", 2, Some("€"), "Euro"),
    currency("GBP", 2, Some("£"), "Pound sterling"),
    currency("GEL", 2, Some("₾"), "Georgian lari"),
    currency("HKD", 2, Some("HK$"), "Hong Kong dollar"),
    currency("HUF", 2, None, "Hungarian forint"),
    currency("IDR", 2, None, "Indonesian rupiah"),
    currency("ILS", 2, Some("₪"), "Israeli new shekel"),
    currency("INR", 2, Some("₹"), "Indian rupee"),
    currency("ISK", 0, None, "Icelandic króna"),
    currency("JOD", 3, None, "Jordanian dinar"),
    currency("JPY", 0, Some("¥"), "Japanese yen"),
    currency("KES", 2, None, "Kenyan shilling"),
    currency("KGS", 2, None, "Kyrgyzstani som"),
    currency("KRW", 0, Some("₩"), "South Korean won"),
    currency("KWD", 3, None, "Kuwaiti dinar"),
    currency("KZT", 2, Some("₸"), "Kazakhstani tenge"),
    currency("MAD", 2, None, "Moroccan dirham"),
    currency("MDL", 2, None, "Moldovan leu"),
    currency("MXN", 2, Some("MX$"), "Mexican peso"),
    currency("MYR", 2, None, "Malaysian ringgit"),
    currency("NGN", 2, Some("₦"), "Nigerian naira"),
    currency("NOK", 2, None, "Norwegian krone"),
    currency("NZD", 2, Some("NZ$"), "New Zealand dollar"),
    currency("OMR", 3, None, "Omani rial"),
    currency("PEN", 2, None, "Peruvian sol"),
    currency("PHP", 2, Some("₱"), "Philippine peso"),
    currency("PKR", 2, None, "Pakistani rupee"),
    currency("PLN", 2, Some("zł"), "Polish złoty"),
    currency("QAR", 2, None, "Qatari riyal"),
    currency("RON", 2, None, "Romanian leu"),
    currency("RSD", 2, None, "Serbian dinar"),
    currency("RUB", 2, Some("₽"), "Russian ruble"),
    currency("SAR", 2, None, "Saudi riyal"),
    currency("SEK", 2, None, "Swedish krona"),
    currency("SGD", 2, Some("S$"), "Singapore dollar"),
    currency("THB", 2, Some("฿"), "Thai baht"),
    currency("TJS", 2, None, "Tajikistani somoni"),
    currency("TND", 3, None, "Tunisian dinar"),
    currency("TRY", 2, Some("₺"), "Turkish lira"),
    currency("TWD", 2, Some("NT$"), "New Taiwan dollar"),
    currency("UAH", 2, Some("₴"), "Ukrainian hryvnia"),
    currency("USD", 2, Some("$"), "US dollar"),
    currency("UYU", 2, None, "Uruguayan peso"),
    currency("UZS", 2, None, "Uzbekistani som"),
    currency("VND", 0, Some("₫"), "Vietnamese đồng"),
    currency("ZAR", 2, Some("R"), "South African rand"),
];

const fn currency(
    code: &'static str,
    decimals: u8,
    symbol: Option<&'static str>,
    name: &'static str,
) -> Currency {
    Currency { code, decimals, symbol, name }
}

impl Currency {
    /// The currency of this code.
    pub fn find(code: &str) -> Option<Self> {
        let at = CURRENCIES.binary_search_by(|known| known.code.cmp(code)).ok()?;
        CURRENCIES.get(at).copied()
    }
}

/// `amount · times / by`, rounded half up (away from zero, so that a refund mirrors its charge).
pub fn scaled(amount: i64, times: i64, by: i64) -> Result<i64> {
    rounded(i128::from(amount).checked_mul(i128::from(times)), i128::from(by))
}

/// `numerator / denominator`, rounded half up, away from zero.
pub(crate) fn rounded(numerator: Option<i128>, denominator: i128) -> Result<i64> {
    let numerator = numerator.ok_or(MoneyError::TooLarge)?;
    let whole = numerator.checked_div(denominator).ok_or(MoneyError::TooLarge)?;
    let rest = numerator.checked_rem(denominator).ok_or(MoneyError::TooLarge)?;
    let half = rest.unsigned_abs() >= denominator.unsigned_abs() - rest.unsigned_abs();
    let up = if rest == 0 || !half { 0 } else { numerator.signum() * denominator.signum() };
    i64::try_from(whole + up).map_err(|_| MoneyError::TooLarge)
}

/// A part of an amount: `rate_ppm` millionths of it.
pub fn part(amount: i64, rate_ppm: i64) -> Result<i64> {
    scaled(amount, rate_ppm, MILLION)
}

/// The nearest multiple of a step, half up; a step of 0 or 1 changes nothing.
pub fn to_step(amount: i64, step: i64) -> Result<i64> {
    if step <= 1 {
        return Ok(amount);
    }
    scaled(amount, 1, step)?.checked_mul(step).ok_or(MoneyError::TooLarge)
}

/// The price of a quantity, which counts the smallest parts of its measure: 1.5 kg is 1500 at 3 decimals.
pub fn for_quantity(price: i64, quantity: i64, decimals: u8) -> Result<i64> {
    let parts = 10_i64.checked_pow(decimals.into()).ok_or(MoneyError::TooLarge)?;
    scaled(price, quantity, parts)
}

/// An amount in another currency; `rate_e9` is billionths of a unit of `to` for a unit of `from`.
pub fn exchanged(amount: i64, from: Currency, to: Currency, rate_e9: i64) -> Result<i64> {
    let power = |digits: u8| 10_i128.checked_pow(digits.into()).ok_or(MoneyError::TooLarge);
    let numerator = i128::from(amount).checked_mul(rate_e9.into());
    let numerator = numerator.and_then(|much| much.checked_mul(power(to.decimals).ok()?));
    rounded(numerator, power(from.decimals)?.checked_mul(1_000_000_000).ok_or(MoneyError::TooLarge)?)
}

/// The sum, if it fits.
pub fn sum(amounts: impl IntoIterator<Item = i64>) -> Result<i64> {
    amounts.into_iter().try_fold(0_i64, i64::checked_add).ok_or(MoneyError::TooLarge)
}

/// Deals an amount out by weights, so that the parts add up to it exactly.
///
/// Every part is first rounded down; what is left goes in single units to the largest remainders, ties to the
/// earlier part. Weights below zero count as none; if none is left, the first part takes all.
pub fn share(amount: i64, weights: &[i64]) -> Result<Vec<i64>> {
    let weights: Vec<i128> = weights.iter().map(|weight| i128::from((*weight).max(0))).collect();
    let all: i128 = weights.iter().sum();
    let mut parts = vec![0_i64; weights.len()];
    if all == 0 {
        if let Some(first) = parts.first_mut() {
            *first = amount;
        }
        return Ok(parts);
    }
    let size = i128::from(amount.unsigned_abs());
    let sign = amount.signum();
    let mut remainders = Vec::with_capacity(weights.len());
    let mut left = size;
    for (at, weight) in weights.iter().enumerate() {
        let whole = size.checked_mul(*weight).ok_or(MoneyError::TooLarge)?;
        left -= whole / all;
        remainders.push((whole % all, at));
        parts[at] = i64::try_from(whole / all).map_err(|_| MoneyError::TooLarge)?;
    }
    remainders.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    for (_, at) in remainders {
        if left == 0 {
            break;
        }
        parts[at] += 1;
        left -= 1;
    }
    Ok(parts.into_iter().map(|part| part * sign).collect())
}

#[cfg(test)]
mod tests;
