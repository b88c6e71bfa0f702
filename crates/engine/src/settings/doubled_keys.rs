//! Finds a key that an object of a JSON text has twice: readers would disagree on which of the two counts.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::ConfigError;

/// Longest key that is named.
const QUOTE: usize = 60;

/// Refuses a text in which an object has a key twice; other mistakes are for the reader to tell.
pub(super) fn refuse(text: &str) -> Result<(), ConfigError> {
    match serde_json::from_str::<Single>(text) {
        Err(error) if error.is_data() => {
            let words = error.to_string();
            // The place follows the words of an error, which here are the key.
            let key = words.rsplit_once(" at line ").map_or(words.as_str(), |(key, _)| key);
            Err(ConfigError::Doubled { key: key.to_owned(), line: error.line() })
        }
        _ => Ok(()),
    }
}

/// A value in which every key stands once.
struct Single;

impl<'de> Deserialize<'de> for Single {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Single)
    }
}

impl<'de> Visitor<'de> for Single {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = object.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(A::Error::custom(wire::text::quoted(&key, QUOTE)));
            }
            seen.insert(key);
            object.next_value::<Self>()?;
        }
        Ok(self)
    }
}
