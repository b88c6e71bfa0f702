//! The way to the engine: one HTTP request a call, with time limits and careful repeats.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderName, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Method, Response};
use tokio::time::Instant;
use tools::IncomingFile;
use wire::{Envelope, Request, catalogue};

use crate::client::address::Address;
use crate::client::download;
use crate::client::messages::{self, AnswerHead, Attempt, CallFailure, CallKind};

/// How long a connection may take to stand.
const CONNECT: Duration = Duration::from_secs(5);
/// Pauses before the second and the third try.
const PAUSES: [Duration; 2] = [Duration::from_millis(150), Duration::from_millis(600)];
/// Longest wait that a proxy may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(3);
/// Redirects followed within one host.
const REDIRECTS: usize = 3;
/// Largest answer, unpacked.
const LARGEST: usize = 64 * 1024 * 1024;

/// The HTTP client. What plain http and https need is set up when first used.
pub(crate) struct Client {
    plain: OnceLock<Result<reqwest::Client, String>>,
    secure: OnceLock<Result<reqwest::Client, String>>,
    /// Https on this computer, where no proxy leads.
    secure_here: OnceLock<Result<reqwest::Client, String>>,
    timeout: Duration,
    plain_http: bool,
}

impl Client {
    /// A client whose calls take about `timeout`, as their deadlines say.
    pub(crate) fn new(timeout: Duration, plain_http: bool) -> Self {
        Self {
            plain: OnceLock::new(),
            secure: OnceLock::new(),
            secure_here: OnceLock::new(),
            timeout,
            plain_http,
        }
    }

    /// How long a call may take.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Sends a request to the agent's endpoint and gets the engine's envelope, until the deadline; notes where a
    /// try had no answer.
    pub(crate) async fn call(
        &self,
        address: &Address,
        request: &Request,
        asked: &mut Attempt,
        deadline: Instant,
    ) -> Result<Envelope, CallFailure> {
        Ok(self.call_for(address, request, asked, deadline, None).await?.0)
    }

