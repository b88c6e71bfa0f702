//! Amounts and numbers as people and programs write them into tables.

use super::problem::Code;

/// The sign that parts decimals, where a file's amounts alone do not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `1,50`
    Comma,
    /// `1.50`
    Point,
}

/// A decimal number in units of its last digit: `12,5` with 2 decimals is 1250. Signs of currencies and spaces between
/// thousands are left out; `1,234` says nothing for itself about what its comma is.
pub(super) fn decimal(text: &str, decimals: u8, sign: Option<Sign>) -> Result<i64, Code> {
    let bare: String = text.chars().filter(|letter| !letter.is_whitespace() && *letter != '\'').collect();
    let bare = bare.trim_matches(|letter: char| !letter.is_ascii_digit() && !"-.,".contains(letter));
    let (negative, bare) = bare.strip_prefix('-').map_or((false, bare), |rest| (true, rest));
    if bare.is_empty() || !bare.chars().all(|letter| letter.is_ascii_digit() || ".,".contains(letter)) {
        return Err(Code::NotAmount);
    }
    let at = split(bare, decimals, sign)?;
    let (whole, part) = at.map_or((bare, ""), |at| (&bare[..at], &bare[at + 1..]));
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    let (kept, rest) = part.split_at(part.len().min(decimals.into()));
    if !part.chars().all(|letter| letter.is_ascii_digit()) || rest.chars().any(|digit| digit != '0') {
        return Err(Code::NotAmount);
    }
    let digits = format!("{whole}{kept:0<width$}", width = usize::from(decimals));
    let value: i64 = digits.parse().map_err(|_| Code::NotAmount)?;
    Ok(if negative { -value } else { value })
}

/// An amount that is not below zero.
pub(super) fn price(text: &str, decimals: u8, sign: Option<Sign>) -> Result<i64, Code> {
    decimal(text, decimals, sign).and_then(|value| if value < 0 { Err(Code::NotAmount) } else { Ok(value) })
}

/// Where the decimals begin: at the sign that stands last, if it is one that parts decimals.
fn split(bare: &str, decimals: u8, sign: Option<Sign>) -> Result<Option<usize>, Code> {
    let (comma, point) = (bare.rfind(','), bare.rfind('.'));
    if let Some(sign) = sign {
        return Ok(if sign == Sign::Comma { comma } else { point });
    }
    let only = match (comma, point) {
        (Some(comma), Some(point)) => return Ok(Some(comma.max(point))),
        (None, None) => return Ok(None),
        (one, other) => one.or(other).unwrap_or_default(),
    };
    let behind = bare.len() - only - 1;
    let many = bare.bytes().filter(|byte| b",.".contains(byte)).count() > 1;
    match behind {
        3 if many => Ok(None),
        3 if decimals != 3 && only <= 3 && only > 0 && !bare.starts_with('0') => Err(Code::UnclearAmount),
        _ if many => Err(Code::NotAmount),
        _ => Ok(Some(only)),
    }
}

/// A measure in thousandths of the unit it is given in: `0.25` kg is 250 g. The last sign always parts decimals.
pub(super) fn thousandths(text: &str, per_unit: i64) -> Result<i64, Code> {
    let sign = if text.contains(',') { Sign::Comma } else { Sign::Point };
    let value = decimal(text, 6, Some(sign)).map_err(|_| Code::NotNumber)?;
    let whole = i128::from(value) * i128::from(per_unit);
    i64::try_from((whole + 500_000_000) / 1_000_000_000)
        .ok()
        .filter(|value| *value >= 0)
        .ok_or(Code::NotNumber)
}

/// A whole number.
pub(super) fn whole(text: &str) -> Result<i64, Code> {
    let bare: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let bare = bare.strip_suffix(".0").or_else(|| bare.strip_suffix(",0")).unwrap_or(&bare);
    bare.parse().map_err(|_| Code::NotNumber)
}

/// A code as text; one that a spreadsheet has rounded is none any more.
pub(super) fn code(text: &str) -> Result<String, Code> {
    let lower = text.to_ascii_lowercase();
    let is_mangled = lower.split_once("e+").is_some_and(|(number, power)| {
        let is_number = |text: &str| {
            !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit() || ".,".contains(letter))
        };
        is_number(number) && is_number(power)
    });
    if is_mangled { Err(Code::Mangled) } else { Ok(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::super::problem::Code;
    use super::{Sign, code, decimal, thousandths, whole};

    #[test]
    fn amounts_are_read_as_they_are_meant() {
        for (text, minor) in [
            ("12", 1200),
            ("12.5", 1250),
            ("12,50", 1250),
            ("1 234,50", 123_450),
            ("1\u{a0}234,50", 123_450),
            ("1,234.50", 123_450),
            ("1.234,50", 123_450),
            ("1,234,567", 123_456_700),
            ("€ 9.90", 990),
            ("9,90 ₽", 990),
            ("-3.00", -300),
            ("0.500", 50),
            ("19.9900", 1999),
            ("1'200.00", 120_000),
        ] {
            assert_eq!(decimal(text, 2, None), Ok(minor), "{text}");
        }
        assert_eq!(decimal("18.600", 3, None), Ok(18_600));
        assert_eq!(decimal("1980", 0, None), Ok(1980));
        assert_eq!(decimal("1,234", 2, Some(Sign::Point)), Ok(123_400));
        assert_eq!(decimal("1.234", 2, Some(Sign::Comma)), Ok(123_400));
        for text in ["1,234", "1.234", "12,345", "9.999"] {
            assert_eq!(decimal(text, 2, None), Err(Code::UnclearAmount), "{text}");
        }
        for text in ["", "free", "1.2.3", "9.9999", "1e5", "--1", "99999999999999999999"] {
            assert_eq!(decimal(text, 2, None), Err(Code::NotAmount), "{text}");
        }
    }

    #[test]
    fn measures_and_numbers_and_codes() {
        assert_eq!(thousandths("0.25", 1_000_000), Ok(250));
        assert_eq!(thousandths("1,125", 1_000_000), Ok(1125));
        assert_eq!(thousandths("12", 10_000), Ok(120));
        assert_eq!(thousandths("-1", 1_000_000), Err(Code::NotNumber));
        assert_eq!((whole("10"), whole("-2"), whole("1.5")), (Ok(10), Ok(-2), Err(Code::NotNumber)));
        assert_eq!(code("90.750").as_deref(), Ok("90.750"));
        assert_eq!(code("4.6E+12"), Err(Code::Mangled));
        assert_eq!(code("RE+1").as_deref(), Ok("RE+1"));
    }
}
