//! The way to the engine: one HTTP request a call, with time limits and careful repeats.

use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Method, Response, Url};
use tokio::time::Instant;
use wire::{Envelope, Request, catalogue};

use crate::words::{self, Asked, Head, Kind, Trouble};

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

/// Where a store's engine answers.
#[derive(Clone, Debug)]
pub(crate) struct Address(Url);

impl Address {
    /// The address below which the engine answers, from a store's connection.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|error| format!("`Url` is not an address: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err("`Url` must begin with http:// or https://".to_owned());
        }
        Ok(Self(url))
    }

    /// The same store's other path.
    pub(crate) fn path(&self, path: &str) -> Self {
        let mut url = self.0.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.set_path(&format!("{}/{path}", self.0.path().trim_end_matches('/')));
        Self(url)
    }

    /// As refusals show it: no name, password or query.
    pub(crate) fn shown(&self) -> String {
        let mut url = self.0.clone();
        // Only addresses without a host have no place for these.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        wire::text::quoted(url.as_str().trim_end_matches('/'), 300)
    }

    fn is_secure(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Whether nothing leaves this computer on the way there.
    fn is_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default().trim_matches(['[', ']']);
        match host.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) => {
                address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
            }
            Ok(IpAddr::V4(address)) => address.is_loopback(),
            Err(_) => host == "localhost" || host.ends_with(".localhost"),
        }
    }

    /// Where a redirect leads, if it may be followed: the same host, and never from https to http.
    fn redirected(&self, to: &str) -> Option<Self> {
        let next = self.0.join(to).ok()?;
        let same_host = next.host_str() == self.0.host_str();
        let same_place = same_host && next.scheme() == self.0.scheme() && next.port() == self.0.port();
        let secured = same_host && !self.is_secure() && next.scheme() == "https";
        (same_place || secured).then_some(Self(next))
    }
}

/// The HTTP client. What plain http and https need is set up when first used.
pub(crate) struct Client {
    plain: OnceLock<Result<reqwest::Client, String>>,
    secure: OnceLock<Result<reqwest::Client, String>>,
    timeout: Duration,
    plain_http: bool,
}

impl Client {
    /// A client whose calls take at most `timeout`, repeats included.
    pub(crate) fn new(timeout: Duration, plain_http: bool) -> Self {
        Self { plain: OnceLock::new(), secure: OnceLock::new(), timeout, plain_http }
    }

    /// Sends a request to the agent's endpoint and gets the engine's envelope; notes where a try had no answer.
    pub(crate) async fn call(
        &self,
        address: &Address,
        request: &Request,
        asked: &mut Asked,
    ) -> Result<Envelope, Trouble> {
        self.may_go_to(address, *asked)?;
        let address = address.path(Request::AGENT_PATH);
        let body = serde_json::to_vec(request).unwrap_or_default();
        let deadline = Instant::now() + self.timeout;
        let mut pauses = PAUSES.into_iter();
        loop {
            let sent = self.send(&address, Method::POST, Some(&body), *asked);
            let trouble = match tokio::time::timeout_at(deadline, sent).await {
                Ok(Ok(envelope)) => return Ok(envelope),
                Ok(Err(trouble)) => trouble,
                Err(_) => return Err(words::timed_out(&address.shown(), self.timeout, *asked)),
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
    fn may_go_to(&self, address: &Address, asked: Asked) -> Result<(), Trouble> {
        if address.is_secure() || address.is_loopback() || self.plain_http {
            return Ok(());
        }
        Err(Trouble { refusal: catalogue::plain_http(&address.shown()), sent: asked.sent, again: None })
    }

    /// Asks one of the store's pages; only for looking whether it is there.
    pub(crate) async fn look(&self, address: &Address, path: &str) -> Result<(u16, Vec<u8>), Trouble> {
        let asked = Asked { kind: Kind::Reads, sent: false };
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
            Err(_) => Err(words::timed_out(&address.shown(), limit, asked)),
        }
    }

    /// One try.
    async fn send(
        &self,
        address: &Address,
        method: Method,
        sent: Option<&[u8]>,
        asked: Asked,
    ) -> Result<Envelope, Trouble> {
        let response = self.follow(address, method, sent, asked).await?;
        let head = head(&response);
        let body = body(address, response, asked).await?;
        words::read(&address.shown(), &head, &body, asked)
    }

    /// The answer at the end of the redirects within the host.
    async fn follow(
        &self,
        address: &Address,
        method: Method,
        body: Option<&[u8]>,
        asked: Asked,
    ) -> Result<Response, Trouble> {
        let mut address = address.clone();
        for _ in 0..=REDIRECTS {
            let client = self.of(&address, asked)?;
            let mut request = client.request(method.clone(), address.0.clone());
            if let Some(body) = body {
                request = request.header(CONTENT_TYPE, "application/json").body(body.to_vec());
            }
            let response =
                request.send().await.map_err(|error| words::failed(&address.shown(), &error, asked))?;
            if !matches!(response.status().as_u16(), 301 | 302 | 307 | 308) {
                return Ok(response);
            }
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
            let next = if to.is_empty() { None } else { address.redirected(to) };
            address = next.ok_or_else(|| words::elsewhere(to, asked))?;
        }
        Err(words::in_circles(asked))
    }

    fn of(&self, address: &Address, asked: Asked) -> Result<&reqwest::Client, Trouble> {
        let made = if address.is_secure() {
            self.secure.get_or_init(|| {
                // Somebody else in this process may have chosen one before.
                let _ = rustls::crypto::ring::default_provider().install_default();
                builder().build().map_err(|error| error.to_string())
            })
        } else {
            self.plain.get_or_init(|| {
                let _ = rustls::crypto::ring::default_provider().install_default();
                // No certificates are loaded where none are looked at: that alone would cost the start 15 ms.
                builder().tls_certs_only([]).no_proxy().build().map_err(|error| error.to_string())
            })
        };
        made.as_ref().map_err(|why| {
            let what = format!("secure connections do not work on this computer ({why})");
            Trouble { again: None, ..words::broken(&address.shown(), &what, asked, false) }
        })
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .redirect(Policy::none())
        .user_agent(concat!("shopwright/", env!("CARGO_PKG_VERSION")))
}

fn head(response: &Response) -> Head {
    let text = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    Head {
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
async fn body(address: &Address, mut response: Response, asked: Asked) -> Result<Vec<u8>, Trouble> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(piece)) if body.len() + piece.len() > LARGEST => {
                return Err(words::too_big(LARGEST, asked));
            }
            Ok(Some(piece)) => body.extend_from_slice(&piece),
            Ok(None) => return Ok(body),
            Err(error) => return Err(words::torn(&address.shown(), &error, asked)),
        }
    }
}

#[cfg(test)]
mod tests;
