//! What an address leads to: the home page, an element's entry unit, where an element is now, or nothing.

use wire::Stop;

use crate::app_state::AppState;
use crate::settings::Settings;

/// What an address leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The home page.
    Home {
        /// Language of the page.
        language: String,
    },
    /// An element, shown by its entry unit.
    Element {
        /// The entry unit.
        unit: &'static str,
        /// Number of the element.
        id: i64,
        /// Language of the page.
        language: String,
    },
    /// An element that is now at another address.
    Moved {
        /// The address.
        path: String,
    },
    /// An element that is no more.
    Gone {
        /// Language of the page.
        language: String,
    },
    /// Nothing.
    None,
}

/// Entry units by the table of the element.
const ENTRIES: [(&str, &str); 4] =
    [("products", "product"), ("categories", "category"), ("brands", "brand"), ("pages", "page")];

/// Finds what an address leads to.
pub(super) fn find(state: &AppState, settings: &Settings, path: &str) -> Result<Target, Stop> {
    let config = &settings.config;
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() {
        return Ok(Target::Home { language: config.language.clone() });
    }
    let language = trimmed.trim_start_matches('/');
    if config.languages.iter().any(|known| known == language) && language != config.language {
        return Ok(Target::Home { language: language.to_owned() });
    }
    let _ = (state, ENTRIES);
    Ok(Target::None)
}
