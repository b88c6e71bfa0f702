//! Amounts as people write and read them.

use super::Currency;

/// No-break space, between groups of digits and before a sign.
const SPACE: char = '\u{a0}';

/// Why a text is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAmount {
    /// It is not digits with at most one decimal sign.
    #[error("it is not a number")]
    NotANumber,
    /// It has more decimals than the currency.
    #[error("the currency has fewer decimals")]
    TooFine,
    /// It does not fit.
    #[error("it is too large")]
    TooLarge,
}

/// An amount in a language: `$1,234.50` in `en`, `1 234,50 ₽` in `ru`.
pub fn format_amount(minor: i64, currency: Currency, language: &str) -> String {
    let (group, point, sign_first) = match language {
        "ru" => (SPACE, ',', false),
        _ => (',', '.', true),
    };
    let digits = minor.unsigned_abs().to_string();
    let decimals = usize::from(currency.decimals);
    let digits = format!("{digits:0>width$}", width = decimals + 1);
    let (whole, rest) = digits.split_at(digits.len() - decimals);
    let mut number = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            number.push(group);
        }
        number.push(digit);
    }
    if decimals > 0 {
        number.push(point);
        number.push_str(rest);
    }
    let minus = if minor < 0 { "\u{2212}" } else { "" };
    match currency.symbol {
        Some(symbol) if sign_first => format!("{minus}{symbol}{number}"),
        Some(symbol) => format!("{minus}{number}{SPACE}{symbol}"),
        None if sign_first => format!("{minus}{}{SPACE}{number}", currency.code),
        None => format!("{minus}{number}{SPACE}{}", currency.code),
    }
}

/// Reads an amount with a point or a comma as its decimal sign and no groups: `12.5`, `12,50`, `-3`.
pub fn parse_amount(text: &str, decimals: u8) -> Result<i64, NotAmount> {
    let text = text.trim();
    let (minus, digits) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, rest) = digits.split_once(['.', ',']).unwrap_or((digits, ""));
    let only_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !only_digits(whole) || !only_digits(rest) || digits.ends_with(['.', ',']) {
        return Err(NotAmount::NotANumber);
    }
    let rest = rest.trim_end_matches('0');
    let decimals = usize::from(decimals);
    if rest.len() > decimals {
        return Err(NotAmount::TooFine);
    }
    let all = format!("{whole}{rest:0<decimals$}");
    let value: i64 = all.parse().map_err(|_| NotAmount::TooLarge)?;
    Ok(if minus { -value } else { value })
}
