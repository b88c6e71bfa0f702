//! What every page is made from and what all pages share.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use minijinja::{Value, context};

use super::secrets::Secrets;
use super::templates;
use crate::locales::{FALLBACK, Locales};
use crate::program::Program;

/// What every page is made from.
pub(crate) struct Console {
    pub(super) program: Arc<Program>,
    pub(super) secrets: Secrets,
    pub(super) address: SocketAddr,
    pub(super) locales: Arc<Locales>,
    pub(super) templates: minijinja::Environment<'static>,
}

impl Console {
    /// Reads the built-in texts and templates.
    pub(crate) fn new(program: Arc<Program>, secrets: Secrets, address: SocketAddr) -> Result<Self, String> {
        let locales = Arc::new(Locales::load().map_err(|error| error.to_string())?);
        let templates = templates::load(&locales).map_err(|error| error.to_string())?;
        Ok(Self { program, secrets, address, locales, templates })
    }

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
