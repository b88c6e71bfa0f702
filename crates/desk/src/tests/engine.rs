//! An engine and a licence authority, played over real HTTP.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use wire::{Envelope, Refusal, Request, catalogue};

/// What the engine does with the next sign-ins.
#[derive(Clone, Debug, Default)]
pub(super) enum Mood {
    /// `irina` and `green leaf` are right, `oleg` and `black leaf`, and nothing else.
    #[default]
    Fair,
    /// Everything is refused.
    Refuses(Refusal),
    /// A web page comes.
    Page,
    /// This status comes.
    Status(u16),
    /// Something that is no envelope comes.
    Nonsense,
    /// Nothing comes.
    Hangs,
    /// The next request waits for this; the others, and what follows, are fair.
    Holds(Arc<Notify>),
    /// Refused this many times because of the backup, then fair.
    Soon(usize),
}

#[derive(Default)]
pub(super) struct Inner {
    pub(super) mood: Mood,
    pub(super) language: &'static str,
    pub(super) licensed: bool,
    pub(super) demo: bool,
    /// What waits for the person.
    pub(super) waits: Value,
    /// The next ticket that is shown is not known.
    pub(super) forgets_ticket: bool,
    /// What the authority says instead of giving a token.
    pub(super) no_token: Option<&'static str>,
    /// A request waits for its gate.
    pub(super) holding: bool,
    pub(super) requests: Vec<Request>,
    pub(super) tokens: Vec<Value>,
}

/// The running engine.
pub(super) struct Engine {
    address: std::net::SocketAddr,
    pub(super) inner: Arc<Mutex<Inner>>,
    end: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Shared = Arc<Mutex<Inner>>;

impl Engine {
    pub(super) async fn start() -> Self {
        let inner = Arc::new(Mutex::new(Inner {
            language: "en",
            waits: json!({"tasks": null, "memory": null, "in_work": []}),
            ..Inner::default()
        }));
        let router = Router::new()
            .route("/core/program.php", post(program))
            .route("/core/ready", get(|| async { "ready" }))
            .route("/authority/token", post(token))
            .with_state(Arc::clone(&inner));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let end = Arc::new(Notify::new());
        let ended = Arc::clone(&end);
        let task = tokio::spawn(async move {
            let serve = axum::serve(listener, router);
            serve.with_graceful_shutdown(async move { ended.notified().await }).await.unwrap();
        });
        Self { address, inner, end, task }
    }

    /// Stops answering, on connections that are open as well.
    pub(super) async fn stop(&mut self) {
        self.end.notify_one();
        (&mut self.task).await.unwrap();
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut Inner)) {
        change(&mut self.inner.lock().unwrap());
    }

    /// The commands that came, in order.
    pub(super) fn commands(&self) -> Vec<String> {
        self.inner.lock().unwrap().requests.iter().map(|request| request.command.clone()).collect()
    }
}

async fn program(
    State(shared): State<Shared>,
    headers: header::HeaderMap,
    Json(request): Json<Request>,
) -> Response {
    let mood = shared.lock().unwrap().mood.clone();
    match mood {
        Mood::Hangs => std::future::pending::<()>().await,
        Mood::Holds(gate) => {
            {
                let mut inner = shared.lock().unwrap();
                (inner.mood, inner.holding) = (Mood::Fair, true);
            }
            gate.notified().await;
        }
        _ => {}
    }
    let mut inner = shared.lock().unwrap();
    inner.requests.push(request.clone());
    let host = headers[header::HOST].to_str().unwrap().to_owned();
    match inner.mood.clone() {
        Mood::Refuses(refusal) => return Json(Envelope::refused(&refusal, 1)).into_response(),
        Mood::Page => return Html("<!doctype html><h1>Shop</h1>").into_response(),
        Mood::Status(status) => return StatusCode::from_u16(status).unwrap().into_response(),
        Mood::Nonsense => return "[1, 2]".into_response(),
        Mood::Soon(0) | Mood::Fair | Mood::Hangs | Mood::Holds(_) => {}
        Mood::Soon(left) => {
            inner.mood = Mood::Soon(left - 1);
            let refusal = catalogue::backup_soon("05:00", "05:30");
            return Json(Envelope::refused(&refusal, 1)).into_response();
        }
    }
    Json(match request.command.as_str() {
        Request::PROGRAM_SIGN_IN => sign_in(&inner, &request),
        Request::PROGRAM_LICENCE | Request::PROGRAM_HOME if std::mem::take(&mut inner.forgets_ticket) => {
            Envelope::refused(&catalogue::ticket_unknown(), 1)
        }
        Request::PROGRAM_HOME if inner.licensed && request.licence.is_none() => {
            Envelope::refused(&catalogue::licence_error(), 1)
        }
        Request::PROGRAM_LICENCE => Envelope::done(proofs(&host), 1),
        Request::PROGRAM_HOME => Envelope::done(inner.waits.clone(), 1),
        _ => Envelope::done(json!({}), 1),
    })
    .into_response()
}

fn sign_in(inner: &Inner, request: &Request) -> Envelope {
    let login = request.params["login"].as_str().unwrap_or_default();
    let password = request.params["password"].as_str().unwrap_or_default();
    let is_right = [("irina", "green leaf"), ("oleg", "black leaf")].contains(&(login, password));
    if !is_right && !inner.demo {
        return Envelope::refused(&catalogue::wrong_password(), 1);
    }
    let answer = json!({
        "ticket": format!("ticket-of-{}", if inner.demo { "irina" } else { login }), "licensed": inner.licensed, "language": inner.language,
        "time_zone": "Europe/Berlin", "demo": inner.demo, "administrator": inner.demo,
        "user": match login {
            "oleg" => json!({"id": 3, "login": "oleg", "name": "Oleg", "options": {}}),
            _ => json!({"id": 2, "login": "irina", "name": "Irina <Petrova>", "options": {}}),
        },
        "group": {"id": 2, "skey": "MANAGER", "name": "Managers", "options": {}},
    });
    Envelope::done(answer, 1)
}

/// The UTC day, today or tomorrow.
pub(super) fn day(later: i64) -> String {
    let time = Timestamp::now() + SignedDuration::from_hours(24 * later);
    time.to_zoned_datetime(TimeZone::UTC).date().to_string()
}

fn proofs(host: &str) -> Value {
    let proofs: Vec<Value> = [day(0), day(1)]
        .into_iter()
        .map(|day| json!({"proof": format!("proof of {day}"), "day": day}))
        .collect();
    json!({"authority": format!("http://{host}/authority/"), "domain": "tea.example", "login": "irina", "proofs": proofs})
}

async fn token(State(shared): State<Shared>, Json(asked): Json<Value>) -> Response {
    let mut inner = shared.lock().unwrap();
    inner.tokens.push(asked.clone());
    match inner.no_token {
        Some(why) => (StatusCode::FORBIDDEN, Json(json!({"error": why}))).into_response(),
        None => {
            Json(json!({"token": format!("v4.public.{}", asked["day"].as_str().unwrap())})).into_response()
        }
    }
}
