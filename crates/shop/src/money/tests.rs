//! Amounts: rounding, sharing, writing.

use proptest::prelude::*;

use super::*;

fn known(code: &str) -> Currency {
    Currency::find(code).unwrap()
}

#[test]
fn currencies_are_sorted_and_found_by_code() {
    assert!(CURRENCIES.is_sorted_by(|one, next| one.code < next.code));
    assert_eq!((known("EUR").decimals, known("JPY").decimals, known("KWD").decimals), (2, 0, 3));
    assert_eq!(Currency::find("eur"), None);
    assert_eq!(Currency::find("XXX"), None);
}

#[test]
fn halves_are_rounded_up_on_both_sides_of_zero() {
    assert_eq!(scaled(1, 1, 2), Ok(1));
    assert_eq!(scaled(-1, 1, 2), Ok(-1));
    assert_eq!(scaled(5, 1, 2), Ok(3));
    assert_eq!(scaled(4, 1, 3), Ok(1));
    assert_eq!(scaled(5, 1, 3), Ok(2));
    assert_eq!(scaled(-5, 1, 3), Ok(-2));
    assert_eq!(part(5186, 400_000), Ok(2074));
    assert_eq!(scaled(1, 1, 0), Err(MoneyError::TooLarge));
    assert_eq!(scaled(i64::MAX, 3, 2), Err(MoneyError::TooLarge));
    assert_eq!(scaled(i64::MIN, -1, 1), Err(MoneyError::TooLarge));
}

#[test]
fn a_sum_is_shared_as_the_worked_example_says() {
    let weights = [517, 332, 125, 350, 501, 334, 599, 551];
    assert_eq!(share(1655, &weights).unwrap(), [259, 166, 62, 175, 250, 167, 300, 276]);
    assert_eq!(share(-1655, &weights).unwrap(), [-259, -166, -62, -175, -250, -167, -300, -276]);
    assert_eq!(share(1, &[1, 1, 1]).unwrap(), [1, 0, 0]);
    assert_eq!(share(5, &[0, 0]).unwrap(), [5, 0]);
    assert_eq!(share(5, &[]).unwrap(), Vec::<i64>::new());
    assert_eq!(share(5, &[-7, 1]).unwrap(), [0, 5]);
}

#[test]
fn weights_and_steps() {
    assert_eq!(for_quantity(1990, 1500, 3), Ok(2985));
    assert_eq!(to_step(1883, 5), Ok(1885));
    assert_eq!(to_step(1882, 5), Ok(1880));
    assert_eq!(to_step(1882, 0), Ok(1882));
    // 100.00 EUR at 161.25 JPY.
    assert_eq!(exchanged(10_000, known("EUR"), known("JPY"), 161_250_000_000), Ok(16_125));
    assert_eq!(exchanged(18_600, known("KWD"), known("EUR"), 3_000_000_000), Ok(5_580));
}

#[test]
fn amounts_are_written_as_people_write_them() {
    assert_eq!(format_amount(123_450, known("USD"), "en"), "$1,234.50");
    assert_eq!(format_amount(-5, known("USD"), "en"), "\u{2212}$0.05");
    assert_eq!(format_amount(123_450, known("RUB"), "ru"), "1\u{a0}234,50\u{a0}₽");
    assert_eq!(format_amount(1980, known("JPY"), "en"), "¥1,980");
    assert_eq!(format_amount(16_740, known("KWD"), "en"), "KWD\u{a0}16.740");
    assert_eq!(format_amount(i64::MIN, known("JPY"), "en"), "\u{2212}¥9,223,372,036,854,775,808");
}

#[test]
fn amounts_are_read_strictly() {
    assert_eq!(parse_amount("12.5", 2), Ok(1250));
    assert_eq!(parse_amount(" 12,50 ", 2), Ok(1250));
    assert_eq!(parse_amount("-3", 2), Ok(-300));
    assert_eq!(parse_amount("1.2300", 2), Ok(123));
    assert_eq!(parse_amount("7", 0), Ok(7));
    assert_eq!(parse_amount("1.234", 2), Err(NotAmount::TooFine));
    for text in ["", ".", "1.", ".5", "1e3", "1 000", "1,234.50", "٣", "--1", "+1"] {
        assert_eq!(parse_amount(text, 2), Err(NotAmount::NotANumber), "{text}");
    }
    assert_eq!(parse_amount("92233720368547758.08", 2), Err(NotAmount::TooLarge));
}

proptest! {
    #[test]
    fn shares_add_up_and_are_fair(amount: i64, weights in prop::collection::vec(0_i64..1_000_000, 1..20)) {
        let parts = share(amount, &weights).unwrap();
        prop_assert_eq!(parts.iter().map(|part| i128::from(*part)).sum::<i128>(), i128::from(amount));
        let all: i128 = weights.iter().map(|weight| i128::from(*weight)).sum();
        if all > 0 {
            for (part, weight) in parts.iter().zip(&weights) {
                let exact = i128::from(amount) * i128::from(*weight);
                prop_assert!((i128::from(*part) * all - exact).abs() < all);
                prop_assert!(part.signum() * amount.signum() >= 0);
            }
        }
    }

    #[test]
    fn what_is_written_is_read_again(minor in -1_000_000_000_000_i64..1_000_000_000_000, at in 0..CURRENCIES.len()) {
        let currency = CURRENCIES[at];
        let plain: String = format_amount(minor, currency, "ru")
            .chars().filter(|letter| letter.is_ascii_digit() || matches!(letter, ',' | '\u{2212}')).collect();
        prop_assert_eq!(parse_amount(&plain, currency.decimals), Ok(minor));
    }
}
