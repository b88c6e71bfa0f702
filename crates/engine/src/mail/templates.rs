//! The templates of a mail: `mails/<mail>/{subject.txt,body.txt,body.htm}` of a group, and the words beside them.
//!
//! What a mail lacks is looked for in the folder `mails` itself, where all mails share their
//! frame, and then in the store's default group.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, Value, escape_formatter};
use serde_json::{Value as Json, json};

use crate::units::Tree;
use crate::units::name::{is_group, is_plain};
use crate::units::templates::{Look, add_values, plain, write};
use crate::units::values::{from_json, to_template};

/// Steps one template may take.
const FUEL: u64 = 1_000_000;
/// How deep templates may include each other.
const DEPTH: usize = 32;
/// Longest subject.
const LONGEST_SUBJECT: usize = 200;
/// Largest body.
const LARGEST: usize = 1 << 20;

/// A mail as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// One line.
    pub(crate) subject: String,
    /// The body as a text.
    pub(crate) text: String,
    /// The body as HTML, where the mail has such a template.
    pub(crate) html: Option<String>,
}

/// The templates of one mail in one look.
#[derive(Clone)]
pub(crate) struct MailTemplates {
    tree: Tree,
    folders: Vec<String>,
    look: Look,
}

impl MailTemplates {
    /// The templates of this mail.
    pub(crate) fn new(tree: Tree, look: &Look, mail: &str) -> Self {
        let mut groups = vec![&look.group, &look.default_group];
        groups.dedup();
        groups.retain(|group| is_group(group));
        let mut folders = Vec::new();
        if is_plain(mail) {
            folders.extend(groups.iter().map(|group| format!("templates/{group}/mails/{mail}")));
            folders.extend(groups.iter().map(|group| format!("templates/{group}/mails")));
        }
        Self { tree, folders, look: look.clone() }
    }

    /// Whether there is such a mail.
    pub(crate) fn is_there(&self) -> bool {
        // The folder that all mails share is no mail.
        let own = self.folders.iter().take(self.folders.len() / 2);
        own.into_iter().any(|folder| {
            matches!(self.tree.inside("templates", &format!("{folder}/subject.txt")), Ok(Some(_)))
        })
    }

    /// The mail with what it shows.
    pub(crate) fn render(&self, shop: &Json, data: &Json) -> Result<Rendered, String> {
        let environment = self.environment();
        let mut fields = data.as_object().cloned().unwrap_or_default();
        fields.insert("shop".to_owned(), shop.clone());
        fields.insert("language".to_owned(), json!(self.look.language));
        let context = to_template(&from_json(Json::Object(fields)));
        let render = |name: &str| -> Result<Option<String>, String> {
            let template = match environment.get_template(name) {
                Err(error) if error.kind() == ErrorKind::TemplateNotFound => return Ok(None),
                template => template.map_err(|error| told(&error))?,
            };
            let text = template.render(&context).map_err(|error| told(&error))?;
            if text.len() > LARGEST {
                Err(format!("{name}: larger than {LARGEST} bytes"))
            } else {
                Ok(Some(text))
            }
        };
        let subject = render("subject.txt")?.map(|text| one_line(&text)).filter(|text| !text.is_empty());
        Ok(Rendered {
            subject: subject.ok_or("there is no subject.txt")?,
            text: render("body.txt")?.ok_or("there is no body.txt")?,
            html: render("body.htm")?,
        })
    }

