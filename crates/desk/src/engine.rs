//! Asking the store's engine at its endpoint for the program.

use std::error::Error as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Bytes;
use home::Credentials;
use jiff::Timestamp;
use reqwest::{Client, Url, header, redirect};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use wire::{Envelope, ProgramSignedIn, Refusal, Request, SignIn, env};
use zeroize::{Zeroize as _, Zeroizing};

/// Oldest engine this program works with.
const LEAST_ENGINE: &str = "0.1.0";
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(30);
/// Largest answer that is read.
const MOST_BYTES: usize = 1024 * 1024;
/// Room for a request: growing would leave copies of what it holds.
const ROOM: usize = 32 * 1024;
/// How often a request is repeated that the nearing backup refused.
const BACKUP_TRIES: usize = 8;

/// Why the engine's answer did not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The store said no.
    Refused(Box<Refusal>),
    /// The store did not get to say anything.
    Trouble(Trouble),
}

/// What stood between the program and the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The store's address is no web address.
    BadAddress,
    /// The address is plain http to another computer.
    PlainHttp,
    /// Nobody listens, the name is unknown, the certificate is wrong.
    NoConnection(String),
    /// No answer in time.
    TimeOut,
    /// A web page came instead of the engine's answer.
    WebPage,
    /// The address leads elsewhere.
    Redirected(String),
    /// What stands in front of the engine answered with this status.
    Status(u16),
    /// Something else came than the engine's answer.
    NotUnderstood,
}

impl From<Trouble> for NoAnswer {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

/// Signs in at the engine's endpoint for the program.
pub async fn sign_in_to_engine(
    client: &EngineClient,
    url: &str,
    credentials: &Credentials,
    licence: Option<String>,
) -> Result<ProgramSignedIn, NoAnswer> {
    let mut sign_in = SignIn {
        login: credentials.login.clone(),
        password: credentials.password.as_str().to_owned(),
        event: None,
    };
    let params = serde_json::to_value(&sign_in);
    sign_in.password.zeroize();
    let Ok(Value::Object(params)) = params else {
        return Err(Trouble::NotUnderstood.into());
    };
    let mut request = Request { licence, params, ..request(Request::PROGRAM_SIGN_IN) };
    let answer = client.ask_patiently(url, &mut request).await;
    if let Some(Value::String(password)) = request.params.get_mut("password") {
        password.zeroize();
    }
    answer
}

/// A request of the program without parameters.
pub(crate) fn request(command: &str) -> Request {
    Request {
        command: command.to_owned(),
        tool: None,
        least: Some(LEAST_ENGINE.to_owned()),
        params: Map::new(),
        build: wire::BUILD.to_owned(),
        time: now(),
        session: None,
        licence: None,
        key: None,
        origin: wire::Origin::default(),
    }
}

fn now() -> String {
    Timestamp::now().to_string()
}

/// The connections to engines, kept open between requests; clones share them.
#[derive(Clone, Default)]
pub struct EngineClient(Arc<Clients>);

#[derive(Default)]
struct Clients {
    // Several, because those that check certificates cost tens of milliseconds to make.
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
    /// Https on this computer, where no proxy leads.
    secure_here: OnceLock<Client>,
}

impl EngineClient {
    /// Asks the engine of the store at this address.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, url: &str, request: &Request) -> Result<T, NoAnswer> {
        let url = endpoint(url, Request::PROGRAM_PATH)?;
        // It may hold a password: wiped once it was sent.
        let mut body = Zeroizing::new(Vec::with_capacity(ROOM));
        serde_json::to_writer(&mut *body, request).map_err(|_| Trouble::NotUnderstood)?;
        let answer = self
            .client(&url)?
            .post(url)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Bytes::from_owner(body))
            .send()
            .await
            .map_err(|error| trouble(&error))?;
        let envelope = envelope(answer).await?;
        if !envelope.ok {
            return Err(NoAnswer::Refused(Box::new(refusal(envelope))));
        }
        serde_json::from_value(envelope.data.unwrap_or_default()).map_err(|_| Trouble::NotUnderstood.into())
    }

    /// Asks again where the nearing backup refuses: one request in ten, with nothing done.
    pub(crate) async fn ask_patiently<T: DeserializeOwned>(
        &self,
        url: &str,
        request: &mut Request,
    ) -> Result<T, NoAnswer> {
        let mut tries = 0;
        loop {
            tries += 1;
            request.time = now();
            match self.ask(url, request).await {
                Err(NoAnswer::Refused(refusal))
                    if refusal.name() == "backup_soon" && tries < BACKUP_TRIES => {}
                answer => return answer,
            }
        }
    }

    /// How long the engine takes to say that it is ready; a short look for the console.
    pub(crate) async fn ready(&self, url: &str) -> Result<Duration, Trouble> {
        let url = endpoint(url, "core/ready")?;
        let begin = std::time::Instant::now();
        let look = self.client(&url)?.get(url).timeout(Duration::from_secs(2)).send();
        let answer = look.await.map_err(|error| trouble(&error))?;
        match answer.status().as_u16() {
            200 => Ok(begin.elapsed()),
            status => Err(Trouble::Status(status)),
        }
    }

    /// Posts JSON to an address that is not the engine's and reads JSON whatever the status.
    pub(crate) async fn post<T: DeserializeOwned>(&self, url: &str, body: Vec<u8>) -> Result<T, Trouble> {
        let url = checked(url)?;
        let sent =
            self.client(&url)?.post(url).header(header::CONTENT_TYPE, "application/json").body(body).send();
        let bytes = body_of(sent.await.map_err(|error| trouble(&error))?).await?;
        serde_json::from_slice(&bytes).map_err(|_| Trouble::NotUnderstood)
    }

    fn client(&self, url: &Url) -> Result<Client, Trouble> {
        let kind = Way::of(url);
        let place = match kind {
            Way::Plain => &self.0.plain,
            Way::Secure => &self.0.secure,
            Way::SecureHere => &self.0.secure_here,
        };
        if let Some(client) = place.get() {
            return Ok(client.clone());
        }
        let client = build(kind)
            .map_err(|error| Trouble::NoConnection(wire::outgoing::not_secured(&innermost(&error))))?;
        Ok(place.get_or_init(|| client).clone())
    }
}

