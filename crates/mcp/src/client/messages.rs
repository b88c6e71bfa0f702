//! What came back from the store, or did not, in the catalogue's words.
//!
//! The engine's bytes are not trusted: whatever they are, the reader gets data
//! or a row of the catalogue. Where the network failed the words say whether
//! the request may have been carried out.

use std::error::Error;
use std::io;
use std::time::Duration;

use serde_json::Value;
use wire::text::quoted;
use wire::{Envelope, Refusal, catalogue};

use crate::client::in_flight;

/// How much of a foreign answer is shown.
const SHOWN: usize = 200;
/// Longest refusal of the store that is passed on.
const LONGEST: usize = 2000;

/// Beginnings of reasons the store gives without a code.
const REASONS: &[&str] = &[
    "Unit not found: ",
    "Module not found! [",
    "Function not found! [",
    "Module Runtime Exception: ",
    "PHP Runtime Exception: ",
];

/// What a request does, for the words about its fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// It only reads.
    Reads,
    /// It changes something, under a key.
    Writes,
    /// It sends a form to a page, and no key tells a repeat from another one.
    Submits,
    /// It signs in.
    SignsIn,
}

/// A call on its way, over all its tries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// What it does.
    pub(crate) kind: CallKind,
    /// Whether the engine may have got one of the tries so far.
    pub(crate) sent: bool,
}

impl Attempt {
    /// Whether something may have been changed already.
    pub(crate) fn is_in_doubt(self) -> bool {
        self.kind == CallKind::Writes && self.sent
    }
}

/// A request that brought no answer of the engine.
#[derive(Debug)]
pub(crate) struct CallFailure {
    /// What the reader is told.
    pub(crate) refusal: Refusal,
    /// Whether the engine may have got the request, in this try or one before.
    pub(crate) sent: bool,
    /// Whether trying again may help, and after which pause; `None` where it would not.
    pub(crate) again: Option<Duration>,
}

impl CallFailure {
    fn new(refusal: Refusal, asked: Attempt, sent: bool) -> Self {
        Self { refusal, sent: asked.sent || sent, again: None }
    }

    fn again(self, pause: Duration) -> Self {
        Self { again: Some(pause), ..self }
    }
}

/// What may have become of a request.
fn fate(asked: Attempt, sent: bool) -> &'static str {
    match (asked.kind, asked.sent || sent) {
        (CallKind::SignsIn, _) => "No session was opened: repeat `session_connect` later.",
        (_, false) => "The request was not sent and nothing was done: repeat the call later.",
        (CallKind::Reads, true) => "The call only reads, so nothing was changed: repeat it later.",
        (CallKind::Writes, true) => {
            "It may have been carried out. Repeat exactly this call later: it is then not done twice."
        }
        (CallKind::Submits, true) => "It may have been carried out: look before you send it again.",
    }
}

/// What is said behind an answer that came from something else than the engine.
fn afterwards(asked: Attempt) -> &'static str {
    match asked.kind {
        CallKind::Writes => DOUBT,
        CallKind::Submits => " The form may have been taken: look before you send it again.",
        CallKind::Reads | CallKind::SignsIn => "",
    }
}

/// Said of a write when something else than the engine's own words came back.
const DOUBT: &str =
    " The call may have been carried out: repeat exactly this call later, it is then not done twice.";

/// The answer to a write, of which it is not certain what became.
pub(crate) fn doubtful(refusal: &Refusal) -> Refusal {
    catalogue::received(refusal.name(), &format!("{}{DOUBT}", refusal.head()))
}

/// A refusal of this try, of which it is not certain what became of an earlier one.
pub(crate) fn doubtful_before(refusal: &Refusal) -> Refusal {
    const EARLIER: &str = "An earlier try of this call got no answer and may have been carried out: repeat exactly this call, it is then not done twice.";
    catalogue::received(refusal.name(), &format!("{}\n{EARLIER}", refusal.head()))
}

/// No connection, or a broken one.
pub(crate) fn broken(url: &str, what: &str, asked: Attempt, sent: bool) -> CallFailure {
    CallFailure::new(catalogue::no_connection(url, what, fate(asked, sent)), asked, sent)
        .again(Duration::ZERO)
}

/// The time for the call is over.
pub(crate) fn timed_out(url: &str, limit: Duration, asked: Attempt) -> CallFailure {
    let what = format!("no answer within {} seconds", limit.as_secs_f64().round());
    CallFailure { again: None, ..broken(url, &what, asked, true) }
}

