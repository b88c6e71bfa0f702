//! A visitor's request, read and checked: path, fields, cookies, and that a form comes from this store.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Form, FromRequest, Query, Request};
use axum::http::header::{CONTENT_TYPE, COOKIE, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;

use crate::app_state::AppState;
use crate::http::caller;
use crate::settings::Settings;
use crate::units::visit::{Audience, Field, Visit};

/// Most fields of an address, a form, and most cookies.
const MOST_FIELDS: usize = 500;
/// The header that carries the debugger's code.
pub(super) const DEBUG_CODE: &str = "x-debug-code";

/// A visitor's request.
pub(super) struct Incoming {
    pub(super) method: Method,
    /// The path, decoded; `None` where it cannot be a page's.
    pub(super) path: Option<String>,
    pub(super) query: Vec<Field>,
    pub(super) post: Vec<Field>,
    pub(super) headers: HeaderMap,
    pub(super) client: IpAddr,
    pub(super) host: String,
    pub(super) was_forwarded: bool,
    pub(super) settings: Arc<Settings>,
    pub(super) now: Timestamp,
    /// Whether the debugger's code came with it.
    pub(super) is_debugged: bool,
}

impl Incoming {
    /// Reads a request off the line; a form that another site sends is turned away.
    pub(super) async fn read(state: &AppState, peer: SocketAddr, request: Request) -> Result<Self, Response> {
        let settings = state.settings.current();
        let (parts, body) = request.into_parts();
        let form_of = (parts.method == Method::POST).then(|| Request::from_parts(parts.clone(), body));
        let Parts { method, headers, uri, .. } = parts;
        let host = caller::host(&settings, peer, &headers, &uri);
        if method == Method::POST && !is_own_form(&settings, &headers, &host) {
            return Err((StatusCode::FORBIDDEN, "This form was sent from another site.\n").into_response());
        }
        let query = query(&uri);
        let post = match form_of {
            Some(request) => form(request).await?,
            None => Vec::new(),
        };
        let Ok(query) = query else { return Err(too_many()) };
        if post.len() > MOST_FIELDS {
            return Err(too_many());
        }
        Ok(Self {
            path: decoded(uri.path()),
            query,
            post,
            client: caller::client(&settings, peer, &headers),
            host,
            was_forwarded: caller::was_forwarded(&headers),
            is_debugged: is_debugger(&settings, &headers),
            now: state.clock.now(),
            method,
            headers,
            settings,
        })
    }

    /// What a unit is asked for.
    pub(super) fn visit(&self, language: &str, audience: Audience) -> Visit {
        Visit {
            method: if self.method == Method::POST { "POST" } else { "GET" }.to_owned(),
            path: self.path.clone().unwrap_or_default(),
            query: self.query.clone(),
            post: self.post.clone(),
            cookies: cookies(&self.headers),
            client: Some(self.client),
            audience,
            look: Visit::look(&self.settings, language),
            settings: Arc::clone(&self.settings),
            now: self.now,
            is_debugged: self.is_debugged,
        }
    }
}

/// More fields than an address or a form may have.
pub(super) struct TooMany;

/// The fields of an address.
pub(super) fn query(uri: &Uri) -> Result<Vec<Field>, TooMany> {
    if uri.query().is_none() {
        return Ok(Vec::new());
    }
    let query = Query::<Vec<Field>>::try_from_uri(uri).map(|Query(fields)| fields).unwrap_or_default();
    if query.len() > MOST_FIELDS { Err(TooMany) } else { Ok(query) }
}

fn too_many() -> Response {
    (StatusCode::BAD_REQUEST, "Too many fields.\n").into_response()
}

async fn form(request: Request) -> Result<Vec<Field>, Response> {
    // A form without fields may come without a type.
    if !request.headers().contains_key(CONTENT_TYPE) {
        return Ok(Vec::new());
    }
    match Form::<Vec<Field>>::from_request(request, &()).await {
        Ok(Form(fields)) => Ok(fields),
        Err(rejection) => {
            Err((rejection.status(), "This is no form that the store takes.\n").into_response())
        }
    }
}

/// Whether a form was sent from a page of this store, or by a program, which names no page.
fn is_own_form(settings: &Settings, headers: &HeaderMap, host: &str) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if text("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none") {
        return false;
    }
    let Some(origin) = text(ORIGIN.as_str()) else { return true };
    let authority = |url: &str| url.split_once("://").map(|(_, rest)| rest.trim_end_matches('/').to_owned());
    let origin = authority(origin);
    origin.is_some() && (origin.as_deref() == Some(host) || origin == authority(&settings.config.url))
}

fn is_debugger(settings: &Settings, headers: &HeaderMap) -> bool {
    let code = settings.config.debug_code.trim();
    !code.is_empty() && headers.get(DEBUG_CODE).is_some_and(|told| is_equal(told.as_bytes(), code.as_bytes()))
}

fn cookies(headers: &HeaderMap) -> Vec<Field> {
    let texts = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.take(MOST_FIELDS).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The path as people read it; `None` where it is no text, or tries to lead elsewhere.
pub(super) fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            other => bytes.push(other),
        }
    }
    let path = String::from_utf8(bytes).ok()?;
    let is_odd = path.chars().any(|letter| letter.is_control() || letter == '\\')
        || path.split('/').any(|part| part == ".." || part == ".");
    (!is_odd).then_some(path)
}

/// Whether two texts are equal, in a time that does not tell where they differ.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    // Hashes compare in constant time.
    blake3::hash(one) == blake3::hash(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_texts_that_stay_where_they_are() {
        assert_eq!(decoded("/a%20b/%D1%8F").as_deref(), Some("/a b/я"));
        for path in ["/a/../b", "/a/%2e%2e/b", "/%00", "/%ff", "/%5c", "/%2", "/a/./b", "/%0d%0a"] {
            assert_eq!(decoded(path), None, "{path}");
        }
    }

    #[test]
    fn cookies_are_read_from_all_lines() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, "a=1; b=2=3".parse().unwrap());
        headers.append(COOKIE, "c=; d".parse().unwrap());
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(cookies(&headers), [field("a", "1"), field("b", "2=3"), field("c", "")]);
    }
}
