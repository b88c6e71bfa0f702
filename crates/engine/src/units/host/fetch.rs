//! `fetch`: asking other servers, which the manifest names and the owner granted, and no address inside the house.

mod address;
mod request;

use std::time::{Duration, Instant};

use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Client, Method, Response, Url};
use sandbox::{HostError, Value};
use tokio::runtime::Handle;

use super::Answer;
use super::arguments::Arguments;
use crate::units::run::Run;
use crate::units::values;
use address::{Granted, Target};
use request::{Asked, Shape};

/// Most fetches of one run.
const MOST: u32 = 10;
/// Longest time of one fetch, where the run has so long.
const LONGEST: Duration = Duration::from_secs(30);
/// Largest answer, unpacked.
const LARGEST: usize = 2 << 20;
/// Most redirects that are followed.
const REDIRECTS: usize = 5;

/// What another server answers.
pub(super) fn fetch(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let asked = Asked::read(args)?;
    // Whoever is asked takes their time, and nobody else could write meanwhile.
    if run.writing.is_some() {
        let words = "nothing is fetched once something was written: fetch first, then write";
        return Err(HostError::new("TRANSACTION", words));
    }
    run.fetches += 1;
    if run.fetches > MOST {
        return Err(HostError::fatal("LIMIT", "over the limit: fetches"));
    }
    run.dependencies().own();
    let unit = run.unit_name();
    let settings = std::sync::Arc::clone(&run.visit.settings);
    let owners = settings.config.grants.get(&unit).map(|grant| grant.network.as_slice()).unwrap_or_default();
    let granted = Granted { unit: &unit, manifest: &run.network(), owner: owners };
    let left = run.deadline.saturating_duration_since(Instant::now());
    let time = left.min(LONGEST).min(asked.timeout.unwrap_or(LONGEST));
    let Ok(runtime) = Handle::try_current() else {
        return Err(HostError::new("FETCH", "nothing is fetched here"));
    };
    let started = Instant::now();
    let answer = runtime.block_on(async {
        let all = follow(&asked, &granted);
        let over = || HostError::new("LIMIT", "the other server did not answer in time");
        tokio::time::timeout(time, all).await.unwrap_or_else(|_| Err(over()))
    });
    run.note_query(&format!("fetch {}", asked.url.host_str().unwrap_or_default()), 0, started.elapsed());
    answer
}

/// Asks, and follows redirects, each of which is looked at like the first address.
async fn follow(asked: &Asked, granted: &Granted<'_>) -> Answer {
    let mut url = asked.url.clone();
    let mut headers = asked.headers.clone();
    for _ in 0..=REDIRECTS {
        let response = ask(asked, &url, &headers, granted).await?;
        let next = response.headers().get(LOCATION).and_then(|next| next.to_str().ok());
        let is_followed = response.status().is_redirection() && asked.is_repeatable();
        let (true, Some(next)) = (is_followed, next) else {
            return shown(asked.shape, &url, response).await;
        };
        let next = url.join(next).map_err(|_| failed("the other server leads to no address"))?;
        // What was meant for one server is not told to another.
        if next.origin() != url.origin() {
            headers = HeaderMap::new();
        }
        url = next;
    }
    Err(failed(&format!("more than {REDIRECTS} redirects")))
}

async fn ask(
    asked: &Asked,
    url: &Url,
    headers: &HeaderMap,
    granted: &Granted<'_>,
) -> Result<Response, HostError> {
    let target = Target::of(url, granted)?;
    let client = client(&target).await?;
    let mut request = client.request(asked.method.clone(), url.clone()).headers(headers.clone());
    if let Some(body) = &asked.body {
        request = request.body(body.clone());
    }
    request.send().await.map_err(|error| {
        tracing::debug!(%error, "A unit's fetch failed");
        let words =
            if error.is_connect() { "it cannot be reached" } else { "it did not answer as a server does" };
        failed(&format!("{}: {words}", target.host))
    })
}

/// A client that connects to the addresses that were checked, whatever the name leads to a moment later.
async fn client(target: &Target) -> Result<Client, HostError> {
    let addresses = target.addresses().await?;
    // Another part of the process may have done it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .resolve_to_addrs(&target.host, &addresses)
        .pool_max_idle_per_host(0)
        .user_agent(concat!("shopwright/", env!("CARGO_PKG_VERSION")));
    // An open line needs no authorities, which take long to read.
    let builder = if target.is_plain { builder.tls_certs_only([]) } else { builder };
    builder.build().map_err(|error| {
        tracing::warn!(%error, "Units cannot fetch");
        failed("no secure line can be made here")
    })
}

async fn shown(shape: Shape, url: &Url, mut response: Response) -> Answer {
    let status = i64::from(response.status().as_u16());
    let headers: Vec<(String, Value)> = response
        .headers()
        .iter()
        // Cookies are of no use here, and not for logs.
        .filter(|(name, _)| *name != reqwest::header::SET_COOKIE)
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.into())))
        .collect();
    let mut body = Vec::new();
    loop {
        let piece = response.chunk().await;
        let piece = piece.map_err(|_| failed("the answer broke off"))?;
        let Some(piece) = piece else { break };
        if body.len() + piece.len() > LARGEST {
            return Err(HostError::new("LIMIT", format!("the answer has more than {LARGEST} bytes")));
        }
        body.extend_from_slice(&piece);
    }
    let body = match shape {
        Shape::Bytes => Value::Bytes(body),
        Shape::Text => String::from_utf8_lossy(&body).into_owned().into(),
        Shape::Json => match serde_json::from_slice(&body) {
            Ok(json) => values::from_json(json),
            Err(_) => return Err(failed("the answer is no JSON")),
        },
    };
    Ok(Value::Map(vec![
        ("status".to_owned(), status.into()),
        ("url".to_owned(), url.as_str().into()),
        ("headers".to_owned(), Value::Map(headers)),
        ("body".to_owned(), body),
    ]))
}

fn failed(words: &str) -> HostError {
    HostError::new("FETCH", words.to_owned())
}

impl Asked {
    /// Whether asking once more elsewhere does nothing twice.
    fn is_repeatable(&self) -> bool {
        self.method == Method::GET || self.method == Method::HEAD
    }
}
