//! The store's pages: an address leads to an entry unit, which makes the page.
//!
//! `/core/unit/<name>` is the door for single units: web modules, and the
//! agent's own. What a visitor sends is data here, never more: forms from other
//! sites are turned away, and every page goes out under strict headers.

mod address;
mod answer;
mod door;
mod files;
mod incoming;
mod kept;
mod pay;
mod sitemap;
mod statics;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use sandbox::Value;
use wire::Stop;

use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::http::pages;
use crate::units::visit::{Audience, Visit, map};

pub(crate) use statics::Packed;

use address::Target;
use incoming::Incoming;
use kept::{Asked, PagePlace};

pub(crate) use kept::kept_page;

/// The storefront's addresses; what is none of them is a page.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/core/unit/{name}", any(door::open))
        .route("/core/pay/{provider}/notify", post(pay::notify))
        .route("/core/pay/test/page/{number}", get(pay::bank).post(pay::bank))
        .route("/statics/{*path}", get(statics::group_file))
        .route("/images/{*path}", get(statics::group_file))
        .route("/bundles/{*path}", get(statics::group_file))
        .route("/files/{*path}", get(files::element_file))
        .route("/favicon.ico", get(statics::root_file))
        .route("/robots.txt", get(sitemap::robots))
        .route("/sitemap.xml", get(sitemap::index))
        .route("/sitemap/{name}", get(sitemap::part))
}

/// Any page.
pub(crate) async fn page(
    State(state): State<Arc<AppState>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let is_sent = request.method() == Method::POST;
    // Nobody reads a form for a closed store.
    if is_sent && state.is_locked() {
        return pages::closed(&state);
    }
    if !is_sent && ![Method::GET, Method::HEAD].contains(request.method()) {
        return (StatusCode::METHOD_NOT_ALLOWED, [("allow", "GET, HEAD, POST")]).into_response();
    }
    let incoming = match Incoming::read(&state, peer, request).await {
        Ok(incoming) => incoming,
        Err(refused) => return refused,
    };
    if !is_sent && state.is_locked() {
        return pages::closed(&state);
    }
    let shared = Arc::clone(&state);
    match blocking(move || show(&shared, &incoming)).await {
        Ok(response) => response,
        Err(stop) => answer::broken(&state, &stop),
    }
}

/// A page that an entry unit is to make.
struct Shown<'a> {
    unit: &'static str,
    /// The set of addresses among which the page's is, and its element.
    address: Option<(&'static str, i64)>,
    /// Where the page will lie in the cache.
    place: Option<PagePlace<'a>>,
    incoming: &'a Incoming,
}

fn show(state: &AppState, incoming: &Incoming) -> Result<Response, Stop> {
    let settings = &incoming.settings;
    let Some(path) = &incoming.path else { return Ok(pages::not_found_page(state)) };
    let place = match Asked::of(state, incoming).and_then(|asked| asked.answer()) {
        Some(Ok(page)) => return Ok(page),
        Some(Err(place)) => Some(place),
        None => None,
    };
    let target = address::find(state, settings, path)?;
    let visit = |language: &str| incoming.visit(language, Audience::Visitor);
    let shown = |unit, address| Shown { unit, address, place, incoming };
    let home = &settings.config.language;
    match target {
        Target::Home { language } => match state.units.has("home") {
            true => Ok(entry(state, shown("home", None), &visit(&language), map([]))),
            // A store without units has a window that is being set up.
            false => Ok(pages::home_page(state)),
        },
        Target::Page { unit, vars, language } => {
            let vars = vars.into_iter().map(|(name, value)| (name.to_owned(), value.into()));
            Ok(entry(state, shown(unit, None), &visit(&language), Value::Map(vars.collect())))
        }
        Target::Element { unit, addresses, id, language } if state.units.has(unit) => {
            let shown = shown(unit, Some((addresses, id)));
            Ok(entry(state, shown, &visit(&language), map([("id", id.into())])))
        }
        Target::Moved { path } => Ok(answer::moved(&path)),
        Target::Gone { language } => Ok(missing(state, &visit(&language), StatusCode::GONE)),
        Target::Element { .. } | Target::None => Ok(missing(state, &visit(home), StatusCode::NOT_FOUND)),
    }
}

/// A page made by an entry unit.
fn entry(state: &AppState, shown: Shown<'_>, visit: &Visit, vars: Value) -> Response {
    let mut outcome = state.units.run(visit, shown.unit, "main", vec![vars]);
    // That the address leads to this element is told by the element's addresses.
    if let Some((set, id)) = shown.address {
        outcome.dependencies.set(set, id);
    }
    match outcome.result {
        Ok(_) => kept::keep(shown.place, visit, outcome, &shown.incoming.headers),
        Err(_) => answer::failed(visit, outcome, || pages::failed_page(state)),
    }
}

/// What is shown where there is no page, or none any more.
fn missing(state: &AppState, visit: &Visit, status: StatusCode) -> Response {
    if !state.units.has("not_found") {
        return pages::missing_page(state, status);
    }
    let outcome = state.units.run(visit, "not_found", "main", vec![map([])]);
    match outcome.result {
        Ok(_) => answer::page(visit, outcome, status),
        Err(_) => pages::missing_page(state, status),
    }
}
