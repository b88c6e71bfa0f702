//! What a unit answered, as an HTTP response under the headers that every page has.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, SET_COOKIE};
use axum::http::{HeaderName, HeaderValue, Response as HttpResponse, StatusCode};
use axum::response::{IntoResponse, Response};
use sandbox::Value;
use serde_json::{Value as Json, json};
use wire::Stop;

use crate::app_state::AppState;
use crate::http::pages;
use crate::units::path::encoded;
use crate::units::visit::Visit;
use crate::units::{Outcome, to_json};

/// What every page goes out under: nothing of another site, no script in the page's text, no frame around it.
pub(crate) const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; font-src 'self'; \
         connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "strict-origin-when-cross-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(self)"),
];

/// A page; `usual` is its status where the unit named none.
pub(super) fn page(visit: &Visit, outcome: Outcome, usual: StatusCode) -> Response {
    let (kind, text) = match &outcome.result {
        Ok(Value::Text(text)) => ("text/html; charset=utf-8", text.clone()),
        Ok(Value::Null) => ("text/html; charset=utf-8", String::new()),
        Ok(data) => ("application/json", to_json(data).to_string()),
        Err(error) => ("text/plain; charset=utf-8", error.to_string()),
    };
    let asked = outcome.reply.status.and_then(|code| StatusCode::from_u16(code).ok());
    // A page that is not there stays so, whatever the unit that words it says.
    let status = if usual == StatusCode::OK { asked.unwrap_or(usual) } else { usual };
    if visit.is_debugged {
        return debugged(visit, &outcome, status, kind, &text);
    }
    let mut response = (status, [(CONTENT_TYPE, kind)], text).into_response();
    dress(&mut response);
    add(&mut response, &outcome);
    response
}

/// A page whose entry unit failed: for the debugger its report, for the visitor `other`.
pub(super) fn failed(visit: &Visit, outcome: Outcome, other: impl FnOnce() -> Response) -> Response {
    if visit.is_debugged {
        return page(visit, outcome, StatusCode::INTERNAL_SERVER_ERROR);
    }
    other()
}

/// The page with its report. A program asked for it, so it comes as one JSON.
fn debugged(visit: &Visit, outcome: &Outcome, status: StatusCode, kind: &str, text: &str) -> Response {
    let look = &visit.look;
    let report = outcome.report.told(&look.group, &look.language, visit.settings.config.cache);
    let failures: Vec<Json> = outcome.failures.iter().map(|error| error.to_string().into()).collect();
    let whole = json!({
        "status": status.as_u16(),
        "type": kind,
        "location": outcome.reply.location,
        "body": text,
        "report": report,
        "failures": failures,
    });
    let mut response = (
        StatusCode::OK,
        [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")],
        [(HeaderName::from_static("x-debug-report"), "1")],
        whole.to_string(),
    )
        .into_response();
    dress(&mut response);
    for cookie in &outcome.reply.cookies {
        if let Ok(value) = HeaderValue::from_str(cookie) {
            response.headers_mut().append(SET_COOKIE, value);
        }
    }
    response
}

/// Adds what the unit asked for: where the visitor is sent, headers, cookies.
pub(super) fn add(response: &mut Response, outcome: &Outcome) {
    let reply = &outcome.reply;
    let headers = response.headers_mut();
    if let Some(policy) = policy(&reply.sites) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in &reply.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
    }
    if let Some(location) = reply.location.as_deref().and_then(|url| HeaderValue::from_str(url).ok()) {
        headers.insert(LOCATION, location);
    }
    for cookie in reply.cookies.iter().filter_map(|cookie| HeaderValue::from_str(cookie).ok()) {
        headers.append(SET_COOKIE, cookie);
    }
    // What one visitor got is no other's.
    let is_own = outcome.dependencies.is_own() || !reply.cookies.is_empty();
    if !headers.contains_key(CACHE_CONTROL) {
        let rule = if is_own { "private, no-cache" } else { "no-cache" };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(rule));
    }
}

/// The policy of a page whose form may end at a payment provider: browsers look at where a form is sent on to, too.
fn policy(sites: &[String]) -> Option<HeaderValue> {
    let (_, usual) = HEADERS.iter().find(|(name, _)| *name == CONTENT_SECURITY_POLICY.as_str())?;
    let wider = format!("form-action 'self' {}", sites.join(" "));
    let policy = (!sites.is_empty()).then(|| usual.replace("form-action 'self'", &wider))?;
    HeaderValue::from_str(&policy).ok()
}

/// Puts the headers of every page on a response.
pub(crate) fn dress(response: &mut Response) {
    for (name, value) in HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

/// Sends the visitor to where a page is now.
pub(super) fn moved(path: &str) -> Response {
    let location = encoded(path);
    HttpResponse::builder()
        .status(StatusCode::MOVED_PERMANENTLY)
        .header(LOCATION, location)
        .header(CACHE_CONTROL, "max-age=3600")
        .body(Body::empty())
        .unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

/// The engine itself failed: the visitor sees that it did, the log why.
pub(super) fn broken(state: &AppState, stop: &Stop) -> Response {
    match stop {
        Stop::Broke(fault) => tracing::error!(cause = fault.chain(), "A page failed"),
        Stop::Refused(refusal) => tracing::warn!(refusal = refusal.name(), "A page was refused"),
    }
    pages::failed_page(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_page_stays_in_the_store() {
        assert_eq!(moved("x\r\ny").headers().get(LOCATION).unwrap(), "/x%0D%0Ay");
    }
}
