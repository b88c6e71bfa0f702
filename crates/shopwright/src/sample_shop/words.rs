//! The words of the sample shop, as `words.toml` has them.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

/// A text in every language of the sample.
pub(super) type Texts = BTreeMap<String, String>;

/// Everything in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) roots: Vec<Root>,
    /// Names by key.
    pub(super) brands: BTreeMap<String, String>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) variants: BTreeMap<String, Scheme>,
    pub(super) categories: Vec<Category>,
    pub(super) people: People,
    /// Stars and text, by language.
    pub(super) reviews: BTreeMap<String, Vec<(i64, String)>>,
    pub(super) sentences: BTreeMap<String, Vec<String>>,
}

/// A category at the top.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Root {
    pub(super) key: String,
    pub(super) name: Texts,
    pub(super) text: Texts,
}

/// What is told of products and can be filtered by.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Attribute {
    pub(super) key: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) measure: String,
    pub(super) name: Texts,
    /// Key, English and Russian name.
    #[serde(default)]
    pub(super) choices: Vec<(String, String, String)>,
}

/// How the variants of a product differ.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scheme {
    pub(super) key: Option<String>,
    #[serde(default)]
    pub(super) name: Texts,
    pub(super) values: Vec<SchemeValue>,
}

/// Key, English name, Russian name, thousandths of the first price, grams.
#[derive(Deserialize)]
pub(super) struct SchemeValue(
    pub(super) String,
    pub(super) String,
    pub(super) String,
    pub(super) i64,
    pub(super) i64,
);

/// A category with its products.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Category {
    pub(super) root: String,
    pub(super) variants: String,
    pub(super) tax: String,
    pub(super) name: Texts,
    pub(super) text: Texts,
    pub(super) products: Vec<Product>,
}

/// English name, Russian name, brand, origin, price of the first variant, attributes.
#[derive(Deserialize)]
pub(super) struct Product(
    pub(super) String,
    pub(super) String,
    pub(super) String,
    pub(super) String,
    pub(super) i64,
    pub(super) String,
);

/// What customers are called and where they live.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct People {
    pub(super) given: Vec<String>,
    pub(super) family: Vec<String>,
    /// Country, city, postcode, street.
    pub(super) places: Vec<(String, String, String, String)>,
}

impl Words {
    /// Reads the file that is part of the binary.
    pub(super) fn read() -> Result<Self> {
        toml::from_str(include_str!("words.toml")).context("words.toml")
    }
}

/// The text of this language, else the English one.
pub(super) fn of<'a>(texts: &'a Texts, language: &str) -> &'a str {
    texts.get(language).or_else(|| texts.get("en")).map_or("", String::as_str)
}

/// One of an English and a Russian text.
pub(super) fn either<'a>(en: &'a str, ru: &'a str, language: &str) -> &'a str {
    if language == "ru" { ru } else { en }
}
