//! The engine's addresses, and the way from HTTP to a request and from an answer to an envelope.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{ConnectInfo, Request as HttpRequest, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HOST, ORIGIN, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use serde_json::Value;
use shop::address::{client_address, is_own_computer};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::SizeAbove;
use wire::{Envelope, Request, Stop, catalogue};
use zeroize::Zeroize as _;

use crate::body::{BodyError, SMALL};
use crate::config::Settings;
use crate::house::{Asked, House, blocking, draw_unlucky};
use crate::outcome::{Ended, conclude};
use crate::reading::read_request;
use crate::{agent, pages, program, storefront};

/// Answers from this size on are compressed.
const COMPRESS_FROM: u64 = 64 * 1024;
/// Bodies up to this size may hold little but a password, and are wiped after reading.
const WIPE_UP_TO: usize = 4096;

/// What proxies add to a request.
const FORWARDING: [&str; 6] =
    ["x-forwarded-for", "forwarded", "via", "x-real-ip", "x-forwarded-host", "x-forwarded-proto"];

/// Every address the engine answers.
pub(crate) fn router(house: Arc<House>) -> Router {
    Router::new()
        .route("/core/mcp.php", endpoint(post(agent_endpoint)))
        .route("/core/program.php", endpoint(post(program_endpoint)))
        .route("/core/health", get(health))
        .route("/core/ready", get(ready))
        .route("/core/metrics", get(metrics))
        .merge(storefront::routes())
        .fallback(storefront::page)
        .layer(CompressionLayer::new().compress_when(SizeAbove::new(COMPRESS_FROM)))
        .with_state(house)
}

fn endpoint(route: MethodRouter<Arc<House>>) -> MethodRouter<Arc<House>> {
    route.fallback(async || {
        let words = "This is an endpoint of a Shopwright store for programs: they POST JSON here.\n\
                     People find the store at its home page, /.\n";
        (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")], words)
    })
}

async fn agent_endpoint(
    State(house): State<Arc<House>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: HttpRequest,
) -> Response {
    let started = Instant::now();
    match take_in(&house, peer, request).await {
        Ok(asked) => {
            let command = agent::label(&asked.request.command);
            let done = agent::answer(Arc::clone(&house), asked).await;
            answer(&house, command, started, unless_closed(&house, done).await)
        }
        Err(not) => not.respond(&house, started),
    }
}

async fn program_endpoint(
    State(house): State<Arc<House>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: HttpRequest,
) -> Response {
    let started = Instant::now();
    match take_in(&house, peer, request).await {
        Ok(asked) => {
            let command = program::label(&asked.request.command);
            let done = program::answer(Arc::clone(&house), asked).await;
            answer(&house, command, started, unless_closed(&house, done).await)
        }
        Err(not) => not.respond(&house, started),
    }
}

/// What failed because the database was closed meanwhile, under a request that had passed the gate or on another
/// node, is refused as a closed store refuses.
async fn unless_closed(house: &Arc<House>, done: Result<Value, Stop>) -> Result<Value, Stop> {
    if !matches!(done, Err(Stop::Broke(_))) {
        return done;
    }
    let house = Arc::clone(house);
    match blocking(move || Ok(house.look_at_closure()?)).await {
        Ok(true) => Err(catalogue::shop_is_lock().into()),
        _ => done,
    }
}

/// Why a request did not become one.
enum NotTaken {
    TooLarge,
    NoRoom,
    Stopped(Stop),
}

impl From<Stop> for NotTaken {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl NotTaken {
    fn respond(self, house: &House, started: Instant) -> Response {
        match self {
            Self::TooLarge => {
                (StatusCode::PAYLOAD_TOO_LARGE, "The request is larger than this store takes.\n")
                    .into_response()
            }
            Self::NoRoom => {
                let words = "The store takes in other large requests now; repeat this one.\n";
                (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "2")], words).into_response()
            }
            Self::Stopped(stop) => answer(house, "unknown", started, Err(stop)),
        }
    }
}

