//! Visits to the store's site for tools: who comes there, what is remembered, and what never shows.

pub(crate) mod cookies;
pub(crate) mod memory;
pub(crate) mod names;

use bytes::Bytes;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tools::{SiteAnswer, SiteRequest, SiteVisitor};
use wire::{Stop, catalogue};
use zeroize::Zeroizing;

use crate::client::address::Address;
use crate::client::visit::{Visit, Visited};
use crate::gate;
use crate::server::state::ServerState;
use crate::session::open_session::Session;
use crate::session::{exchange, sign_in};

use cookies::Cookies;

/// Carries the debugger's code.
const DEBUG_CODE: HeaderName = HeaderName::from_static("x-debug-code");
/// What the storefront says to a ticket that it does not know, before anything is done.
const TICKET_UNFIT: &[u8] = b"ACCESS_DENIED: sign in anew\n";
/// Most stores and people whose cookies are kept.
const JARS: usize = 100;

/// Makes a visit for a tool.
pub(crate) async fn visit(
    state: &ServerState,
    session: &Session,
    request: SiteRequest,
    until: Instant,
) -> Result<SiteAnswer, Stop> {
    let store = &session.address;
    let address = match request.visitor {
        SiteVisitor::Agent => store.path(request.url.trim_start_matches('/')),
        _ => store
            .page(&request.url)
            .ok_or_else(|| catalogue::not_of_store(&wire::text::quoted(&request.url, 200), &store.shown()))?,
    };
    let code = match request.is_debugged {
        true => Some(debug_code(state, session, until).await?),
        false => None,
    };
    let form = request.form.as_deref().map(encoded);
    let mut is_renewed = false;
    loop {
        let proof = match request.visitor {
            SiteVisitor::Person | SiteVisitor::Agent => Some(session.ticket()),
            SiteVisitor::Newcomer | SiteVisitor::Customer => None,
        };
        let visit = Visit {
            form: form.clone(),
            headers: headers(proof.as_ref(), code.as_ref()),
            follows: request.visitor != SiteVisitor::Agent,
        };
        let mut cookies = taken(state, session, request.visitor);
        let started = Instant::now();
        let visited = state.client.visit(store, &address, &visit, &mut cookies, until).await;
        let visited = visited.map_err(|trouble| Stop::from(trouble.refusal))?;
        let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let is_unfit = visited.status == 403 && visited.body == TICKET_UNFIT;
        if let Some(stale) = proof.as_ref().filter(|_| is_unfit && !is_renewed) {
            is_renewed = true;
            sign_in::renew(state, session, stale).await?;
            continue;
        }
        kept(state, session, request.visitor, cookies);
        let secrets = [(proof, "<pass_code>"), (code, "<debug_code>")];
        return Ok(answer(state, session, &address, visited, took, &secrets));
    }
}

/// The debugger's code, which the owner grants with the store's configuration.
async fn debug_code(
    state: &ServerState,
    session: &Session,
    until: Instant,
) -> Result<Zeroizing<String>, Stop> {
    let spec = &tools::unlisted::TOOL;
    gate::debug_granted(session, spec)?;
    let mut answered = exchange::call_tool(state, session, spec, Map::new(), None, until).await?;
    match answered.data.get_mut("code").map(Value::take) {
        Some(Value::String(code)) if !code.is_empty() => Ok(Zeroizing::new(code)),
        _ => Err(catalogue::unexpected_answer("no code of the debugger.").into()),
    }
}

/// Headers for the store alone; marked, so that nothing prints them.
fn headers(
    proof: Option<&Zeroizing<String>>,
    code: Option<&Zeroizing<String>>,
) -> Vec<(HeaderName, HeaderValue)> {
    let secret = |text: &str| {
        let mut value = HeaderValue::from_str(text).ok()?;
        value.set_sensitive(true);
        Some(value)
    };
    let proof = proof.and_then(|ticket| secret(&Zeroizing::new(format!("Bearer {}", ticket.as_str()))));
    let code = code.and_then(|code| secret(code));
    let named = [proof.map(|value| (AUTHORIZATION, value)), code.map(|value| (DEBUG_CODE, value))];
    named.into_iter().flatten().collect()
}

