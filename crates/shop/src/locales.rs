//! The store's built-in names in every language: one file of `locales/` each.

/// A language and its texts.
#[derive(Debug)]
pub struct Language {
    /// Code: `en`, `ru`, … The name of its file.
    pub code: &'static str,
    /// Dotted keys and texts, ordered by key.
    pub texts: &'static [(&'static str, &'static str)],
}

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// The language whose names stand in where another lacks one.
pub const FALLBACK: &str = "en";

impl Language {
    /// The text of this key.
    pub fn text(&self, key: &str) -> Option<&'static str> {
        let at = self.texts.binary_search_by_key(&key, |(known, _)| known).ok()?;
        self.texts.get(at).map(|(_, text)| *text)
    }
}

/// The language of this code.
pub fn language(code: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.code == code)
}

/// The text of this key in a language, else in the fallback.
pub fn text(code: &str, key: &str) -> Option<&'static str> {
    let own = language(code).and_then(|language| language.text(key));
    own.or_else(|| language(FALLBACK).and_then(|language| language.text(key)))
}

#[cfg(test)]
mod tests;
