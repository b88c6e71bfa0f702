//! Tests of the texts in every language.

use std::collections::BTreeSet;

use super::*;
use crate::operations;

#[test]
fn every_language_has_the_same_keys_as_the_fallback() {
    let keys = |language: &Language| -> BTreeSet<_> { language.texts.iter().map(|(key, _)| *key).collect() };
    let wanted = keys(language(FALLBACK).unwrap());
    assert!(LANGUAGES.iter().any(|language| language.code == "ru"));
    for language in LANGUAGES {
        assert_eq!(keys(language), wanted, "language `{}`", language.code);
        for (key, text) in language.texts {
            assert!(!text.trim().is_empty() && text.trim() == *text, "`{key}` of `{}`", language.code);
        }
    }
}

#[test]
fn every_operation_has_a_name_and_every_name_an_operation() {
    let named: BTreeSet<_> = language(FALLBACK)
        .unwrap()
        .texts
        .iter()
        .filter_map(|(key, _)| key.strip_prefix("operations."))
        .collect();
    let declared: BTreeSet<_> = operations::ALL.iter().map(|operation| operation.skey).collect();
    assert_eq!(named, declared);
}

#[test]
fn a_missing_language_falls_back() {
    assert_eq!(text("xx", "task_state.kNew"), Some("New"));
    assert_eq!(text("ru", "task_state.kNew"), Some("Новая"));
    assert_eq!(text("en", "nothing"), None);
}
