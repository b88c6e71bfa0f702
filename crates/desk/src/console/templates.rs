//! The templates of the pages.

use std::sync::Arc;

use minijinja::value::Kwargs;
use minijinja::{Environment, Error, State, UndefinedBehavior, Value};

use crate::locales::Locales;

const TEMPLATES: &[(&str, &str)] = &[
    ("base.html", include_str!("../../templates/base.html")),
    ("home.html", include_str!("../../templates/home.html")),
    ("problem.html", include_str!("../../templates/problem.html")),
    ("sign_in.html", include_str!("../../templates/sign_in.html")),
    ("start.html", include_str!("../../templates/start.html")),
    ("stores.html", include_str!("../../templates/stores.html")),
];

/// The environment with every template; `t` says a text in the page's language.
pub(super) fn load(locales: &Arc<Locales>) -> Result<Environment<'static>, Error> {
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
