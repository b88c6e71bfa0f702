//! What all calls of the process share: options, the client, the one session.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::{Map, Value};
use tools::{Effect, ToolSpec};
use wire::{Origin, Refusal, Request, Stop};

use crate::client::Client;
use crate::keys::{Key, Keys};
use crate::session::Session;
use crate::words::{self, Asked, Kind};
use crate::{Options, licence, sign_in};

/// Oldest engine this server can work with.
const LEAST_ENGINE: &str = "0.1.0";

/// What all calls of the process share.
pub(crate) struct Core {
    /// What the server was told when it started.
    pub(crate) options: Options,
    /// The way to the engine.
    pub(crate) client: Client,
    /// Held by `session_connect`. Other calls pass through it, so that those sent after it wait for it.
    pub(crate) connecting: tokio::sync::Mutex<()>,
    session: Mutex<Option<Arc<Session>>>,
    keys: Keys,
}

impl Core {
    /// A process without a session.
    pub(crate) fn new(options: Options) -> Self {
        let client = Client::new(options.timeout, options.plain_http);
        Self {
            options,
            client,
            connecting: tokio::sync::Mutex::default(),
            session: Mutex::default(),
            keys: Keys::default(),
        }
    }

    /// The open session.
    pub(crate) fn session(&self) -> Option<Arc<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Another session in place of the former one, or none.
    pub(crate) fn set_session(&self, session: Option<Session>) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session.map(Arc::new);
    }

    /// Asks the engine to carry a tool out. The key of a write is to be settled when its answer is understood.
    pub(crate) async fn ask(
        &self,
        session: &Session,
        spec: &ToolSpec,
        params: Map<String, Value>,
    ) -> Result<(Value, Option<Key<'_>>), Stop> {
        let mut request = request(spec.command().unwrap_or_default(), spec.name, &session.origin);
        if spec.effect == Effect::Reads {
            request.params = params;
            let asked = Asked { kind: Kind::Reads, sent: false };
            let answer = self.exchange(session, request, asked).await;
            return answer.map(|data| (data, None)).map_err(|unanswered| unanswered.stop);
        }
        let whose = [session.address.shown(), session.login.clone(), spec.name.to_owned()];
        let key = self.keys.of(&whose.each_ref().map(String::as_str), &params);
        request.params = params;
        request.key = Some(key.text());
        let asked = Asked { kind: Kind::Writes, sent: key.was_sent() };
        match self.exchange(session, request, asked).await {
            Ok(data) => Ok((data, Some(key))),
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
        &self,
        session: &Session,
        mut request: Request,
        mut asked: Asked,
    ) -> Result<Value, Unanswered> {
        let mut renewed = false;
        loop {
            request.licence = token(session).map_err(|refusal| Unanswered::unsent(refusal.into(), asked))?;
            let ticket = session.ticket();
            request.session = Some(ticket.to_string());
            request.time = Timestamp::now().to_string();
            let envelope = match self.client.call(&session.address, &request, &mut asked).await {
                Ok(envelope) => envelope,
                Err(trouble) => {
                    return Err(Unanswered { stop: trouble.refusal.into(), undone: !trouble.sent });
                }
            };
            match words::data(envelope) {
                Ok(data) => return Ok(data),
                Err(refusal) if refusal.name() == "ticket_unknown" && !renewed => {
                    renewed = true;
                    let renewal = sign_in::renew(self, session, &ticket).await;
                    renewal.map_err(|stop| Unanswered::unsent(stop, asked))?;
                }
                Err(refusal) => return Err(Unanswered::refused(refusal, asked)),
            }
        }
    }
}

/// The day's token, where there is one: a store may become licensed while a session is open.
fn token(session: &Session) -> Result<Option<String>, Refusal> {
    match licence::token(&session.place.folder, &session.login) {
        Ok(token) => Ok(Some(token)),
        Err(refusal) if session.licensed && is_licensed_still(session) => Err(refusal),
        Err(_) => Ok(None),
    }
}

/// Whether `Shop.ini` does not say otherwise by now.
fn is_licensed_still(session: &Session) -> bool {
    session.place.connection().map_or(true, |connection| connection.licensed)
}

/// A request without the engine's answer.
struct Unanswered {
    stop: Stop,
    /// Whether it is certain that nothing was done, by this try and by all before.
    undone: bool,
}

impl Unanswered {
    /// The request could not be sent once more.
    fn unsent(stop: Stop, asked: Asked) -> Self {
        let stop = match stop {
            Stop::Refused(refusal) if asked.is_in_doubt() => words::doubtful_before(&refusal).into(),
            stop => stop,
        };
        Self { stop, undone: !asked.sent }
    }

    /// The store refused. What became of an earlier try without an answer, its refusal does not tell.
    fn refused(refusal: Refusal, asked: Asked) -> Self {
        // Words that are not the engine's own may stand for anything; and the engine, too, may not know: the
        // database went away while it committed.
        let is_strange = refusal.name() == "unexpected_answer";
        let says_doubt = refusal.name() == "not_available";
        let undone = !is_strange && !says_doubt && !asked.sent;
        let refusal = if is_strange && asked.kind == Kind::Writes {
            words::doubtful(&refusal)
        } else if asked.is_in_doubt() && !says_doubt {
            words::doubtful_before(&refusal)
        } else {
            refusal
        };
        Self { stop: refusal.into(), undone }
    }
}

/// A request of this build, to be filled in.
pub(crate) fn request(command: &str, tool: &str, origin: &Origin) -> Request {
    Request {
        command: command.to_owned(),
        tool: Some(tool.to_owned()),
        least: Some(LEAST_ENGINE.to_owned()),
        params: Map::new(),
        build: wire::BUILD.to_owned(),
        time: Timestamp::now().to_string(),
        session: None,
        licence: None,
        key: None,
        origin: origin.clone(),
    }
}
