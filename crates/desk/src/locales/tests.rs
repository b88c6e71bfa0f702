//! Tests of the locales: complete, and filled in one pass.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{FALLBACK, Locales, filled};

fn places(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name).collect()
}

#[test]
fn every_language_has_every_text_with_the_same_places() {
    let locales = Locales::load().unwrap();
    let english = &locales.languages[FALLBACK];
    assert!(locales.languages.len() > 1);
    for (language, texts) in &locales.languages {
        let missing: Vec<_> = english.keys().filter(|key| !texts.contains_key(*key)).collect();
        let unknown: Vec<_> = texts.keys().filter(|key| !english.contains_key(*key)).collect();
        assert!(
            missing.is_empty() && unknown.is_empty(),
            "{language}: missing {missing:?}, unknown {unknown:?}"
        );
        for (key, text) in texts {
            assert!(!text.trim().is_empty(), "{language}: {key} is empty");
            assert_eq!(places(text), places(&english[key]), "{language}: {key}");
        }
    }
}

#[test]
fn every_text_about_a_refusal_is_of_a_refusal() {
    let locales = Locales::load().unwrap();
    for key in locales.languages[FALLBACK].keys() {
        if let Some(name) = key.strip_prefix("refusal.") {
            assert!(wire::catalogue::row(name).is_some(), "{key}");
        }
    }
}

#[test]
fn a_language_is_found_with_and_without_its_region() {
    let locales = Locales::load().unwrap();
    assert_eq!(locales.fitting("ru"), Some("ru"));
    assert_eq!(locales.fitting("ru-RU"), Some("ru"));
    assert_eq!(locales.fitting("EN_us"), Some("en"));
    assert_eq!(locales.fitting("tlh"), None);
    assert_eq!(locales.accepted("tlh, ru-RU;q=0.8, en;q=0.9"), Some("en"));
    assert_eq!(locales.accepted("tlh,ru;q=0"), None);
    assert_eq!(locales.accepted(""), None);
}

#[test]
fn a_value_is_never_taken_for_a_place() {
    assert_eq!(filled("{a} and {b}, {c}", &[("a", "{b}"), ("b", "2")]), "{b} and 2, {c}");
}

proptest! {
    #[test]
    fn filling_and_asking_never_fail_badly(text in ".{0,40}", value in ".{0,10}") {
        let _ = filled(&text, &[("a", &value)]);
        let locales = Locales::load().unwrap();
        let _ = (locales.accepted(&text), locales.fitting(&text), locales.text(&text, &text, &[]));
    }
}
