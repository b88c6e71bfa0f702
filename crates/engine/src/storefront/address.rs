//! What an address leads to: the home page, an element's entry unit, where an element is now, or nothing.

use db::slugs::{self, Destination, Element};
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
    /// A page that every store has at the same address.
    Page {
        /// The entry unit.
        unit: &'static str,
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

/// Pages at addresses of their own, and their entry units. No element's address hides them.
const PAGES: [(&str, &str); 3] =
    [("search", "search"), ("search/suggest", "search_suggest"), ("contact", "contact")];

/// Finds what an address leads to. Pages of another language than the store's begin with that language.
pub(super) fn find(state: &AppState, settings: &Settings, path: &str) -> Result<Target, Stop> {
    let config = &settings.config;
    let path = path.trim_matches('/');
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let other = config.languages.iter().find(|language| *language == first && **language != config.language);
    let (language, path) = match other {
        Some(language) => (language, rest),
        None => (&config.language, path),
    };
    if path.is_empty() {
        return Ok(Target::Home { language: language.clone() });
    }
    if let Some((_, unit)) = PAGES.iter().find(|(known, unit)| *known == path && state.units.has(unit)) {
        return Ok(Target::Page { unit, language: language.clone() });
    }
    let destination = state.db.read(|tx| slugs::find(tx, language, path))?;
    let address = |path: &str| if other.is_some() { format!("{language}/{path}") } else { path.to_owned() };
    Ok(match destination {
        Some(Destination::Here(element)) => element_target(&element, language),
        Some(Destination::Moved(_, to) | Destination::Gone(_, Some(to))) => {
            Target::Moved { path: address(to.trim_start_matches('/')) }
        }
        Some(Destination::Gone(_, None)) => Target::Gone { language: language.clone() },
        None => Target::None,
    })
}

fn element_target(element: &Element, language: &str) -> Target {
    let entry = ENTRIES.iter().find(|(entity, _)| *entity == element.entity);
    entry.map_or(Target::None, |(_, unit)| Target::Element {
        unit,
        id: element.id,
        language: language.to_owned(),
    })
}
