//! `/core/unit/<name>`: one unit, for forms and scripts of pages, for a person's web modules, for the agent's units.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::header::{ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use sandbox::Value;
use wire::{Stop, text::quoted};

use super::answer;
use super::incoming::Incoming;
use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::gate::tickets::AGENT;
use crate::gate::{Gate, touch};
use crate::http::attachment::Slot;
use crate::http::pages;
use crate::request_context::RequestContext;
use crate::units::visit::{Audience, Person, Visit, fields};
use crate::units::{Manifest, name};

/// Lines that units wrote to the log, for a person's programs.
const UNIT_LOG: HeaderName = HeaderName::from_static("x-unit-log");
/// The field of a form that names the function to call.
const FUNCTION: &str = "func";

/// Calls one unit.
pub(super) async fn open(
    State(state): State<Arc<AppState>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Path(unit): Path<String>,
    request: Request,
) -> Response {
    if state.is_locked() {
        return pages::closed(&state);
    }
    if ![Method::GET, Method::HEAD, Method::POST].contains(request.method()) {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD, POST")]).into_response();
    }
    let incoming = match Incoming::read(&state, peer, request).await {
        Ok(incoming) => incoming,
        Err(refused) => return refused,
    };
    let shared = Arc::clone(&state);
    match blocking(move || call(&shared, &incoming, &unit)).await {
        Ok(response) => response,
        Err(stop) => answer::broken(&state, &stop),
    }
}

/// Who calls, what there is, whether it may be called: in this order, so that who may not call learns nothing.
fn call(state: &AppState, incoming: &Incoming, unit: &str) -> Result<Response, Stop> {
    let proof = incoming.headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap_or_default());
    let person = match proof {
        Some(proof) => match person(state, incoming, proof)? {
            Some(person) => Some(person),
            None => return Ok(refused(StatusCode::FORBIDDEN, "ACCESS_DENIED: sign in anew")),
        },
        None => None,
    };
    if name::is_agents(unit) && person.is_none() {
        return Ok(refused(
            StatusCode::FORBIDDEN,
            "ACCESS_DENIED: units of the agent are for signed-in people",
        ));
    }
    if !state.units.has(unit) {
        return Ok(refused(
            StatusCode::NOT_FOUND,
            &format!("NO_MODULE: there is no units/{}", quoted(unit, 80)),
        ));
    }
    let manifest = match state.units.manifest(unit) {
        Ok(manifest) => manifest,
        Err(error) => return Ok(told(person.is_some(), &error.to_string())),
    };
    if !is_open(&manifest, incoming) {
        let words = format!("NO_ENTRY_POINT: set entry_point = 1 for unit {unit}");
        return Ok(refused(StatusCode::FORBIDDEN, &words));
    }
    Ok(run(state, incoming, unit, person))
}

/// An entry point is called by forms; a unit that pages load later is also read.
fn is_open(manifest: &Manifest, incoming: &Incoming) -> bool {
    let is_read = incoming.method != Method::POST;
    if is_read { manifest.lazy_load } else { manifest.entry_point || manifest.lazy_load }
}

fn run(state: &AppState, incoming: &Incoming, unit: &str, person: Option<Person>) -> Response {
    let is_person = person.is_some();
    let audience = person.map_or(Audience::Visitor, Audience::Person);
    let mut visit = incoming.visit(&incoming.settings.config.language, audience);
    let function = take_function(&mut visit);
    // The agent's units get all fields in one argument, web modules those of the address beside them.
    let mut vars = match fields(&visit.query) {
        Value::Map(fields) => fields,
        _ => Vec::new(),
    };
    vars.retain(|(name, _)| name != "post");
    vars.push(("post".to_owned(), fields(&visit.post)));
    let outcome = state.units.run(&visit, unit, &function, vec![Value::Map(vars)]);
    let log = is_person.then(|| outcome.report.log_header()).flatten();
    let mut response = match &outcome.result {
        Ok(_) => answer::page(&visit, outcome, StatusCode::OK),
        Err(error) => {
            let words = error.to_string();
            answer::failed(&visit, outcome, || told(is_person, &words))
        }
    };
    // What units wrote to the log is for people of the store.
    if let Some(log) = log.and_then(|log| HeaderValue::try_from(log).ok()) {
        response.headers_mut().insert(UNIT_LOG, log);
    }
    response
}

/// The function that a form names. It is no field of the unit's.
fn take_function(visit: &mut Visit) -> String {
    let named = visit.post.iter().find(|(name, _)| name == FUNCTION).map(|(_, function)| function.clone());
    visit.post.retain(|(name, _)| name != FUNCTION);
    named.filter(|function| !function.is_empty()).unwrap_or_else(|| "main".to_owned())
}

/// The person of a ticket; `None` where it proves nobody who may work here now.
fn person(state: &AppState, incoming: &Incoming, proof: &str) -> Result<Option<Person>, Stop> {
    let Some(ticket) = proof.strip_prefix("Bearer ").map(str::trim) else { return Ok(None) };
    let context = context(incoming, ticket);
    let gate = match Gate::enter(state, &context) {
        Ok(gate) => gate,
        Err(_) => return Ok(None),
    };
    let found = state.db.read(|tx| gate.holder(tx, AGENT, false));
    match found {
        Ok(holder) => {
            touch(state, holder.to_touch, &context);
            let user = holder.user;
            Ok(Some(Person { id: user.id, login: user.login, name: user.name }))
        }
        Err(Stop::Refused(_)) => Ok(None),
        Err(broke) => Err(broke),
    }
}

/// The request as the gate reads it.
fn context(incoming: &Incoming, ticket: &str) -> RequestContext {
    let request = wire::Request {
        command: String::new(),
        tool: None,
        least: None,
        params: serde_json::Map::new(),
        build: wire::BUILD.to_owned(),
        time: incoming.now.to_string(),
        session: Some(ticket.to_owned()),
        licence: None,
        key: None,
        origin: wire::Origin::default(),
    };
    RequestContext {
        request,
        client: incoming.client,
        host: incoming.host.clone(),
        was_forwarded: incoming.was_forwarded,
        now: incoming.now,
        is_turned_away: false,
        settings: Arc::clone(&incoming.settings),
        _room: None,
        attachment: Slot::default(),
    }
}

/// A failed unit: a person reads why, a visitor only that it did.
fn told(is_person: bool, words: &str) -> Response {
    let words = if is_person { words } else { "This did not work. Please try again later." };
    refused(StatusCode::INTERNAL_SERVER_ERROR, words)
}

fn refused(status: StatusCode, words: &str) -> Response {
    let headers = [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CACHE_CONTROL, "no-store")];
    let mut response = (status, headers, format!("{words}\n")).into_response();
    answer::dress(&mut response);
    response
}