/// Reads a request off the line.
async fn take_in(house: &Arc<House>, peer: SocketAddr, request: HttpRequest) -> Result<Asked, NotTaken> {
    let settings = house.live.current();
    let (parts, body) = request.into_parts();
    // No page of ours calls these addresses from a browser, and a browser names the page that calls.
    if parts.headers.contains_key(ORIGIN) {
        return Err(NotTaken::Stopped(catalogue::bad_request("web pages may not call this address").into()));
    }
    let limit = settings.request_limit();
    let (bytes, room) = match house.bodies.read(&parts.headers, body, limit).await {
        Ok(read) => read,
        Err(BodyError::TooLarge) => return Err(NotTaken::TooLarge),
        Err(BodyError::NoRoom) => return Err(NotTaken::NoRoom),
        Err(BodyError::Broken) => {
            return Err(NotTaken::Stopped(catalogue::bad_request("the body broke off").into()));
        }
    };
    let was_forwarded = was_forwarded(&parts.headers);
    Ok(Asked {
        request: understand(house, &settings, was_forwarded, bytes).await?,
        client: client(&settings, peer, &parts.headers),
        host: host(&settings, peer, &parts.headers, &parts.uri),
        was_forwarded,
        now: house.world.now(),
        is_unlucky: draw_unlucky().map_err(Stop::from)?,
        settings,
        _room: room,
    })
}

async fn understand(
    house: &Arc<House>,
    settings: &Arc<Settings>,
    was_forwarded: bool,
    mut bytes: Vec<u8>,
) -> Result<Request, Stop> {
    if bytes.len() > SMALL {
        let (house, settings) = (Arc::clone(house), Arc::clone(settings));
        return blocking(move || read_request(&house, &settings, was_forwarded, &bytes)).await;
    }
    let read = read_request(house, settings, was_forwarded, &bytes);
    if bytes.len() <= WIPE_UP_TO {
        bytes.zeroize();
    }
    read
}

/// Whether a proxy says that it stands between.
pub(crate) fn was_forwarded(headers: &HeaderMap) -> bool {
    FORWARDING.iter().any(|name| headers.contains_key(*name))
}

pub(crate) fn client(settings: &Settings, peer: SocketAddr, headers: &HeaderMap) -> IpAddr {
    // A value that is no text still has the proxy's own word at its end.
    let forwarded = headers.get_all("x-forwarded-for").iter();
    let forwarded: Vec<_> = forwarded.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    client_address(peer.ip(), &forwarded, &settings.trusted_proxies)
}

pub(crate) fn host(settings: &Settings, peer: SocketAddr, headers: &HeaderMap, uri: &Uri) -> String {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let forwarded =
        if settings.trusted_proxies.contains(peer.ip()) { text("x-forwarded-host") } else { None };
    let host = forwarded
        .or_else(|| uri.authority().map(|authority| authority.as_str()))
        .or_else(|| text(HOST.as_str()));
    host.unwrap_or_default().to_owned()
}

/// Wraps what came of a request into the envelope. The only place that does so.
fn answer(house: &House, command: &'static str, started: Instant, result: Result<Value, Stop>) -> Response {
    let took = started.elapsed();
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let Ended { envelope, outcome } = conclude(command, result, ms);
    house.metrics.count(command, outcome, took);
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    match serde_json::to_vec::<Envelope>(&envelope) {
        Ok(bytes) => (headers, bytes).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn health() -> Response {
    let page = format!("{{\"ok\":true,\"build\":\"{}\"}}\n", wire::BUILD);
    ([(CONTENT_TYPE, "application/json")], page).into_response()
}

async fn ready(State(house): State<Arc<House>>) -> Response {
    let json = [(CONTENT_TYPE, "application/json")];
    let look = move || {
        house.db.ready()?;
        Ok(!house.look_at_closure()?)
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
    State(house): State<Arc<House>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Response {
    if was_forwarded(&headers) || !is_own_computer(peer.ip()) {
        return pages::not_found_page(&house);
    }
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], house.metrics.page()).into_response()
}
