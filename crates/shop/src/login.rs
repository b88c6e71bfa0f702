//! Logins: which there may be, and when two of them are the same or look it.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;
use unicode_security::general_security_profile::GeneralSecurityProfile as _;
use unicode_security::mixed_script::MixedScript as _;

/// Most characters of a login.
pub const LONGEST: usize = 100;
/// What a login may hold besides letters and digits.
const MARKS: &str = "-_.@+";
/// Most accents in a row: what composes with its letter is none any more.
const MOST_ACCENTS: usize = 2;

/// Why a text is no login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// There is nothing.
    #[error("it is empty")]
    Empty,
    /// It is too long to be typed and shown.
    #[error("it has more than {LONGEST} characters")]
    TooLong,
    /// It holds what cannot be typed or seen, or could not be part of a file's name.
    #[error("a login is made of letters, digits and `{MARKS}`")]
    Character,
    /// It mixes alphabets, so that a letter may be another one than it looks.
    #[error("its letters are of more than one alphabet, and some look alike")]
    Alphabets,
}

/// A new login in its one spelling; spaces around it are none of it.
pub fn parse(text: &str) -> Result<String, LoginError> {
    let login = canonical(text.trim());
    if login.is_empty() {
        return Err(LoginError::Empty);
    }
    if login.chars().count() > LONGEST {
        return Err(LoginError::TooLong);
    }
    let mut accents = MOST_ACCENTS;
    for letter in login.chars() {
        accents = if is_combining_mark(letter) { accents + 1 } else { 0 };
        if !may_be_typed(letter) || accents > MOST_ACCENTS {
            return Err(LoginError::Character);
        }
    }
    if login.as_str().is_single_script() { Ok(login) } else { Err(LoginError::Alphabets) }
}

/// Letters and digits in use today, without those that are not seen or only look different (UTS 39).
fn may_be_typed(letter: char) -> bool {
    let is_letter = letter.is_alphanumeric() || is_combining_mark(letter);
    MARKS.contains(letter) || (is_letter && letter.identifier_allowed())
}

/// The one spelling of a login that was typed somewhere: its letters composed.
pub fn canonical(login: &str) -> String {
    login.nfc().collect()
}

/// What two logins have in common that are the same but for capitals and composition.
pub fn folded(login: &str) -> String {
    crate::caseless::folded(login)
}

/// What two logins have in common that look the same.
pub fn look(login: &str) -> String {
    // Capitals first as they are: `I` looks like `l`, which its small letter does not.
    let drawn: String = skeleton(&canonical(login)).collect();
    folded(&skeleton(&folded(&drawn)).collect::<String>())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn logins_of_people_are_taken_in_one_spelling() {
        for login in [
            "irina",
            "Irina.K-2_x",
            "a@b.example",
            "anna+shop",
            "ирина",
            "Ёлка2",
            "müller",
            "李明",
            "ひろしヒ",
            "नमस्ते",
            "1",
        ] {
            assert_eq!(parse(login).as_deref(), Ok(login), "{login}");
        }
        assert_eq!(parse("mu\u{308}ller").unwrap(), "müller");
        assert_eq!(parse("  irina ").unwrap(), "irina");
        assert_eq!(parse("\u{415}\u{308}лка").unwrap(), "Ёлка");
    }

    #[test]
    fn what_cannot_be_seen_or_typed_is_no_login() {
        for (login, why) in [
            ("", LoginError::Empty),
            (" \u{a0}", LoginError::Empty),
            ("a b", LoginError::Character),
            ("a/b", LoginError::Character),
            ("..\\x", LoginError::Character),
            ("a\u{200b}b", LoginError::Character),
            ("a\u{200d}b", LoginError::Character),
            ("a\u{ad}b", LoginError::Character),
            ("a\u{fe0f}", LoginError::Character),
            ("a\u{3164}", LoginError::Character),
            ("a\u{115f}", LoginError::Character),
            ("a\u{34f}b", LoginError::Character),
            ("a\u{202e}b", LoginError::Character),
            ("\u{feff}ab", LoginError::Character),
            ("a\u{e0061}", LoginError::Character),
            ("a\0", LoginError::Character),
            ("\u{301}a", LoginError::Character),
            ("q\u{301}\u{302}\u{303}", LoginError::Character),
            ("ｉｒｉｎａ", LoginError::Character),
            ("𝐢𝐫𝐢𝐧𝐚", LoginError::Character),
            ("ﬁrst", LoginError::Character),
            ("ⅳ", LoginError::Character),
            ("a🎄", LoginError::Character),
            ("аdmin", LoginError::Alphabets),
            ("irinа", LoginError::Alphabets),
            ("ирина-anna", LoginError::Alphabets),
            ("αdmin", LoginError::Alphabets),
        ] {
            assert_eq!(parse(login), Err(why), "{}", login.escape_unicode());
        }
        assert_eq!(parse(&"я".repeat(LONGEST + 1)), Err(LoginError::TooLong));
        parse(&"я".repeat(LONGEST)).unwrap();
    }

    #[test]
    fn capitals_and_composition_make_no_other_login() {
        for (one, other) in [
            ("Irina", "iRINA"),
            ("ИРИНА", "ирина"),
            ("straße", "STRASSE"),
            ("e\u{301}", "É"),
            ("ΣΑΣ", "σας"),
            ("İ", "i\u{307}"),
        ] {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        assert_ne!(folded("irina"), folded("inira"));
        assert_ne!(folded("ель"), folded("ёль"));
    }

    #[test]
    fn what_looks_the_same_is_found() {
        for (one, other) in [
            ("coco", "сосо"),
            ("paypal", "раураӏ"),
            ("admin1", "adminl"),
            ("modern", "modem"),
            ("AIIa", "Alla"),
            ("O0", "oo"),
        ] {
            assert_eq!(look(one), look(other), "{one} {other}");
        }
        for (one, other) in [("irina", "oleg"), ("anna", "hanna"), ("ира", "иры")] {
            assert_ne!(look(one), look(other));
        }
    }

    proptest! {
        #[test]
        fn a_login_is_its_own_spelling(text in "\\PC{0,12}") {
            if let Ok(login) = parse(&text) {
                prop_assert_eq!(parse(&login).unwrap(), login.clone());
                prop_assert_eq!(folded(&login), folded(&folded(&login)));
                prop_assert_eq!(look(&login), look(&look(&login)));
            }
        }
    }
}
