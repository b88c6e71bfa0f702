//! The console's texts in every language of `locales/`.

use std::collections::BTreeMap;

use toml::{Table, Value};

/// The language that has every text.
pub(crate) const FALLBACK: &str = "en";

/// Every file of `locales/`: the language and its text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/locales.rs"));

/// Texts by language and key; a key is the path in the file, joined with points.
pub(crate) struct Locales {
    languages: BTreeMap<&'static str, BTreeMap<String, String>>,
}

impl Locales {
    /// Reads the built-in files.
    pub(crate) fn load() -> Result<Self, toml::de::Error> {
        let mut languages = BTreeMap::new();
        for (language, text) in FILES {
            let mut texts = BTreeMap::new();
            flatten("", &toml::from_str::<Table>(text)?, &mut texts);
            languages.insert(*language, texts);
        }
        Ok(Self { languages })
    }

    /// Whether the texts have this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.languages.get(FALLBACK).is_some_and(|texts| texts.contains_key(key))
    }

    /// The text of this key with its values put in; English where the language lacks it.
    pub(crate) fn text(&self, language: &str, key: &str, values: &[(&str, &str)]) -> String {
        let of = |language: &str| self.languages.get(language).and_then(|texts| texts.get(key));
        match of(language).or_else(|| of(FALLBACK)) {
            Some(text) => filled(text, values),
            None => key.to_owned(),
        }
    }

    /// The language of ours that fits a store's language: itself, or without its region.
    pub(crate) fn fitting(&self, language: &str) -> Option<&'static str> {
        let lower = language.trim().to_ascii_lowercase();
        let plain = lower.split(['-', '_']).next().unwrap_or_default();
        let find = |wanted: &str| self.languages.keys().copied().find(|known| *known == wanted);
        find(&lower).or_else(|| find(plain))
    }

    /// The language that a browser asks for, in the form of `Accept-Language`.
    pub(crate) fn accepted(&self, header: &str) -> Option<&'static str> {
        let mut wishes: Vec<(f32, &str)> = header.split(',').take(20).map(wish).collect();
        // Stable, so that equals stay in the browser's order.
        wishes.sort_by(|one, other| other.0.total_cmp(&one.0));
        wishes.iter().filter(|(weight, _)| *weight > 0.0).find_map(|(_, language)| self.fitting(language))
    }
}

fn wish(item: &str) -> (f32, &str) {
    match item.split_once(";q=") {
        Some((language, weight)) => (weight.trim().parse().unwrap_or(0.0), language),
        None => (1.0, item),
    }
}

fn flatten(prefix: &str, table: &Table, into: &mut BTreeMap<String, String>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::String(text) => drop(into.insert(key, text.clone())),
            Value::Table(inner) => flatten(&key, inner, into),
            _ => {}
        }
    }
}

/// Puts values in for `{name}`; one pass, so that a value is never taken for a place.
fn filled(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let place = after.split_once('}').and_then(|(name, tail)| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value, tail))
        });
        match place {
            Some((value, tail)) => {
                out.push_str(value);
                rest = tail;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