/// The time was over before the call had a place among those on their way.
pub(crate) fn no_place(url: &str, limit: Duration) -> Refusal {
    let seconds = limit.as_secs_f64().round();
    let what = format!(
        "the calls before this one took all of {seconds} seconds; a server sends {} at once",
        in_flight::MOST
    );
    catalogue::no_connection(url, &what, fate(Attempt { kind: CallKind::Writes, sent: false }, false))
}

/// An error of the HTTP client before there was an answer, on the way over a proxy or without.
pub(crate) fn failed(url: &str, error: &reqwest::Error, proxy: Option<&str>, asked: Attempt) -> CallFailure {
    let sent = !error.is_connect() && !error.is_builder();
    let (mut what, hopeless) = cause(error);
    if let Some(proxy) = proxy {
        what.push_str(&format!(", on the way over the proxy {proxy}"));
    }
    let trouble = broken(url, &what, asked, sent);
    if hopeless { CallFailure { again: None, ..trouble } } else { trouble }
}

/// The answer broke off, or cannot be unpacked.
pub(crate) fn torn(url: &str, error: &reqwest::Error, asked: Attempt) -> CallFailure {
    let words = chain(error);
    if ["gzip", "deflate", "corrupt"].iter().any(|word| words.contains(word)) {
        return strange("the answer is packed and cannot be unpacked.", asked).again(Duration::ZERO);
    }
    broken(url, "the line broke in the middle of the answer", asked, true)
}

/// Why there is no connection, and whether another try is in vain.
fn cause(error: &reqwest::Error) -> (String, bool) {
    let words = chain(error);
    let mut source: Option<&dyn Error> = Some(error);
    while let Some(current) = source {
        if let Some(tls) = tls(current) {
            return (format!("no secure connection ({})", quoted(&tls.to_string(), SHOWN)), true);
        }
        if let Some(found) = current.downcast_ref::<io::Error>() {
            match found.kind() {
                io::ErrorKind::ConnectionRefused => {
                    return ("nobody answers there (connection refused)".to_owned(), false);
                }
                io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe => {
                    return ("the line broke before an answer came (connection reset)".to_owned(), false);
                }
                _ => {}
            }
        }
        source = current.source();
    }
    let what = match words.as_str() {
        _ if error.is_timeout() => "it cannot be reached in time".to_owned(),
        words if words.contains("dns error") => "its name is not known (DNS)".to_owned(),
        words if words.contains("closed before message") => "the line broke before an answer came".to_owned(),
        words if words.contains("invalid HTTP") || words.contains("parse") => {
            "what answers there does not speak HTTP".to_owned()
        }
        words => format!("the line broke ({})", quoted(words, SHOWN)),
    };
    (what, false)
}

/// The TLS error in an error, however often it is wrapped.
fn tls<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    if let Some(found) = error.downcast_ref() {
        return Some(found);
    }
    let inner = error.downcast_ref::<io::Error>()?.get_ref()?;
    tls(inner)
}

/// An error with its causes. The address is left out: it may carry a user's name.
fn chain(error: &reqwest::Error) -> String {
    let mut words = String::new();
    let mut source = error.source();
    while let Some(cause) = source {
        if !words.is_empty() {
            words.push_str(": ");
        }
        words.push_str(&cause.to_string());
        source = cause.source();
    }
    if words.is_empty() { "it failed".to_owned() } else { words }
}

/// The innermost cause, which says the most.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    let mut inner: &dyn Error = error;
    while let Some(cause) = inner.source() {
        inner = cause;
    }
    quoted(&inner.to_string(), SHOWN)
}

/// AnswerHead of an answer: what is decided before its body is looked at.
#[derive(Debug)]
pub(crate) struct AnswerHead {
    /// HTTP status.
    pub(crate) status: u16,
    /// `content-type`.
    pub(crate) kind: String,
    /// Seconds of `retry-after`.
    pub(crate) wait: Option<u64>,
}

/// An answer whole: the engine's envelope, or what came instead of it.
pub(crate) fn read(
    url: &str,
    head: &AnswerHead,
    body: &[u8],
    asked: Attempt,
) -> Result<Envelope, CallFailure> {
    match head.status {
        413 => return Err(CallFailure::new(catalogue::too_large(), asked, true)),
        429 | 502..=504 | 520..=524 => return Err(unavailable(head, asked)),
        _ => {}
    }
    let text = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii();
    let trouble = |refusal| Err(CallFailure::new(refusal, asked, true));
    match serde_json::from_slice::<Value>(text) {
        Ok(value) if is_envelope(&value) => match serde_json::from_value(value) {
            Ok(envelope) => Ok(envelope),
            Err(_) => Err(strange("an envelope whose fields are of the wrong kind.", asked)),
        },
        Ok(value) => Err(unexpected(head, &quoted(&value.to_string(), SHOWN), asked)),
        Err(_) if text.is_empty() => Err(unexpected(head, "an empty answer", asked)),
        Err(_) if is_page(head, text) => trouble(catalogue::no_endpoint(url, afterwards(asked))),
        Err(_) if head.kind.contains("json") || looks_like_envelope(text) => {
            trouble(catalogue::not_json(afterwards(asked)))
        }
        Err(_) => Err(unexpected(head, &quoted(&String::from_utf8_lossy(beginning(text)), SHOWN), asked)),
    }
}