/// How an address is reached.
#[derive(Clone, Copy)]
enum Way {
    /// Plain http goes to this computer or a network one knows: no certificates, no proxy.
    Plain,
    Secure,
    SecureHere,
}

impl Way {
    fn of(url: &Url) -> Self {
        match url.scheme() {
            "https" if is_loopback(url) => Self::SecureHere,
            "https" => Self::Secure,
            _ => Self::Plain,
        }
    }
}

fn build(way: Way) -> reqwest::Result<Client> {
    // Another part of the process may have done it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .connect_timeout(CONNECT)
        .timeout(ANSWER)
        .redirect(redirect::Policy::none())
        .user_agent(concat!("shopwright/", env!("CARGO_PKG_VERSION")));
    match way {
        Way::Plain => builder.tls_certs_only([]).no_proxy().build(),
        Way::Secure => builder.build(),
        Way::SecureHere => builder.no_proxy().build(),
    }
}

/// The proxy that leads to this address, and the variable that names it.
fn proxy_to(url: &Url) -> Option<String> {
    let over_it = matches!(Way::of(url), Way::Secure);
    wire::outgoing::proxy_to(url.host_str().filter(|_| over_it)?)
}

/// The address of an endpoint, unless a password must not travel there.
fn endpoint(url: &str, path: &str) -> Result<Url, Trouble> {
    checked(&format!("{}/{path}", url.trim_end_matches('/')))
}

fn checked(url: &str) -> Result<Url, Trouble> {
    let url = Url::parse(url).map_err(|_| Trouble::BadAddress)?;
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) || std::env::var(env::PLAIN_HTTP).is_ok_and(|value| value == "1") => {
            Ok(url)
        }
        "http" => Err(Trouble::PlainHttp),
        _ => Err(Trouble::BadAddress),
    }
}

/// Whether the address is this computer's.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

async fn envelope(answer: reqwest::Response) -> Result<Envelope, Trouble> {
    let status = answer.status();
    let text_of = |name| answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if status.is_redirection() {
        return Err(Trouble::Redirected(text_of(header::LOCATION).chars().take(200).collect()));
    }
    if status.as_u16() != 200 {
        return Err(Trouble::Status(status.as_u16()));
    }
    let is_page = text_of(header::CONTENT_TYPE).starts_with("text/html");
    let bytes = body_of(answer).await?;
    match serde_json::from_slice(&bytes) {
        Ok(envelope) => Ok(envelope),
        Err(_) if is_page || bytes.trim_ascii_start().starts_with(b"<") => Err(Trouble::WebPage),
        Err(_) => Err(Trouble::NotUnderstood),
    }
}

async fn body_of(mut answer: reqwest::Response) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| trouble(&error))? {
        if bytes.len() + chunk.len() > MOST_BYTES {
            return Err(Trouble::NotUnderstood);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// The store's no, as the engine named it; an engine that gave no name is found by its words.
fn refusal(envelope: Envelope) -> Refusal {
    let head = envelope.error.unwrap_or_default();
    let name = envelope.refusal.unwrap_or_else(|| {
        let row = wire::catalogue::row_of(&head);
        row.map(|row| row.name).unwrap_or_default().to_owned()
    });
    wire::catalogue::received(&name, &head)
}

fn trouble(error: &reqwest::Error) -> Trouble {
    if error.is_timeout() {
        return Trouble::TimeOut;
    }
    let why = innermost(error);
    Trouble::NoConnection(match error.url().and_then(proxy_to) {
        Some(proxy) => format!("{why}, on the way over the proxy {proxy}"),
        None => why,
    })
}

/// The innermost cause: the outer ones repeat the address.
fn innermost(error: &reqwest::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = cause.to_string();
        source = cause.source();
    }
    wire::text::quoted(&words, 200)
}