    /// The same for a tool that brings a file for `target`, which is not yet in its place.
    pub(crate) async fn call_for(
        &self,
        address: &Address,
        request: &Request,
        asked: &mut Attempt,
        deadline: Instant,
        target: Option<&Path>,
    ) -> Result<(Envelope, Option<IncomingFile>), CallFailure> {
        self.may_go_to(address, *asked)?;
        let address = address.path(Request::AGENT_PATH);
        let body = Bytes::from(serde_json::to_vec(request).unwrap_or_default());
        let mut pauses = PAUSES.into_iter();
        loop {
            let sent = self.send(&address, Method::POST, Some(&body), *asked, target);
            let trouble = match tokio::time::timeout_at(deadline, sent).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(trouble)) => trouble,
                Err(_) => return Err(messages::timed_out(&address.shown(), self.timeout, *asked)),
            };
            // What became of an earlier try stays unknown, however the later ones end.
            asked.sent |= trouble.sent;
            let pause = pauses.next().zip(trouble.again).map(|(ours, asked)| ours.max(asked));
            match pause.filter(|pause| *pause <= LONGEST_WAIT && Instant::now() + *pause < deadline) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(trouble),
            }
        }
    }

    /// Plain http leaves this computer only by the person's word.
    pub(super) fn may_go_to(&self, address: &Address, asked: Attempt) -> Result<(), CallFailure> {
        if address.is_secure() || address.is_loopback() || self.plain_http {
            return Ok(());
        }
        Err(CallFailure { refusal: catalogue::plain_http(&address.shown()), sent: asked.sent, again: None })
    }

    /// Asks one of the store's pages; only for looking whether it is there.
    pub(crate) async fn look(&self, address: &Address, path: &str) -> Result<(u16, Vec<u8>), CallFailure> {
        let asked = Attempt { kind: CallKind::Reads, sent: false };
        self.may_go_to(address, asked)?;
        let address = address.path(path);
        let look = async {
            let response = self.follow(&address, Method::GET, None, asked).await?;
            let status = response.status().as_u16();
            Ok((status, body(&address, response, LARGEST, asked).await?))
        };
        let limit = self.timeout.min(Duration::from_secs(10));
        match tokio::time::timeout(limit, look).await {
            Ok(looked) => looked,
            Err(_) => Err(messages::timed_out(&address.shown(), limit, asked)),
        }
    }

    /// One try.
    async fn send(
        &self,
        address: &Address,
        method: Method,
        sent: Option<&Bytes>,
        asked: Attempt,
        target: Option<&Path>,
    ) -> Result<(Envelope, Option<IncomingFile>), CallFailure> {
        let response = self.follow(address, method, sent, asked).await?;
        let head = head(&response);
        let boundary = download::boundary(&text(&response, CONTENT_TYPE));
        if let (200, Some(target), Some(boundary)) = (head.status, target, boundary) {
            let (body, file) = download::receive(address, response, &boundary, target, asked).await?;
            return Ok((messages::read(&address.shown(), &head, &body, asked)?, Some(file)));
        }
        let body = body(address, response, LARGEST, asked).await?;
        Ok((messages::read(&address.shown(), &head, &body, asked)?, None))
    }

    /// The answer at the end of the redirects within the host.
    async fn follow(
        &self,
        address: &Address,
        method: Method,
        body: Option<&Bytes>,
        asked: Attempt,
    ) -> Result<Response, CallFailure> {
        let mut address = address.clone();
        for _ in 0..=REDIRECTS {
            let client = self.of(&address, asked)?;
            let mut request = client.request(method.clone(), address.0.clone());
            if let Some(body) = body {
                request = request.header(CONTENT_TYPE, "application/json").body(body.clone());
            }
            let sent = request.send().await;
            let response = sent.map_err(|error| {
                messages::failed(&address.shown(), &error, address.proxy().as_deref(), asked)
            })?;
            if !matches!(response.status().as_u16(), 301 | 302 | 307 | 308) {
                return Ok(response);
            }
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
            let next = if to.is_empty() { None } else { address.redirected(to) };
            address = next.ok_or_else(|| messages::elsewhere(to, asked))?;
        }
        Err(messages::in_circles(asked))
    }

    pub(super) fn of(&self, address: &Address, asked: Attempt) -> Result<&reqwest::Client, CallFailure> {
        let made = match (address.is_secure(), address.is_loopback()) {
            (true, false) => self.secure.get_or_init(|| made(builder())),
            (true, true) => self.secure_here.get_or_init(|| made(builder().no_proxy())),
            // No certificates are loaded where none are looked at: that alone would cost the start 15 ms.
            (false, _) => self.plain.get_or_init(|| made(builder().tls_certs_only([]).no_proxy())),
        };
        made.as_ref().map_err(|why| {
            let what = wire::outgoing::not_secured(why);
            CallFailure { again: None, ..messages::broken(&address.shown(), &what, asked, false) }
        })
    }
}

/// The client, or why there is none.
fn made(builder: reqwest::ClientBuilder) -> Result<reqwest::Client, String> {
    // Somebody else in this process may have chosen one before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    builder.build().map_err(|error| messages::innermost(&error))
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .redirect(Policy::none())
        .user_agent(concat!("shopwright/", env!("CARGO_PKG_VERSION")))
}

fn text(response: &Response, name: HeaderName) -> String {
    response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

fn head(response: &Response) -> AnswerHead {
    AnswerHead {
        status: response.status().as_u16(),
        kind: text(response, CONTENT_TYPE).to_ascii_lowercase(),
        wait: wait(text(response, RETRY_AFTER).trim(), Timestamp::now()),
    }
}

/// Seconds of a `Retry-After`, which may be a date.
fn wait(text: &str, now: Timestamp) -> Option<u64> {
    let date = || jiff::fmt::rfc2822::parse(text).ok();
    let seconds = || date().map(|date| date.timestamp().duration_since(now).as_secs().max(0).unsigned_abs());
    text.parse().ok().or_else(seconds)
}

/// The whole body, with a limit that counts unpacked bytes.
pub(super) async fn body(
    address: &Address,
    mut response: Response,
    largest: usize,
    asked: Attempt,
) -> Result<Vec<u8>, CallFailure> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(piece)) if body.len() + piece.len() > largest => {
                return Err(messages::too_big(largest, asked));
            }
            Ok(Some(piece)) => body.extend_from_slice(&piece),
            Ok(None) => return Ok(body),
            Err(error) => return Err(messages::torn(&address.shown(), &error, asked)),
        }
    }
}

#[cfg(test)]
mod tests;