    fn environment(&self) -> Environment<'static> {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|name| match name.ends_with(".htm") {
            true => AutoEscape::Html,
            false => AutoEscape::None,
        });
        environment.set_formatter(write_value);
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(DEPTH);
        let files = self.clone();
        environment.set_loader(move |name| {
            let is_template = is_plain(name) && (name.ends_with(".htm") || name.ends_with(".txt"));
            if !is_template {
                return Ok(None);
            }
            let wrong = |error: io::Error| Error::new(ErrorKind::InvalidOperation, error.to_string());
            files.text(name).map_err(wrong)
        });
        add_values(&mut environment, &self.look);
        let words = Arc::new(self.words());
        let translate = move |key: &str, values: Kwargs| -> Result<String, Error> {
            let mut text = words.get(key).cloned().unwrap_or_else(|| key.to_owned());
            for name in values.args() {
                text = text.replace(&format!("{{{name}}}"), &values.get::<Value>(name)?.to_string());
            }
            Ok(text)
        };
        environment.add_function("t", translate.clone());
        environment.add_filter("t", translate);
        environment
    }

    /// A file of the mail, else of all mails.
    fn text(&self, name: &str) -> io::Result<Option<String>> {
        for folder in &self.folders {
            if let Some(text) = self.tree.text("templates", &format!("{folder}/{name}"))? {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// The words of a mail: its own stand before those of all mails, its language's before the store's.
    fn words(&self) -> BTreeMap<String, String> {
        let mut words = BTreeMap::new();
        for language in [&self.look.default_language, &self.look.language] {
            if !is_plain(language) {
                continue;
            }
            for folder in self.folders.iter().rev() {
                let path = format!("{folder}/words.{language}.json");
                match self
                    .tree
                    .text("templates", &path)
                    .map(|text| text.map(|text| serde_json::from_str(&text)))
                {
                    Ok(None) => {}
                    Ok(Some(Ok(more))) => words.extend::<BTreeMap<String, String>>(more),
                    Ok(Some(Err(error))) => tracing::warn!(path, %error, "Words cannot be read"),
                    Err(error) => tracing::warn!(path, %error, "Words cannot be read"),
                }
            }
        }
        words
    }
}

/// Writes a value into a mail: escaped in HTML, and never with what turns the direction of text.
fn write_value(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    if *state.auto_escape() == AutoEscape::Html {
        return write(out, state, value);
    }
    match value.kind() {
        ValueKind::None => Ok(()),
        ValueKind::Undefined | ValueKind::Bool | ValueKind::Number => escape_formatter(out, state, value),
        _ => {
            let text = value.to_string();
            Ok(out.write_str(&plain(&text).unwrap_or(text))?)
        }
    }
}

/// A text as one line without control characters.
pub(crate) fn one_line(text: &str) -> String {
    let text = plain(text).unwrap_or_else(|| text.to_owned());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().take(LONGEST_SUBJECT).collect()
}

fn told(error: &Error) -> String {
    let place = match (error.name(), error.line()) {
        (Some(name), Some(line)) => format!("{name}:{line}: "),
        _ => String::new(),
    };
    match error.detail() {
        Some(detail) => format!("{place}{}: {detail}", error.kind()),
        None => format!("{place}{}", error.kind()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn look(group: &str, language: &str) -> Look {
        Look {
            group: group.to_owned(),
            default_group: "default".to_owned(),
            language: language.to_owned(),
            default_language: "en".to_owned(),
            currency: "EUR".to_owned(),
            time_zone: "UTC".to_owned(),
        }
    }

    struct Store(tempfile::TempDir);

    impl Store {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for (path, text) in files {
                let path = folder.path().join("templates").join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(folder)
        }

        fn mail(&self, group: &str, language: &str, mail: &str) -> MailTemplates {
            MailTemplates::new(Tree::new(self.0.path()), &look(group, language), mail)
        }
    }

    #[test]
    fn what_a_group_lacks_is_the_default_groups() {
        let store = Store::new(&[
            ("default/mails/hello/subject.txt", "{{ t('hi', name=name) }}"),
            ("default/mails/hello/body.txt", "{{ shop.name }}: {{ t('hi', name=name) }}"),
            (
                "default/mails/hello/body.htm",
                "{% extends 'frame.htm' %}{% block body %}{{ name }}{% endblock %}",
            ),
            ("default/mails/frame.htm", "<p>{% block body %}{% endblock %}</p>"),
            ("default/mails/words.en.json", r#"{"hi": "Hello, {name}"}"#),
            ("default/mails/hello/words.ru.json", r#"{"hi": "Привет, {name}"}"#),
            ("red/mails/frame.htm", "<b>{% block body %}{% endblock %}</b>"),
        ]);
        let shop = json!({"name": "Shop"});
        let mail =
            store.mail("red", "ru", "hello").render(&shop, &json!({"name": "Ира", "shop": 1})).unwrap();
        assert_eq!(mail.subject, "Привет, Ира");
        assert_eq!(mail.text, "Shop: Привет, Ира");
        assert_eq!(mail.html.as_deref(), Some("<b>Ира</b>"));
        let mail = store.mail("default", "de", "hello").render(&shop, &json!({"name": "Ira"})).unwrap();
        assert_eq!((mail.subject.as_str(), mail.html.as_deref()), ("Hello, Ira", Some("<p>Ira</p>")));
        assert!(store.mail("default", "en", "hello").is_there());
        for other in ["bye", "..", "hello/x", "", "frame.htm"] {
            assert!(!store.mail("default", "en", other).is_there(), "{other}");
        }
    }

    #[test]
    fn what_a_mail_shows_is_inert() {
        let store = Store::new(&[
            ("default/mails/hello/subject.txt", "Hi {{ name }}\nX-Evil: 1"),
            ("default/mails/hello/body.txt", "{{ name }}{{ nothing }}"),
            ("default/mails/hello/body.htm", "<a title='{{ name }}'>{{ t(name) }}</a>"),
        ]);
        let name = "<b>'\"{{ 7*7 }}\u{202e}\r\nBcc: x@example.com\0";
        let mail = store.mail("default", "en", "hello").render(&json!({}), &json!({"name": name})).unwrap();
        assert_eq!(mail.subject, "Hi <b>'\"{{ 7*7 }} Bcc: x@example.com X-Evil: 1");
        assert_eq!(mail.text, "<b>'\"{{ 7*7 }}\r\nBcc: x@example.com");
        let html = mail.html.unwrap();
        assert!(html.starts_with("<a title='&lt;b&gt;&#39;&quot;{{ 7*7 }}\r\n"), "{html}");
        assert!(!html.contains("<b>"), "{html}");
    }

    #[test]
    fn a_mistake_has_its_place_and_no_template_runs_for_ever() {
        let store = Store::new(&[
            ("default/mails/a/subject.txt", "a"),
            ("default/mails/a/body.txt", "one\n{{ 1|nix }}"),
            (
                "default/mails/b/subject.txt",
                "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
            ),
            ("default/mails/c/subject.txt", "{% include '../../../config.json' %}"),
            ("default/mails/d/subject.txt", " \n "),
        ]);
        let error =
            |mail: &str| store.mail("default", "en", mail).render(&json!({}), &json!({})).unwrap_err();
        assert!(error("a").starts_with("body.txt:2: "), "{}", error("a"));
        assert!(error("b").contains("fuel"), "{}", error("b"));
        assert!(error("c").contains("template not found"), "{}", error("c"));
        assert_eq!(error("d"), "there is no subject.txt");
    }

    /// What the engine shows in mails about orders.
    fn order() -> Json {
        let sum = |amount: i64| json!({"amount": amount, "text": format!("€{amount}")});
        json!({
            "number": "A-1001", "name": "Ira <b>", "url": "https://shop.example.com/order/x?a=1&b=2",
            "lines": [{"name": "Rose & Co", "options": "Red", "quantity": 2, "price": sum(5), "total": sum(10)}],
            "goods": sum(10), "discount": sum(1), "shipping": sum(4), "fees": sum(0), "rounding": sum(0),
            "tax": sum(2), "tax_included": true, "total": sum(13), "paid": sum(13),
            "address_lines": ["Ira", "Long Lane 1"], "shipping_name": "Post", "payment_name": "Bank transfer",
            "payment_text": "IBAN 1\nBank 2", "pay_until": "2026-12-31T10:00:00Z", "reason": "Too late",
        })
    }

    #[test]
    fn the_sample_stores_mails_are_whole_in_both_languages() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shopwright/src/store_files");
        let shop = json!({"name": "Flowers", "url": "https://shop.example.com"});
        let full = json!({
            "order": order(), "carrier": "DHL", "tracking": "T-77", "amount": {"amount": 5, "text": "€5"},
            "name": "Ira", "link": "https://shop.example.com/account?token=t",
        });
        let bare =
            json!({"order": {"number": "A-1001", "total": {"text": "€13"}}, "link": "https://x.example/"});
        let mails = [
            "placed",
            "pay",
            "paid",
            "sent",
            "pickup",
            "cancelled",
            "refunded",
            "return",
            "password",
            "confirm",
        ];
        for mail in mails {
            let mut seen = Vec::new();
            for language in ["en", "ru"] {
                let templates = MailTemplates::new(Tree::new(&root), &look("default", language), mail);
                assert!(templates.is_there(), "{mail}");
                for data in [&full, &bare] {
                    let made =
                        templates.render(&shop, data).unwrap_or_else(|error| panic!("{mail}: {error}"));
                    let html = made.html.unwrap();
                    for text in [&made.subject, &made.text, &html] {
                        for key in
                            ["sum_", "subject", "hello_nobody", "not_you", "see_order", "tax_in", "{number}"]
                        {
                            assert!(!text.contains(key), "{mail} {language} has no words for {key}: {text}");
                        }
                    }
                    assert!(made.text.contains("https://") && html.contains("https://"), "{mail}");
                    assert!(!html.contains("<b>"), "{mail}: {html}");
                    seen.push(made.subject);
                }
            }
            assert_ne!(seen[0], seen[2], "{mail} in two languages");
        }
    }
}
