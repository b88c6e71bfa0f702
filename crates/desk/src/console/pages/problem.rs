//! Pages that say why there is no other page.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use minijinja::context;

use crate::console::rejection::Rejection;
use crate::console::state::Console;

/// A request that the guard rejects. It shows nothing of the store.
pub(crate) fn rejected(console: &Console, headers: &HeaderMap, rejection: Rejection) -> Response {
    let kind = match rejection {
        Rejection::Host => "host",
        Rejection::Origin => "origin",
        Rejection::Cookie => "cookie",
        Rejection::Form => "form",
        Rejection::Size => "size",
    };
    let address = format!("http://{}", console.address);
    let values = context! { kind, address, stranger => rejection != Rejection::Form };
    console.page("problem.html", console.language(headers), rejection.status(), values)
}

pub(crate) async fn not_found(State(console): State<Arc<Console>>, headers: HeaderMap) -> Response {
    let values = context! { kind => "not_found", address => "", stranger => false };
    console.page("problem.html", console.language(&headers), StatusCode::NOT_FOUND, values)
}