/// What stands in front of the engine is overloaded, or the engine behind it is down.
fn unavailable(head: &AnswerHead, asked: Attempt) -> CallFailure {
    let unit = if head.wait == Some(1) { "second" } else { "seconds" };
    let wait = head.wait.map(|wait| format!(" It asks to wait {wait} {unit}.")).unwrap_or_default();
    let trouble =
        CallFailure::new(catalogue::not_available(head.status, &wait, fate(asked, true)), asked, true);
    trouble.again(head.wait.map_or(Duration::ZERO, Duration::from_secs))
}

fn unexpected(head: &AnswerHead, what: &str, asked: Attempt) -> CallFailure {
    strange(&format!("{what} (HTTP {}).", head.status), asked)
}

/// An answer that is none of the engine's. The engine may have got the request all the same.
pub(super) fn strange(what: &str, asked: Attempt) -> CallFailure {
    CallFailure::new(catalogue::unexpected_answer(&format!("{what}{}", afterwards(asked))), asked, true)
}

/// A redirect that is not followed.
pub(crate) fn elsewhere(to: &str, asked: Attempt) -> CallFailure {
    match to {
        "" => strange("a redirect that names no place.", asked),
        to => strange(
            &format!("a redirect to another place, `{}`, which is not followed.", quoted(to, SHOWN)),
            asked,
        ),
    }
}

/// An answer in parts that are none of the engine's.
pub(super) fn odd_parts(asked: Attempt) -> CallFailure {
    strange("a file in parts that are not as they must be.", asked)
}

/// Redirects that lead from one to the next.
pub(crate) fn in_circles(asked: Attempt) -> CallFailure {
    strange("redirects that lead from one to the next.", asked)
}

/// More bytes than any answer has.
pub(crate) fn too_big(most: usize, asked: Attempt) -> CallFailure {
    strange(&format!("the answer is larger than {} MiB.", most / (1024 * 1024)), asked)
}

fn is_envelope(value: &Value) -> bool {
    value.get("ok").is_some()
}

/// A cut-off or garbled envelope still begins like one.
fn looks_like_envelope(text: &[u8]) -> bool {
    let begins = String::from_utf8_lossy(&text[..text.len().min(64)]).replace(char::is_whitespace, "");
    begins.starts_with("{\"ok\":")
}

fn is_page(head: &AnswerHead, text: &[u8]) -> bool {
    let begins = String::from_utf8_lossy(beginning(text)).to_ascii_lowercase();
    let has = |mark: &str| begins.contains(mark);
    head.kind.contains("html")
        || (begins.starts_with('<') && (has("<html") || has("<!doctype html") || has("<body")))
}

fn beginning(text: &[u8]) -> &[u8] {
    &text[..text.len().min(4 * SHOWN)]
}

/// The command's data, or the store's refusal.
pub(crate) fn data(envelope: Envelope) -> Result<Value, Refusal> {
    if envelope.ok {
        return Ok(envelope.data.unwrap_or(Value::Null));
    }
    let head = clean(&envelope.error.unwrap_or_default());
    let named = envelope.refusal.as_deref().and_then(catalogue::row);
    if let Some(row) = named.filter(|row| row.begins(&head)) {
        return Err(catalogue::received(row.name, &head));
    }
    // An engine that does not name its rows is understood by the beginning of its words.
    if let Some(row) = catalogue::row_of(&head) {
        return Err(catalogue::received(row.name, &head));
    }
    if REASONS.iter().any(|reason| head.starts_with(reason)) {
        return Err(catalogue::received("", &head));
    }
    // A newer engine may say what this build does not know; its words stay readable.
    let what = if head.is_empty() {
        "a refusal without words.".to_owned()
    } else {
        format!("the store refused: {head}")
    };
    Err(catalogue::unexpected_answer(&what))
}

/// Foreign words without control characters, lines kept.
fn clean(text: &str) -> String {
    text.chars()
        .filter(|letter| *letter == '\n' || !letter.is_control())
        .take(LONGEST)
        .collect::<String>()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests;
