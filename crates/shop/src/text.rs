//! Texts made comparable: folded for searching and uniqueness, keys that sort, addresses of pages.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Longest part of an address.
const LONGEST_SLUG: usize = 100;

/// A text as it is searched and compared: NFKC, lower case, ё as е, white space in single blanks, nothing invisible.
pub fn folded(text: &str) -> String {
    let lower: String = text.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    let lower = lower.replace('ё', "е");
    let visible = lower.chars().filter(|letter| !is_invisible(*letter)).collect::<String>();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Marks that people do not see: they must not make two texts different.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A key whose order by bytes is the order people expect: accents and case count last, numbers by their size.
pub fn sort_key(text: &str) -> String {
    let whole = folded(text);
    let mut key = String::with_capacity(whole.len() * 2);
    let mut digits = String::new();
    for letter in whole.nfd().filter(|letter| !is_combining_mark(*letter)) {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        push_number(&mut key, &mut digits);
        key.push(letter);
    }
    push_number(&mut key, &mut digits);
    key.push('\u{1}');
    key.push_str(&whole);
    key
}

/// A number goes before letters, and a longer one after a shorter one.
fn push_number(key: &mut String, digits: &mut String) {
    if digits.is_empty() {
        return;
    }
    let number = digits.trim_start_matches('0');
    key.push_str(&format!("{:03}", number.len().min(999)));
    key.push_str(number);
    digits.clear();
}

/// A text as a part of an address: Latin letters, digits and `-`; Cyrillic is written in Latin. May come out empty.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    let mut gap = false;
    for letter in folded(text).nfc() {
        let mut plain = String::new();
        latin(letter, &mut plain);
        for letter in plain.chars() {
            if letter.is_ascii_alphanumeric() {
                if gap && !out.is_empty() {
                    out.push('-');
                }
                gap = false;
                out.push(letter);
            } else if letter != '\'' {
                gap = true;
            }
        }
        if out.len() >= LONGEST_SLUG {
            break;
        }
    }
    out
}

/// Letters of Russian, in alphabetical order from `а` on.
const RUSSIAN: [&str; 32] = [
    "a", "b", "v", "g", "d", "e", "zh", "z", "i", "y", "k", "l", "m", "n", "o", "p", "r", "s", "t", "u", "f",
    "kh", "ts", "ch", "sh", "shch", "'", "y", "'", "e", "yu", "ya",
];

fn latin(letter: char, out: &mut String) {
    let russian = (letter as usize).checked_sub('а' as usize).and_then(|at| RUSSIAN.get(at));
    match letter {
        _ if russian.is_some() => out.push_str(russian.copied().unwrap_or_default()),
        'ß' => out.push_str("ss"),
        'æ' => out.push_str("ae"),
        'ø' => out.push('o'),
        'ł' => out.push('l'),
        'đ' => out.push('d'),
        'і' | 'ї' => out.push('i'),
        'є' => out.push_str("ye"),
        'ў' => out.push('u'),
        '&' => out.push_str(" and "),
        other => out.extend(other.nfd().filter(|part| !is_combining_mark(*part))),
    }
}

/// Whether a GTIN (8, 12, 13 or 14 digits) has the right check digit.
pub fn is_gtin(code: &str) -> bool {
    let digits: Vec<u32> = code.chars().filter_map(|letter| letter.to_digit(10)).collect();
    if digits.len() != code.len() || ![8, 12, 13, 14].contains(&digits.len()) {
        return false;
    }
    let weighed = digits.iter().rev().enumerate().map(|(at, digit)| digit * if at % 2 == 0 { 1 } else { 3 });
    weighed.sum::<u32>() % 10 == 0
}

/// The key of a variant's option values, whatever their order: `3,17,20`.
pub fn option_key(values: &[i64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_folded_alike() {
        assert_eq!(folded("  Ёлка\u{a0}ИСКУССТВЕННАЯ "), "елка искусственная");
        assert_eq!(folded("Straße"), "straße");
        assert_eq!(folded("ﬁne \u{200b}ＡＢＣ"), "fine abc");
        assert_eq!(folded("Test@Example.com"), "test@example.com");
        assert_eq!(folded("Cafe\u{301}"), folded("CAFÉ"));
    }

    #[test]
    fn keys_sort_as_people_expect() {
        let mut names = ["Zebra", "äpfel", "Apfel 10", "Apfel 2", "Ель", "Ёжик", "apfel", "Äpfel"];
        names.sort_by_key(|name| sort_key(name));
        assert_eq!(names, ["apfel", "äpfel", "Äpfel", "Apfel 2", "Apfel 10", "Zebra", "Ёжик", "Ель"]);
    }

    #[test]
    fn addresses_are_latin() {
        assert_eq!(slug("Hiking Boots, men's"), "hiking-boots-men-s".replace("men-s", "mens"));
        assert_eq!(slug("Ёлка & щётка"), "elka-and-shchetka");
        assert_eq!(slug("Größe 42 / blau"), "grosse-42-blau");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("日本"), "");
    }

    #[test]
    fn check_digits() {
        for code in ["4006381333931", "96385074", "036000291452", "00012345600012"] {
            assert!(is_gtin(code), "{code}");
        }
        for code in ["4006381333932", "", "123", "4,6E+12", "400638133393１"] {
            assert!(!is_gtin(code), "{code}");
        }
    }

    #[test]
    fn options_make_one_key() {
        assert_eq!(option_key(&[20, 3, 17]), "3,17,20");
        assert_eq!(option_key(&[]), "");
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(text in "\\PC{0,60}") {
            prop_assert_eq!(folded(&folded(&text)), folded(&text));
        }

        #[test]
        fn an_address_is_plain(text in "\\PC{0,80}") {
            let made = slug(&text);
            prop_assert!(made.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
            prop_assert!(!made.starts_with('-') && !made.ends_with('-') && !made.contains("--"));
        }
    }
}
