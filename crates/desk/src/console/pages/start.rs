//! The start address: its secret becomes a cookie.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use minijinja::context;
use serde::Deserialize;

use crate::console::guard::cookie_name;
use crate::console::pages::problem;
use crate::console::rejection::Rejection;
use crate::console::secrets::same;
use crate::console::state::Console;

#[derive(Deserialize)]
pub(crate) struct Start {
    #[serde(default)]
    secret: String,
}

pub(crate) async fn show(
    State(console): State<Arc<Console>>,
    headers: HeaderMap,
    Query(start): Query<Start>,
) -> Response {
    if !same(&start.secret, console.secrets.start()) {
        return problem::rejected(&console, &headers, Rejection::Cookie);
    }
    // A page that goes on by itself, not a redirect: opened from a link elsewhere, a redirect would
    // still count as that site's request and come without the strict cookie.
    let mut response = console.page("start.html", console.language(&headers), StatusCode::OK, context! {});
    let cookie =
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_name(&console), console.secrets.cookie());
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}
