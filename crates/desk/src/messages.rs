//! A sentence for a person, said in whatever language the page is in.

use wire::Refusal;

use crate::engine::{NoAnswer, Trouble};
use crate::locales::Locales;

/// A sentence to be said in a language that is known later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// A text of the locales and its values.
    Text(&'static str, Vec<(&'static str, String)>),
    /// The store's refusal.
    Refused(Refusal),
}

impl Message {
    pub(crate) fn new(key: &'static str, values: &[(&'static str, &str)]) -> Self {
        Self::Text(key, values.iter().map(|(name, value)| (*name, (*value).to_owned())).collect())
    }

    /// The sentence in this language.
    pub(crate) fn text(&self, locales: &Locales, language: &str) -> String {
        match self {
            Self::Text(key, values) => {
                let values: Vec<(&str, &str)> =
                    values.iter().map(|(name, value)| (*name, value.as_str())).collect();
                locales.text(language, key, &values)
            }
            Self::Refused(refusal) => refused(refusal, locales, language),
        }
    }
}

/// A refusal has a text for people where the locales have one; else the catalogue's own.
fn refused(refusal: &Refusal, locales: &Locales, language: &str) -> String {
    let key = format!("refusal.{}", refusal.name());
    if !locales.has(&key) {
        return refusal.text();
    }
    let beginning = refusal.row().map(|row| row.beginning).unwrap_or_default();
    let rest = refusal.head().strip_prefix(beginning).unwrap_or(refusal.head()).trim();
    locales.text(language, &key, &[("rest", rest)])
}

impl From<NoAnswer> for Message {
    fn from(no: NoAnswer) -> Self {
        match no {
            NoAnswer::Refused(refusal) => Self::Refused(*refusal),
            NoAnswer::Trouble(trouble) => trouble.into(),
        }
    }
}

impl From<Trouble> for Message {
    fn from(trouble: Trouble) -> Self {
        match &trouble {
            Trouble::BadAddress => Self::new("trouble.bad_address", &[]),
            Trouble::PlainHttp => Self::new("trouble.plain_http", &[]),
            Trouble::NoConnection(what) => Self::new("trouble.no_connection", &[("what", what)]),
            Trouble::TimeOut => Self::new("trouble.time_out", &[]),
            Trouble::WebPage => Self::new("trouble.web_page", &[]),
            Trouble::Redirected(place) => Self::new("trouble.redirected", &[("place", place)]),
            Trouble::Status(status) => Self::new("trouble.status", &[("status", &status.to_string())]),
            Trouble::NotUnderstood => Self::new("trouble.not_understood", &[]),
        }
    }
}
