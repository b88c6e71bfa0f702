//! Pages that say why there is no other page.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use minijinja::context;

use crate::console::Console;
use crate::console::guard::Turned;

/// A request that the guard turned away. It shows nothing of the store.
pub(crate) fn turned_away(console: &Console, headers: &HeaderMap, turned: Turned) -> Response {
    let kind = match turned {
        Turned::Host => "host",
        Turned::Origin => "origin",
        Turned::Cookie => "cookie",
        Turned::Form => "form",
        Turned::Size => "size",
    };
    let values = context! { kind, stranger => turned != Turned::Form };
    console.page("problem.html", console.language(headers), turned.status(), values)
}

pub(crate) async fn not_found(State(console): State<Arc<Console>>, headers: HeaderMap) -> Response {
    let values = context! { kind => "not_found", stranger => false };
    console.page("problem.html", console.language(&headers), StatusCode::NOT_FOUND, values)
}
