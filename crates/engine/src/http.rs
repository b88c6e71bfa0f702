//! The engine's addresses, and the way from HTTP to a request and from an answer to an envelope.

mod activity;
mod address_shares;
pub(crate) mod answers;
pub(crate) mod attachment;
pub(crate) mod body;
pub(crate) mod caller;
pub(crate) mod connections;
mod decode;
mod early_look;
mod envelope;
mod in_flight;
pub(crate) mod metrics;
pub(crate) mod pages;
pub(crate) mod requests;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::{ConnectInfo, Request as HttpRequest, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, ORIGIN, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use serde_json::Value;
use shop::address::is_own_computer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate as _, SizeAbove};
use wire::{Envelope, Request, Stop, catalogue};
use zeroize::Zeroize as _;

use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::request_context::{RequestContext, draw_turned_away};
use crate::settings::Settings;
use crate::{agent, program, storefront};
use answers::NoRoom;
use body::{BodyError, SMALL, Sender};
use caller::{client, host, was_forwarded};
use decode::{admit, read_request};
use envelope::{Ended, conclude};
use in_flight::{AtWork, InFlight};

/// Answers from this size on are compressed.
const COMPRESS_FROM: u64 = 64 * 1024;
/// Bodies up to this size may hold little but a password, and are wiped after reading.
const WIPE_UP_TO: usize = 4096;

/// Every address the engine answers.
pub(crate) fn router(state: Arc<AppState>) -> Router {
    let pages = storefront::routes().fallback(storefront::page);
    Router::new()
        .route("/core/mcp.php", endpoint(post(agent_endpoint)))
        .route("/core/program.php", endpoint(post(program_endpoint)))
        .route("/core/health", get(health))
        .route("/core/ready", get(ready))
        .route("/core/metrics", get(metrics))
        .merge(pages.layer(from_fn_with_state(Arc::clone(&state), page_room)))
        .layer(
            CompressionLayer::new()
                .compress_when(SizeAbove::new(COMPRESS_FROM).and(NotForContentType::IMAGES)),
        )
        .with_state(state)
}

