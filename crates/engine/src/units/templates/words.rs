//! The words of pages: `words.<language>.json` beside a unit's templates, else beside those of `layout`.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::Kwargs;
use minijinja::{Environment, Error, State};

use super::Files;
use crate::units::name;

/// The unit whose words all others share.
const SHARED: &str = "layout";

type WordMap = Arc<BTreeMap<String, String>>;

/// The words of a look.
pub(super) struct Words {
    files: Arc<Files>,
    read: Mutex<HashMap<(String, String), WordMap>>,
}

impl Words {
    pub(super) fn new(files: Arc<Files>) -> Self {
        Self { files, read: Mutex::default() }
    }

    /// The words of a key: the unit's own, else the shared ones, in the page's language, else in the store's. A key
    /// without words stands for itself.
    pub(super) fn of(&self, unit: &str, key: &str, count: Option<i64>) -> String {
        let look = &self.files.look;
        for language in [&look.language, &look.default_language] {
            for unit in [unit, SHARED] {
                let words = self.file(unit, language);
                let plural = count.and_then(|count| words.get(&format!("{key}.{}", plural(language, count))));
                if let Some(found) = plural.or_else(|| words.get(key)) {
                    return found.clone();
                }
            }
        }
        key.to_owned()
    }

    fn file(&self, unit: &str, language: &str) -> WordMap {
        let place = (unit.to_owned(), language.to_owned());
        if let Some(words) = self.read.lock().unwrap_or_else(PoisonError::into_inner).get(&place) {
            return Arc::clone(words);
        }
        let words = Arc::new(self.read_file(unit, language));
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(place, Arc::clone(&words));
        words
    }

    fn read_file(&self, unit: &str, language: &str) -> BTreeMap<String, String> {
        if !name::is_unit(unit) || !name::is_plain(language) {
            return BTreeMap::new();
        }
        let mut words = BTreeMap::new();
        // The default group's first: the group's own words replace its.
        for path in self.files.places(&format!("units/{unit}/words.{language}.json")).iter().rev() {
            match self.files.text(path).map(|text| text.map(|text| serde_json::from_str(&text))) {
                Ok(None) => {}
                Ok(Some(Ok(more))) => words.extend::<BTreeMap<String, String>>(more),
                Ok(Some(Err(error))) => tracing::warn!(path, %error, "Words cannot be read"),
                Err(error) => tracing::warn!(path, %error, "Words cannot be read"),
            }
        }
        words
    }
}

/// The form of a counted noun.
fn plural(language: &str, count: i64) -> &'static str {
    let count = count.unsigned_abs();
    if language != "ru" {
        return if count == 1 { "one" } else { "other" };
    }
    match (count % 10, count % 100) {
        (1, tens) if tens != 11 => "one",
        (2..=4, tens) if !(12..=14).contains(&tens) => "few",
        _ => "many",
    }
}

/// Adds `t(key, count=…, name=…)` and the filter `t`.
pub(super) fn add(environment: &mut Environment<'static>, words: &Arc<Words>) {
    let found = Arc::clone(words);
    let translate = move |state: &State<'_, '_>, key: &str, values: Kwargs| -> Result<String, Error> {
        let unit = state.name().split('/').next().unwrap_or_default();
        let mut text = found.of(unit, key, values.get::<Option<i64>>("count")?);
        for name in values.args() {
            let place = format!("{{{name}}}");
            if text.contains(&place) {
                text = text.replace(&place, &values.get::<minijinja::Value>(name)?.to_string());
            }
        }
        Ok(text)
    };
    environment.add_function("t", translate.clone());
    environment.add_filter("t", translate);
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn counted_nouns_take_their_form() {
        for (count, form) in
            [(1, "one"), (2, "few"), (5, "many"), (11, "many"), (12, "many"), (21, "one"), (22, "few")]
        {
            assert_eq!(plural("ru", count), form, "{count}");
        }
        assert_eq!((plural("en", 1), plural("en", 0), plural("en", 2)), ("one", "other", "other"));
    }
}
