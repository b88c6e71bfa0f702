//! Values as JSON, the same for the same data on both databases.

use std::fmt::Write;

use serde_json::{Number, Value as Json};

/// Whole numbers below this are the same whether they are kept as such or with a fraction.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A number; a whole one has no fraction, whatever the type it was computed in.
pub(crate) fn number(value: f64) -> Json {
    if value.is_nan() {
        Json::Null
    } else if value.is_infinite() {
        Json::String(if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned())
    } else if value.fract() == 0.0 && value.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
        Json::Number(Number::from(value as i64))
    } else {
        Number::from_f64(value).map_or(Json::Null, Json::Number)
    }
}

/// A number as a database wrote it.
pub(crate) fn number_text(text: &str) -> Json {
    // A whole number keeps all its digits as long as it fits.
    let whole = text
        .split_once('.')
        .map_or(text, |(whole, rest)| if rest.bytes().all(|digit| digit == b'0') { whole } else { text });
    match (whole.parse::<i64>(), text.parse::<f64>()) {
        (Ok(whole), _) => Json::Number(Number::from(whole)),
        (Err(_), Ok(real)) => number(real),
        (Err(_), Err(_)) => Json::String(text.to_owned()),
    }
}

/// Bytes as PostgreSQL writes them: `\x` and two digits each.
pub(crate) fn bytes(bytes: &[u8]) -> Json {
    let mut text = String::with_capacity(2 + bytes.len() * 2);
    text.push_str("\\x");
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    Json::String(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_looks_the_same_from_whatever_type() {
        assert_eq!(
            [number(2.0), number(-0.0), number(0.5), number(f64::NAN)],
            [json!(2), json!(0), json!(0.5), json!(null)]
        );
        assert_eq!(number(f64::INFINITY), json!("Infinity"));
        assert_eq!(number(1e300), json!(1e300));
        assert_eq!(
            [
                "2",
                "2.000",
                "19.90",
                "-0",
                "9223372036854775807",
                "9223372036854775807.0",
                "9223372036854775808",
                "1e3",
                "NaN"
            ]
            .map(number_text),
            [
                json!(2),
                json!(2),
                json!(19.9),
                json!(0),
                json!(i64::MAX),
                json!(i64::MAX),
                json!(9_223_372_036_854_775_808.0),
                json!(1000),
                json!(null)
            ]
        );
    }

    #[test]
    fn bytes_are_hexadecimal() {
        assert_eq!(bytes(&[0, 255, 16]), json!("\\x00ff10"));
    }
}
