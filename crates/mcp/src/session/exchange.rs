//! Requests of an open session: tries, a stale ticket replaced, and what is known of a write without an answer.

use std::path::Path;

use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tools::{Effect, IncomingFile, ToolSpec};
use wire::{Refusal, Request, Stop};

use super::licence_token;
use super::open_session::Session;
use super::sign_in;
use crate::client::idempotency_keys::IdempotencyKey;
use crate::client::messages::{self, Attempt, CallKind};
use crate::client::request::request;
use crate::server::state::ServerState;

/// What the engine answered.
pub(crate) struct Answered<'a> {
    /// The data.
    pub(crate) data: Value,
    /// The key of a write, to be settled when its answer is understood.
    pub(crate) key: Option<IdempotencyKey<'a>>,
    /// The file that came along, not yet in its place.
    pub(crate) file: Option<IncomingFile>,
}

/// Asks the engine to carry a tool out, until its time is over; `target` is where a file goes that it brings.
pub(crate) async fn call_tool<'a>(
    state: &'a ServerState,
    session: &Session,
    spec: &ToolSpec,
    params: Map<String, Value>,
    target: Option<&Path>,
    until: Instant,
) -> Result<Answered<'a>, Stop> {
    let mut request = request(spec.command().unwrap_or_default(), spec.name, &session.origin);
    if spec.effect == Effect::Reads {
        request.params = params;
        let asked = Attempt { kind: CallKind::Reads, sent: false };
        let answer = exchange(state, session, request, asked, target, until).await;
        return answer
            .map(|(data, file)| Answered { data, key: None, file })
            .map_err(|unanswered| unanswered.stop);
    }
    let whose = [session.address.shown(), session.login.clone(), spec.name.to_owned()];
    let key = state.keys.of(&whose.each_ref().map(String::as_str), &params);
    request.params = params;
    request.key = Some(key.text());
    let asked = Attempt { kind: CallKind::Writes, sent: key.was_sent() };
    match exchange(state, session, request, asked, target, until).await {
        Ok((data, file)) => Ok(Answered { data, key: Some(key), file }),
        Err(unanswered) => {
            if unanswered.undone {
                key.settle();
            }
            Err(unanswered.stop)
        }
    }
}

/// Sends a request of the session; a stale ticket is replaced once, since the request was then not carried out.
async fn exchange(
    state: &ServerState,
    session: &Session,
    mut request: Request,
    mut asked: Attempt,
    target: Option<&Path>,
    until: Instant,
) -> Result<(Value, Option<IncomingFile>), Unanswered> {
    let mut renewed = false;
    loop {
        request.licence = token(session).map_err(|refusal| Unanswered::unsent(refusal.into(), asked))?;
        let ticket = session.ticket();
        request.session = Some(ticket.to_string());
        request.time = Timestamp::now().to_string();
        let called = state.client.call_for(&session.address, &request, &mut asked, until, target).await;
        let (envelope, file) = match called {
            Ok(answer) => answer,
            Err(trouble) => {
                return Err(Unanswered { stop: trouble.refusal.into(), undone: !trouble.sent });
            }
        };
        match messages::data(envelope) {
            Ok(data) => return Ok((data, file)),
            Err(refusal) if refusal.name() == "ticket_unknown" && !renewed => {
                renewed = true;
                let renewal = sign_in::renew(state, session, &ticket).await;
                renewal.map_err(|stop| Unanswered::unsent(stop, asked))?;
            }
            Err(refusal) => return Err(Unanswered::refused(refusal, asked)),
        }
    }
}

/// The day's token, where there is one: a store may become licensed while a session is open.
fn token(session: &Session) -> Result<Option<String>, Refusal> {
    match licence_token::token(&session.store.folder, &session.login) {
        Ok(token) => Ok(Some(token)),
        Err(refusal) if session.licensed && is_licensed_still(session) => Err(refusal),
        Err(_) => Ok(None),
    }
}

/// Whether `Shop.ini` does not say otherwise by now.
fn is_licensed_still(session: &Session) -> bool {
    session.store.connection().map_or(true, |connection| connection.licensed)
}

/// A request without the engine's answer.
struct Unanswered {
    stop: Stop,
    /// Whether it is certain that nothing was done, by this try and by all before.
    undone: bool,
}

impl Unanswered {
    /// The request could not be sent once more.
    fn unsent(stop: Stop, asked: Attempt) -> Self {
        let stop = match stop {
            Stop::Refused(refusal) if asked.is_in_doubt() => messages::doubtful_before(&refusal).into(),
            stop => stop,
        };
        Self { stop, undone: !asked.sent }
    }

    /// The store refused. What became of an earlier try without an answer, its refusal does not tell.
    fn refused(refusal: Refusal, asked: Attempt) -> Self {
        // Words that are not the engine's own may stand for anything; and the engine, too, may not know: the
        // database went away while it committed.
        let is_strange = refusal.name() == "unexpected_answer";
        let says_doubt = refusal.name() == "not_available";
        let undone = !is_strange && !says_doubt && !asked.sent;
        let refusal = if is_strange && asked.kind == CallKind::Writes {
            messages::doubtful(&refusal)
        } else if asked.is_in_doubt() && !says_doubt {
            messages::doubtful_before(&refusal)
        } else {
            refusal
        };
        Self { stop: refusal.into(), undone }
    }
}
