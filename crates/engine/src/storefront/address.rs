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
        /// The set of addresses of such elements, as changes are told of it.
        addresses: &'static str,
        /// Number of the element.
        id: i64,
        /// Language of the page.
        language: String,
    },
    /// A page that every store has at the same address.
    Page {
        /// The entry unit.
        unit: &'static str,
        /// What comes after its name: the word of an order, the page of an account.
        vars: Vec<(&'static str, String)>,
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

/// Entry units by the table of the element, and the set of its addresses.
const ENTRIES: [(&str, &str, &str); 4] = [
    ("products", "product", "slugs.products"),
    ("categories", "category", "slugs.categories"),
    ("brands", "brand", "slugs.brands"),
    ("pages", "page", "slugs.pages"),
];

/// Pages at addresses of their own, and their entry units. No element's address hides them.
const PAGES: [(&str, &str); 5] = [
    ("search", "search"),
    ("search/suggest", "search_suggest"),
    ("contact", "contact"),
    ("cart", "cart"),
    ("checkout", "checkout"),
];

/// Pages with something after their name: the name, the entry unit, what the unit calls the rest.
const FAMILIES: [(&str, &str, &str); 2] = [("order", "order", "token"), ("account", "account", "page")];

/// The page of an address that every store has: its unit, and what it is told.
fn own_page(path: &str) -> Option<(&'static str, Vec<(&'static str, String)>)> {
    if let Some((_, unit)) = PAGES.iter().find(|(known, _)| *known == path) {
        return Some((unit, Vec::new()));
    }
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let (_, unit, name) = FAMILIES.iter().find(|(known, ..)| *known == first && !rest.contains('/'))?;
    Some((unit, vec![(*name, rest.to_owned())]))
}

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
    if let Some((unit, vars)) = own_page(path).filter(|(unit, _)| state.units.has(unit)) {
        return Ok(Target::Page { unit, vars, language: language.clone() });
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
    let entry = ENTRIES.iter().find(|(entity, ..)| *entity == element.entity);
    entry.map_or(Target::None, |(_, unit, addresses)| Target::Element {
        unit,
        addresses,
        id: element.id,
        language: language.to_owned(),
    })
}
