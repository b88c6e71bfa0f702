//! What every request to the console passes first.
//!
//! The address is this computer's, yet any page of the web can make this
//! browser ask it. So: the host must be ours (a foreign name may be pointed
//! here), a foreign origin is refused, the cookie of this start must be there,
//! and what changes something carries the word of our own forms.
//! See spec: program.md, security of the console.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest as _, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header, request::Parts};
use axum::middleware::Next;
use axum::response::Response;
use axum::{Form, http};
use serde::Deserialize;

use super::connections::Connection;
use super::pages::problem;
use super::rejection::Rejection;
use super::secrets::same;
use super::state::Console;

/// Where the start secret becomes a cookie.
pub(crate) const START: &str = "/start";
/// The style sheet.
pub(crate) const STYLE: &str = "/console.css";
/// The icon.
pub(crate) const ICON: &str = "/icon.svg";

/// Largest form.
const MOST_BYTES: usize = 64 * 1024;

const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Not `no-referrer`: with it browsers name no origin in forms.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Lets a request through or turns it away; every answer gets the protecting headers.
pub(crate) async fn check(State(console): State<Arc<Console>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let mut response = match pass(&console, &parts, body).await {
        Ok(body) => next.run(Request::from_parts(parts, body)).await,
        Err(rejection) => {
            tracing::warn!(?rejection, "A request to the console was turned away");
            problem::rejected(&console, &parts.headers, rejection)
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn pass(console: &Console, parts: &Parts, body: Body) -> Result<Body, Rejection> {
    let host = host(parts).filter(|host| is_ours(console, host)).ok_or(Rejection::Host)?;
    let changes = !matches!(parts.method, Method::GET | Method::HEAD);
    origin(&parts.headers, host, changes)?;
    let is_open_to_all = !changes && matches!(parts.uri.path(), START | STYLE | ICON);
    if has_cookie(console, &parts.headers) {
        if let Some(connection) = parts.extensions.get::<Arc<Connection>>() {
            connection.shows_cookie();
        }
    } else if !is_open_to_all {
        return Err(Rejection::Cookie);
    }
    if !changes {
        return Ok(Body::empty());
    }
    let bytes = axum::body::to_bytes(body, MOST_BYTES).await.map_err(|_| Rejection::Size)?;
    form(console, parts, &bytes).await?;
    Ok(Body::from(bytes))
}

/// The host that the request names; two different ones are none.
fn host(parts: &Parts) -> Option<&str> {
    let mut named = parts.headers.get_all(header::HOST).iter();
    let host = named.next().map_or_else(
        || parts.uri.authority().map(http::uri::Authority::as_str),
        |value| value.to_str().ok(),
    )?;
    (named.next().is_none()).then_some(host)
}

fn is_ours(console: &Console, host: &str) -> bool {
    let port = console.address.port();
    let names =
        [console.address.ip().to_string(), format!("[{}]", console.address.ip()), "localhost".to_owned()];
    names
        .iter()
        .any(|name| host.eq_ignore_ascii_case(&format!("{name}:{port}")) || (port == 80 && host == name))
}

/// A page of another site is turned away; what changes something must name its origin.
fn origin(headers: &HeaderMap, host: &str, changes: bool) -> Result<(), Rejection> {
    match headers.get(header::ORIGIN) {
        Some(origin) if origin.to_str().is_ok_and(|origin| is_origin(origin, host)) => Ok(()),
        None if !changes => Ok(()),
        Some(_) | None => Err(Rejection::Origin),
    }
}

fn is_origin(origin: &str, host: &str) -> bool {
    origin.strip_prefix("http://").is_some_and(|rest| rest.eq_ignore_ascii_case(host))
}

fn has_cookie(console: &Console, headers: &HeaderMap) -> bool {
    let name = cookie_name(console);
    headers
        .get_all(header::COOKIE)
        .iter()
        // Byte by byte: other programs of this computer may have set a cookie that is no ASCII.
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b';'))
        .filter_map(|pair| str::from_utf8(pair).ok()?.trim().split_once('='))
        .any(|(key, value)| key == name && same(value, console.secrets.cookie()))
}

/// Cookies know no ports, so the name tells two programs of one computer apart.
pub(crate) fn cookie_name(console: &Console) -> String {
    format!("shopwright_{}", console.address.port())
}

#[derive(Deserialize)]
struct Word {
    csrf: String,
}

async fn form(console: &Console, parts: &Parts, bytes: &Bytes) -> Result<(), Rejection> {
    let request = Request::from_parts(parts.clone(), Body::from(bytes.clone()));
    match Form::<Word>::from_request(request, &()).await {
        Ok(Form(word)) if same(&word.csrf, console.secrets.form()) => Ok(()),
        _ => Err(Rejection::Form),
    }
}