fn endpoint(route: MethodRouter<Arc<AppState>>) -> MethodRouter<Arc<AppState>> {
    route.fallback(async || {
        let words = "This is an endpoint of a Shopwright store for programs: they POST JSON here.\n\
                     People find the store at its home page, /.\n";
        (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")], words)
    })
}

async fn agent_endpoint(
    State(state): State<Arc<AppState>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: HttpRequest,
) -> Response {
    let started = Instant::now();
    match take_in(&state, peer, request).await {
        Ok((context, mut in_flight)) => {
            let command = agent::label(&context.request.command);
            let Some(place) = in_flight.work(command, &context.request).await else {
                return NotTaken::TooMany.respond(&state, started);
            };
            let file = context.attachment.clone();
            let work = agent::answer(Arc::clone(&state), context);
            let envelope = carry_out(&state, command, started, place, work).await;
            match (envelope, file.take()) {
                (Some(envelope), Some(file)) => {
                    in_flight.has_worked();
                    attachment::respond(&envelope, file)
                }
                (envelope, _) => hand_over(&state, in_flight, envelope).await,
            }
        }
        Err(not) => not.respond(&state, started),
    }
}

async fn program_endpoint(
    State(state): State<Arc<AppState>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: HttpRequest,
) -> Response {
    let started = Instant::now();
    match take_in(&state, peer, request).await {
        Ok((context, mut in_flight)) => {
            let command = program::label(&context.request.command);
            let Some(place) = in_flight.work(command, &context.request).await else {
                return NotTaken::TooMany.respond(&state, started);
            };
            let work = program::answer(Arc::clone(&state), context);
            let envelope = carry_out(&state, command, started, place, work).await;
            hand_over(&state, in_flight, envelope).await
        }
        Err(not) => not.respond(&state, started),
    }
}

/// What failed because the database was closed meanwhile, under a request that had passed the gate or on another
/// node, is refused as a closed store refuses.
async fn unless_frozen(state: &Arc<AppState>, done: Result<Value, Stop>) -> Result<Value, Stop> {
    if !matches!(done, Err(Stop::Broke(_))) {
        return done;
    }
    let state = Arc::clone(state);
    match blocking(move || Ok(state.check_write_freeze()?)).await {
        Ok(true) => Err(catalogue::shop_is_lock().into()),
        _ => done,
    }
}

/// Why a request did not become one.
enum NotTaken {
    TooLarge,
    NoRoom,
    TooMany,
    Stopped(Stop),
}

/// There is no room at present.
fn later(words: &'static str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "2")], words).into_response()
}

impl From<Stop> for NotTaken {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl NotTaken {
    fn respond(self, state: &AppState, started: Instant) -> Response {
        match self {
            Self::TooLarge => {
                (StatusCode::PAYLOAD_TOO_LARGE, "The request is larger than this store takes.\n")
                    .into_response()
            }
            Self::NoRoom => later("The store takes in other large requests now; repeat this one.\n"),
            Self::TooMany => later("The store works on many requests of this address; repeat this one.\n"),
            Self::Stopped(stop) => match envelope(state, "unknown", started, Err(stop)) {
                Some(bytes) => (ENVELOPE, bytes).into_response(),
                None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            },
        }
    }
}

/// Reads a request off the line.
async fn take_in(
    state: &Arc<AppState>,
    peer: SocketAddr,
    request: HttpRequest,
) -> Result<(RequestContext, InFlight), NotTaken> {
    let settings = state.settings.current();
    let (parts, body) = request.into_parts();
    // No page of ours calls these addresses from a browser, and a browser names the page that calls.
    if parts.headers.contains_key(ORIGIN) {
        return Err(NotTaken::Stopped(catalogue::bad_request("web pages may not call this address").into()));
    }
    let was_forwarded = was_forwarded(&parts.headers);
    let client = client(&settings, peer, &parts.headers);
    let in_flight = InFlight::enter(state, client).await.ok_or(NotTaken::TooMany)?;
    let limit = settings.request_limit();
    let look = async |start: &[u8]| early(state, &settings, was_forwarded, start).await;
    let (bytes, room) = match state.bodies.read(&parts.headers, body, limit, look).await {
        Ok(read) => read,
        Err(BodyError::TooLarge) => return Err(NotTaken::TooLarge),
        Err(BodyError::NoRoom) => return Err(NotTaken::NoRoom),
        Err(BodyError::Refused(stop)) => return Err(NotTaken::Stopped(stop)),
        Err(BodyError::Broken) => {
            return Err(NotTaken::Stopped(catalogue::bad_request("the body broke off").into()));
        }
    };
    let context = RequestContext {
        request: understand(state, &settings, was_forwarded, bytes).await?,
        client,
        host: host(&settings, peer, &parts.headers, &parts.uri),
        was_forwarded,
        now: state.clock.now(),
        is_turned_away: draw_turned_away().map_err(Stop::from)?,
        settings,
        _room: room,
        attachment: attachment::Slot::default(),
    };
    Ok((context, in_flight))
}

/// Whether a large request is wanted, by its beginning: nobody without a ticket fills the store's memory.
async fn early(
    state: &Arc<AppState>,
    settings: &Arc<Settings>,
    was_forwarded: bool,
    start: &[u8],
) -> Result<Sender, Stop> {
    let look = early_look::look(start);
    let (state, settings) = (Arc::clone(state), Arc::clone(settings));
    blocking(move || {
        if state.is_demo(&settings, was_forwarded) {
            return Ok(Sender::Known);
        }
        let is_sign_in = |command: &str| [Request::SIGN_IN, Request::PROGRAM_SIGN_IN].contains(&command);
        match (look.command.as_deref(), look.session.as_deref()) {
            (Some(command), Some(session)) => admit(&state, command, Some(session)).map(|()| Sender::Known),
            (Some(command), None) if is_sign_in(command) => {
                admit(&state, command, None).map(|()| Sender::Unknown)
            }
            // A caller of an older build names its ticket behind the parameters.
            _ => Ok(Sender::Unknown),
        }
    })
    .await
}

async fn understand(
    state: &Arc<AppState>,
    settings: &Arc<Settings>,
    was_forwarded: bool,
    mut bytes: Vec<u8>,
) -> Result<Request, Stop> {
    if bytes.len() > SMALL {
        let (state, settings) = (Arc::clone(state), Arc::clone(settings));
        return blocking(move || read_request(&state, &settings, was_forwarded, &bytes)).await;
    }
    let read = read_request(state, settings, was_forwarded, &bytes);
    if bytes.len() <= WIPE_UP_TO {
        bytes.zeroize();
    }
    read
}

/// How an envelope is announced.
const ENVELOPE: [(HeaderName, &str); 2] = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];

/// Wraps what came of a request into the envelope. The only place that does so.
fn envelope(
    state: &AppState,
    command: &'static str,
    started: Instant,
    result: Result<Value, Stop>,
) -> Option<Vec<u8>> {
    let took = started.elapsed();
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let Ended { envelope, outcome } = conclude(command, result, ms);
    state.metrics.count(command, outcome, took);
    serde_json::to_vec::<Envelope>(&envelope).ok()
}

/// Gives a large page its room until it is read, as other answers have it.
async fn page_room(
    State(state): State<Arc<AppState>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: HttpRequest,
    next: Next,
) -> Response {
    let client = client(&state.settings.current(), peer, request.headers());
    let (parts, body) = next.run(request).await.into_parts();
    // A body whose length is not known comes piece by piece, and is not held as a whole.
    if body.size_hint().exact().is_none_or(|size| size <= SMALL as u64) {
        return Response::from_parts(parts, body);
    }
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    match state.answers.hold(bytes.into(), client).await {
        Ok(bytes) => Response::from_parts(parts, Body::from(bytes)),
        Err(NoRoom) => later("Large pages wait to be read; ask for this one again.\n"),
    }
}

/// Does the work of a request to its end, also where its caller goes away, so that its place is taken until then.
/// Nobody hashes a password for somebody who has gone.
async fn carry_out(
    state: &Arc<AppState>,
    command: &'static str,
    started: Instant,
    place: AtWork,
    work: impl Future<Output = Result<Value, Stop>> + Send + 'static,
) -> Option<Vec<u8>> {
    let work = async move |state: Arc<AppState>, place: AtWork| {
        let done = work.await;
        let done = unless_frozen(&state, done).await;
        let envelope = envelope(&state, command, started, done);
        drop(place);
        envelope
    };
    let is_sign_in = place.is_sign_in();
    let work = work(Arc::clone(state), place);
    if is_sign_in {
        return work.await;
    }
    match tokio::spawn(work).await {
        Ok(envelope) => envelope,
        Err(error) => envelope(state, command, started, Err(error.into())),
    }
}

/// Sends an envelope, once there is room for it.
async fn hand_over(state: &AppState, mut in_flight: InFlight, envelope: Option<Vec<u8>>) -> Response {
    in_flight.has_worked();
    let Some(bytes) = envelope else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    match state.answers.hold(bytes, in_flight.client()).await {
        Ok(bytes) => (ENVELOPE, bytes).into_response(),
        Err(NoRoom) => later("Large answers wait to be read; repeat this request.\n"),
    }
}

async fn health() -> Response {
    let page = format!("{{\"ok\":true,\"build\":\"{}\"}}\n", wire::BUILD);
    ([(CONTENT_TYPE, "application/json")], page).into_response()
}

async fn ready(State(state): State<Arc<AppState>>) -> Response {
    let json = [(CONTENT_TYPE, "application/json")];
    let look = move || {
        state.db.ready()?;
        if state.check_write_freeze()? {
            return Ok(false);
        }
        state.write_check.look(&state.db)?;
        Ok(true)
    };
    match blocking(look).await {
        Ok(true) => (json, "{\"ok\":true}\n").into_response(),
        not => {
            if let Err(Stop::Broke(fault)) = not {
                tracing::warn!(cause = fault.chain(), "The database is not ready");
            }
            (StatusCode::SERVICE_UNAVAILABLE, json, "{\"ok\":false,\"error\":\"database not ready\"}\n")
                .into_response()
        }
    }
}

/// For this computer only; what came through a proxy did not come from this computer.
async fn metrics(
    State(state): State<Arc<AppState>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Response {
    if was_forwarded(&headers) || !is_own_computer(peer.ip()) {
        return pages::not_found_page(&state);
    }
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], state.metrics.page() + &state.units.cache.metrics())
        .into_response()
}
