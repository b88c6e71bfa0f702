//! Templates and what all pages share.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use minijinja::value::Kwargs;
use minijinja::{Environment, Error, State, UndefinedBehavior, Value, context};

use super::Console;
use crate::locales::{FALLBACK, Locales};

const TEMPLATES: &[(&str, &str)] = &[
    ("base.html", include_str!("../../templates/base.html")),
    ("home.html", include_str!("../../templates/home.html")),
    ("problem.html", include_str!("../../templates/problem.html")),
    ("sign_in.html", include_str!("../../templates/sign_in.html")),
    ("start.html", include_str!("../../templates/start.html")),
    ("stores.html", include_str!("../../templates/stores.html")),
];

/// The environment with every template; `t` says a text in the page's language.
pub(crate) fn templates(locales: &Arc<Locales>) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let locales = Arc::clone(locales);
    environment.add_function("t", move |state: &State<'_, '_>, key: &str, values: Kwargs| {
        text(&locales, state, key, &values)
    });
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    Ok(environment)
}

fn text(locales: &Locales, state: &State<'_, '_>, key: &str, values: &Kwargs) -> Result<String, Error> {
    let language = state.lookup("lang").map(|value| value.to_string()).unwrap_or_default();
    let mut pairs = Vec::new();
    for name in values.args() {
        pairs.push((name, values.get::<Value>(name)?.to_string()));
    }
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Ok(locales.text(&language, key, &pairs))
}

impl Console {
    /// The page's language: the store's while somebody is signed in, else what the browser asks for.
    pub(crate) fn language(&self, headers: &HeaderMap) -> &'static str {
        let store = self.program.store().and_then(|open| open.signed).map(|signed| signed.answer.language);
        let wish = || headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        store
            .and_then(|language| self.locales.fitting(&language))
            .or_else(|| wish().and_then(|wish| self.locales.accepted(wish)))
            .unwrap_or(FALLBACK)
    }

    /// A page: the template with its own values and those of every page.
    pub(crate) fn page(&self, template: &str, language: &str, status: StatusCode, values: Value) -> Response {
        let open = self.program.store();
        let person =
            open.as_ref().and_then(|open| open.signed.as_ref()).map(|signed| signed.answer.user.name.clone());
        let shared = context! {
            lang => language,
            csrf => self.secrets.form(),
            build => wire::BUILD,
            open_store => open.map(|open| open.name),
            person,
        };
        let all = context! { ..values, ..shared };
        let rendered = self.templates.get_template(template).and_then(|template| template.render(all));
        match rendered {
            Ok(page) => (status, Html(page)).into_response(),
            Err(error) => {
                tracing::error!(error = ?error, template, "A page of the console is broken");
                (StatusCode::INTERNAL_SERVER_ERROR, "The page is broken; the program's log tells more.\n")
                    .into_response()
            }
        }
    }
}

/// After a change the browser asks for a page anew, so that reloading repeats nothing.
pub(crate) fn go_to(place: &str) -> Response {
    Redirect::to(place).into_response()
}
