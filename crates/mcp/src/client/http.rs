//! The way to the engine: one HTTP request a call, with time limits and careful repeats.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Method, Response};
use tokio::time::Instant;
use wire::{Envelope, Request, catalogue};

use crate::client::address::Address;
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

    /// Sends a request to the agent's endpoint and gets the engine's envelope, until the deadline; notes where a
    /// try had no answer.
    pub(crate) async fn call(
        &self,
        address: &Address,
        request: &Request,
        asked: &mut Attempt,
        deadline: Instant,
    ) -> Result<Envelope, CallFailure> {
        self.may_go_to(address, *asked)?;
        let address = address.path(Request::AGENT_PATH);
        let body = Bytes::from(serde_json::to_vec(request).unwrap_or_default());
        let mut pauses = PAUSES.into_iter();
        loop {
            let sent = self.send(&address, Method::POST, Some(&body), *asked);
            let trouble = match tokio::time::timeout_at(deadline, sent).await {
                Ok(Ok(envelope)) => return Ok(envelope),
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
    fn may_go_to(&self, address: &Address, asked: Attempt) -> Result<(), CallFailure> {
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
            Ok((status, body(&address, response, asked).await?))
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
    ) -> Result<Envelope, CallFailure> {
        let response = self.follow(address, method, sent, asked).await?;
        let head = head(&response);
        let body = body(address, response, asked).await?;
        messages::read(&address.shown(), &head, &body, asked)
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

    fn of(&self, address: &Address, asked: Attempt) -> Result<&reqwest::Client, CallFailure> {
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

fn head(response: &Response) -> AnswerHead {
    let text = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    AnswerHead {
        status: response.status().as_u16(),
        kind: text(CONTENT_TYPE).to_ascii_lowercase(),
        wait: wait(text(RETRY_AFTER).trim(), Timestamp::now()),
    }
}

/// Seconds of a `Retry-After`, which may be a date.
fn wait(text: &str, now: Timestamp) -> Option<u64> {
    let date = || jiff::fmt::rfc2822::parse(text).ok();
    let seconds = || date().map(|date| date.timestamp().duration_since(now).as_secs().max(0).unsigned_abs());
    text.parse().ok().or_else(seconds)
}

/// The whole body, with a limit that counts unpacked bytes.
async fn body(address: &Address, mut response: Response, asked: Attempt) -> Result<Vec<u8>, CallFailure> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(piece)) if body.len() + piece.len() > LARGEST => {
                return Err(messages::too_big(LARGEST, asked));
            }
            Ok(Some(piece)) => body.extend_from_slice(&piece),
            Ok(None) => return Ok(body),
            Err(error) => return Err(messages::torn(&address.shown(), &error, asked)),
        }
    }
}

#[cfg(test)]
mod tests;
