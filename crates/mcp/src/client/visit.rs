//! A visit to the store's site: one page at the end of its redirects, with limits of time and size.
//!
//! Nothing of what comes back is trusted, and nothing of the store's goes elsewhere: redirects are followed inside
//! the store only, so that proof, debugger's code and cookies never leave it.

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue, LOCATION, SET_COOKIE};
use reqwest::{Method, Response};
use serde_json::Value;
use tokio::time::Instant;
use wire::text::quoted;

use crate::client::address::Address;
use crate::client::http::{self, Client};
use crate::client::messages::{self, Attempt, CallFailure, CallKind};
use crate::site::cookies::Cookies;

/// Redirects that are followed.
const REDIRECTS: usize = 5;
/// Largest page, unpacked.
const LARGEST: usize = 16 * 1024 * 1024;
/// Says that the page came inside the debugger's report.
const REPORTED: &str = "x-debug-report";
/// Lines that units wrote to the log.
const LOG: &str = "x-unit-log";

/// What is asked of the site.
pub(crate) struct Visit {
    /// The form; none is a plain look.
    pub(crate) form: Option<Bytes>,
    /// Headers for the store alone.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// Whether redirects are followed.
    pub(crate) follows: bool,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Visited {
    pub(crate) address: Address,
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    pub(crate) report: Option<Value>,
    pub(crate) log: Vec<String>,
    /// A redirect that was not followed, in words.
    pub(crate) stayed: Option<String>,
}

/// One answer on the way.
struct Answer {
    status: u16,
    body: Vec<u8>,
    report: Option<Value>,
    log: Vec<String>,
    location: Option<String>,
}

impl Client {
    /// Visits a page of the store at `store`, until the deadline.
    pub(crate) async fn visit(
        &self,
        store: &Address,
        address: &Address,
        visit: &Visit,
        cookies: &mut Cookies,
        deadline: Instant,
    ) -> Result<Visited, CallFailure> {
        let kind = if visit.form.is_some() { CallKind::Submits } else { CallKind::Reads };
        let mut asked = Attempt { kind, sent: false };
        self.may_go_to(address, asked)?;
        loop {
            let walk = self.walk(store, address, visit, cookies, asked);
            let trouble = match tokio::time::timeout_at(deadline, walk).await {
                Ok(Ok(visited)) => return Ok(visited),
                Ok(Err(trouble)) => trouble,
                Err(_) => return Err(messages::timed_out(&address.shown(), self.timeout(), asked)),
            };
            // A look is repeated once; what may have been done is not done twice.
            let may_repeat =
                !asked.sent && trouble.again.is_some() && (visit.form.is_none() || !trouble.sent);
            if !may_repeat {
                return Err(trouble);
            }
            asked.sent = true;
        }
    }

    /// The page at the end of the redirects inside the store.
    async fn walk(
        &self,
        store: &Address,
        address: &Address,
        visit: &Visit,
        cookies: &mut Cookies,
        asked: Attempt,
    ) -> Result<Visited, CallFailure> {
        let mut address = address.clone();
        let mut form = visit.form.clone();
        for step in 0..=REDIRECTS {
            let answer = self.step(&address, form.as_ref(), visit, cookies, asked).await?;
            let redirect = matches!(answer.status, 301 | 302 | 303 | 307 | 308);
            let to = answer.location.clone().filter(|_| redirect && visit.follows);
            let (stayed, next) = match to {
                None => (None, None),
                Some(to) => match store.within(&address, &to) {
                    None => {
                        let to = quoted(&to, 200);
                        (Some(format!("The page leads to `{to}`, outside the store: not followed.")), None)
                    }
                    Some(_) if step == REDIRECTS => {
                        let words = "The page leads from one redirect to the next: not followed further.";
                        (Some(words.to_owned()), None)
                    }
                    next => (None, next),
                },
            };
            let Some(next) = next else {
                let Answer { status, body, report, log, .. } = answer;
                return Ok(Visited { address, status, body, report, log, stayed });
            };
            // What was sent is sent anew only where the store says so.
            if !matches!(answer.status, 307 | 308) {
                form = None;
            }
            address = next;
        }
        Err(messages::in_circles(asked))
    }

    async fn step(
        &self,
        address: &Address,
        form: Option<&Bytes>,
        visit: &Visit,
        cookies: &mut Cookies,
        asked: Attempt,
    ) -> Result<Answer, CallFailure> {
        let method = if form.is_some() { Method::POST } else { Method::GET };
        let mut request = self.of(address, asked)?.request(method, address.0.clone());
        if let Some(form) = form {
            request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form.clone());
        }
        for (name, value) in &visit.headers {
            request = request.header(name, value);
        }
        if let Some(value) = cookies.header(address.0.path()) {
            request = request.header(COOKIE, value);
        }
        let sent = request.send().await;
        let response = sent
            .map_err(|error| messages::failed(&address.shown(), &error, address.proxy().as_deref(), asked))?;
        cookies.take(response.headers().get_all(SET_COOKIE).iter(), address.0.path());
        read(address, response, asked).await
    }
}

async fn read(address: &Address, response: Response, asked: Attempt) -> Result<Answer, CallFailure> {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let body = http::body(address, response, LARGEST, asked).await?;
    let location = text(&headers, LOCATION.as_str());
    let log = log(&headers);
    let whole = headers.contains_key(REPORTED).then(|| serde_json::from_slice::<Value>(&body).ok());
    Ok(match whole.flatten() {
        Some(whole) => reported(whole, log),
        None => Answer { status, body, report: None, log, location },
    })
}

/// The page inside the debugger's report.
fn reported(mut whole: Value, log: Vec<String>) -> Answer {
    let status = whole["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(200);
    let body = whole["body"].as_str().unwrap_or_default().as_bytes().to_vec();
    let location = whole["location"].as_str().map(str::to_owned);
    // Foreign bytes: a value of another form has no such parts.
    let mut part = |name: &str| whole.get_mut(name).map(Value::take).unwrap_or_default();
    let (mut report, failures) = (part("report"), part("failures"));
    if let Some(report) = report.as_object_mut() {
        report.insert("failures".to_owned(), failures);
    }
    Answer { status, body, report: report.is_object().then_some(report), log, location }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    // Addresses in other letters than Latin ones come as their bytes.
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn log(headers: &HeaderMap) -> Vec<String> {
    let told = text(headers, LOG).unwrap_or_default();
    let told = crate::site::names::decoded(&told);
    told.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}