/// A form as pages send it.
fn encoded(fields: &[(String, String)]) -> Bytes {
    // The address library encodes fields as forms do; the address itself is of no matter.
    let Ok(mut url) = Url::parse("http://form.invalid/") else { return Bytes::new() };
    url.query_pairs_mut().extend_pairs(fields);
    Bytes::from(url.query().unwrap_or_default().to_owned())
}

fn jar(session: &Session, visitor: SiteVisitor) -> Option<(String, String, bool)> {
    let is_own = match visitor {
        SiteVisitor::Customer => false,
        SiteVisitor::Person => true,
        SiteVisitor::Newcomer | SiteVisitor::Agent => return None,
    };
    Some((session.address.url(), session.login.clone(), is_own))
}

/// The cookies that such a visitor brings along.
fn taken(state: &ServerState, session: &Session, visitor: SiteVisitor) -> Cookies {
    let jar = jar(session, visitor);
    jar.and_then(|jar| state.site.kept().jars.get(&jar).cloned()).unwrap_or_default()
}

fn kept(state: &ServerState, session: &Session, visitor: SiteVisitor, cookies: Cookies) {
    let Some(jar) = jar(session, visitor) else { return };
    let jars = &mut state.site.kept().jars;
    if jars.len() >= JARS && !jars.contains_key(&jar) {
        jars.clear();
    }
    jars.insert(jar, cookies);
}

/// What a secret is shown as.
type Veils = [(Option<Zeroizing<String>>, &'static str); 2];

fn answer(
    state: &ServerState,
    session: &Session,
    asked: &Address,
    visited: Visited,
    took: u64,
    secrets: &Veils,
) -> SiteAnswer {
    let Visited { address, status, body, report, log, stayed } = visited;
    let place = session.address.place(asked);
    SiteAnswer {
        url: veiled(address.page_shown(), secrets),
        name: state.site.kept().names.of(&place),
        status,
        took,
        body: veiled_bytes(body, secrets),
        report: report.map(|report| veiled_json(report, secrets)),
        log: log.into_iter().map(|line| veiled(line, secrets)).collect(),
        stayed: stayed.map(|words| veiled(words, secrets)),
    }
}

fn veiled(text: String, secrets: &Veils) -> String {
    let known = secrets.iter().filter_map(|(secret, veil)| Some((secret.as_ref()?, veil)));
    known.fold(text, |text, (secret, veil)| text.replace(secret.as_str(), veil))
}

/// Bytes without the secrets, which are plain letters and so stand in every encoding as they are.
fn veiled_bytes(mut bytes: Vec<u8>, secrets: &Veils) -> Vec<u8> {
    for (secret, veil) in secrets {
        let Some(secret) = secret.as_ref().filter(|secret| !secret.is_empty()) else { continue };
        let wanted = secret.as_bytes();
        let mut out = Vec::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        while let Some(at) = find(rest, wanted) {
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(veil.as_bytes());
            rest = &rest[at + wanted.len()..];
        }
        out.extend_from_slice(rest);
        bytes = out;
    }
    bytes
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn veiled_json(value: Value, secrets: &Veils) -> Value {
    match value {
        Value::String(text) => Value::String(veiled(text, secrets)),
        Value::Array(items) => items.into_iter().map(|item| veiled_json(item, secrets)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (veiled(name, secrets), veiled_json(value, secrets)))
            .collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn veils() -> Veils {
        [(Some(Zeroizing::new("t1ck3t".to_owned())), "<pass_code>"), (None, "<debug_code>")]
    }

    #[test]
    fn secrets_show_nowhere() {
        let bytes = veiled_bytes(b"\xfft1ck3t t1ck3tt1ck3t.".to_vec(), &veils());
        assert_eq!(bytes, b"\xff<pass_code> <pass_code><pass_code>.");
        let json = veiled_json(serde_json::json!({"at1ck3t": ["t1ck3t", 1]}), &veils());
        assert_eq!(json, serde_json::json!({"a<pass_code>": ["<pass_code>", 1]}));
    }

    #[test]
    fn forms_are_encoded_as_pages_do() {
        let field = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let form = encoded(&[field("a b", "1&2"), field("l[]", "я")]);
        assert_eq!(form, "a+b=1%262&l%5B%5D=%D1%8F");
        assert_eq!(encoded(&[]), "");
    }
}
