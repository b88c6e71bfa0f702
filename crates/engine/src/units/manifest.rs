//! A unit's manifest, `units/<name>.json`: what the unit is, how it is run, what it asks for.

use serde::{Deserialize, Serialize};

use super::error::UnitError;

/// The manifest. Every key may be missing, an unknown one is a mistake.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Manifest {
    /// What the unit is for.
    pub(crate) description: String,
    /// Its parameters, as `id: int, key: str, mode: fix=list|grid`.
    pub(crate) parameters: String,
    /// Libraries it imports.
    pub(crate) includes: Vec<String>,
    /// Hosts it would fetch from; the owner grants them.
    pub(crate) network: Vec<String>,
    /// Tables it may write.
    pub(crate) writes: Vec<String>,
    /// Tables its queries touched, kept by the engine.
    pub(crate) tables: Vec<String>,
    /// Whether it can be called from outside, not only by other units.
    pub(crate) entry_point: bool,
    /// Whether pages fetch it after they show.
    pub(crate) lazy_load: bool,
    /// How long what it made may be shown again.
    pub(crate) cache: CacheRule,
    /// What one call may take, where that is less than the store's limits.
    pub(crate) limits: LimitRule,
}

/// Whether and how long the cache keeps what the unit made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CacheRule {
    /// Whether it is kept.
    pub(crate) on: bool,
    /// How long at most, where nothing it depends on changes; 0 is as long as the store's settings say.
    pub(crate) seconds: u64,
}

impl Default for CacheRule {
    fn default() -> Self {
        Self { on: true, seconds: 0 }
    }
}

/// What one call may take. What is not named is as the store has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LimitRule {
    /// Memory in MiB.
    pub(crate) memory_mb: Option<u64>,
    /// Milliseconds.
    pub(crate) ms: Option<u64>,
    /// Statements and typed calls.
    pub(crate) queries: Option<u32>,
}

impl Manifest {
    /// Reads a manifest; `file` is what a mistake in it is told of.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, UnitError> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str(text).map_err(|error| UnitError::Syntax {
            file: file.to_owned(),
            line: u32::try_from(error.line()).unwrap_or(0),
            column: u32::try_from(error.column()).unwrap_or(0),
            text: words(&error),
        })
    }
}

/// What a JSON error says, without the place at its end.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(words, _)| words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_may_be_missing_and_an_unknown_one_has_a_place() {
        let file = "units/home.json";
        assert_eq!(Manifest::parse(file, " ").unwrap(), Manifest::default());
        let manifest = Manifest::parse(
            file,
            r#"{"description": "Home", "entry_point": true, "cache": {"on": false}, "limits": {"ms": 500}}"#,
        );
        let manifest = manifest.unwrap();
        assert!(manifest.entry_point && !manifest.cache.on);
        assert_eq!(manifest.limits, LimitRule { memory_mb: None, ms: Some(500), queries: None });

        let error = Manifest::parse(file, "{\n  \"entry\": true}").unwrap_err();
        assert_eq!(error.place().line, 2, "{error}");
        assert!(error.to_string().starts_with("Syntax error: units/home.json:2:"), "{error}");
        assert!(Manifest::parse(file, r#"{"entry_point": "yes"}"#).is_err());
    }
}
