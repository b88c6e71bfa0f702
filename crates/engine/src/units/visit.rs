//! What a page or a unit is asked for: the request as units see it, who asks, and what they answer with.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use sandbox::Value;

use super::templates::Look;
use crate::settings::Settings;

/// Who asks, and what they are shown when a unit fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A visitor: a failed unit is left out of the page.
    Visitor,
    /// A person of the store, by an agent or the console: a failed unit is told.
    Person(Person),
}

/// A person of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    /// Number.
    pub(crate) id: i64,
    /// Login.
    pub(crate) login: String,
    /// Name.
    pub(crate) name: String,
}

/// One field of a form or an address; a name may come more than once.
pub(crate) type Field = (String, String);

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    /// `GET` or `POST`.
    pub(crate) method: String,
    /// The path, decoded.
    pub(crate) path: String,
    /// Fields of the address.
    pub(crate) query: Vec<Field>,
    /// Fields of the form.
    pub(crate) post: Vec<Field>,
    /// Cookies.
    pub(crate) cookies: Vec<Field>,
    /// Where they call from, where that is known.
    pub(crate) client: Option<IpAddr>,
    /// Who asks.
    pub(crate) audience: Audience,
    /// How pages look.
    pub(crate) look: Look,
    /// The settings, the same from the first unit to the last.
    pub(crate) settings: Arc<Settings>,
    /// The moment of the request.
    pub(crate) now: Timestamp,
    /// Whether the debugger looks on.
    pub(crate) is_debugged: bool,
}

impl Visit {
    /// The look of pages under these settings, in a language.
    pub(crate) fn look(settings: &Settings, language: &str) -> Look {
        let config = &settings.config;
        Look {
            group: config.template.clone(),
            default_group: config.template.clone(),
            language: language.to_owned(),
            default_language: config.language.clone(),
            currency: config.currency.clone(),
            time_zone: config.time_zone.clone(),
        }
    }

    /// Whether who asks brought nothing that would tell them apart from others.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.audience == Audience::Visitor && self.cookies.is_empty()
    }

    /// The request as units read it in `shop.request`.
    pub(crate) fn request(&self) -> Value {
        let base = self.settings.config.url.trim_end_matches('/');
        map([
            ("method", self.method.as_str().into()),
            ("path", self.path.as_str().into()),
            ("url", format!("{base}{}", self.path).into()),
            ("query", fields(&self.query)),
            ("post", fields(&self.post)),
        ])
    }

    /// Who asks, as units read it in `shop.user`.
    pub(crate) fn user(&self) -> Value {
        match &self.audience {
            Audience::Visitor => Value::Null,
            Audience::Person(person) => map([
                ("id", person.id.into()),
                ("login", person.login.as_str().into()),
                ("name", person.name.as_str().into()),
            ]),
        }
    }

    /// The cookies as units read them in `shop.cookies`.
    pub(crate) fn cookies(&self) -> Value {
        fields(&self.cookies)
    }
}

/// A map of these fields.
pub(crate) fn map<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Map(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Fields as units read them: a text; a list where the name is written `name[]`.
pub(crate) fn fields(fields: &[Field]) -> Value {
    let mut map: Vec<(String, Value)> = Vec::new();
    for (name, text) in fields {
        let (name, is_list) = name.strip_suffix("[]").map_or((name.as_str(), false), |name| (name, true));
        let text = Value::from(text.as_str());
        match map.iter_mut().find(|(known, _)| known == name) {
            Some((_, Value::List(list))) if is_list => list.push(text),
            // Of two equal names the last counts.
            Some((_, value)) => *value = if is_list { Value::List(vec![text]) } else { text },
            None => map.push((name.to_owned(), if is_list { Value::List(vec![text]) } else { text })),
        }
    }
    Value::Map(map)
}

/// What a run answers beside its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The status that was asked for.
    pub(crate) status: Option<u16>,
    /// Where the visitor is sent.
    pub(crate) location: Option<String>,
    /// Headers.
    pub(crate) headers: Vec<(String, String)>,
    /// Cookies, as whole header values.
    pub(crate) cookies: Vec<String>,
    /// Sites of payment providers that the page's forms may lead to.
    pub(crate) sites: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_brackets_are_lists_and_the_last_of_two_counts() {
        let field = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let read = fields(&[field("a", "1"), field("b[]", "2"), field("a", "3"), field("b[]", "4")]);
        let list = Value::List(vec!["2".into(), "4".into()]);
        assert_eq!(read, map([("a", "3".into()), ("b", list)]));
    }
}
