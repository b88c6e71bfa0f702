//! What all calls of the process share: options, the client, the one session.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::{Map, Value};
use tools::{Effect, ToolSpec};
use wire::{Origin, Request, Stop};

use crate::client::Client;
use crate::keys::Keys;
use crate::session::Session;
use crate::words::{self, Kind};
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

    /// Asks the engine to carry a tool out.
    pub(crate) async fn ask(
        &self,
        session: &Session,
        spec: &ToolSpec,
        params: Map<String, Value>,
    ) -> Result<Value, Stop> {
        if spec.effect == Effect::Reads {
            let mut request = request(spec.command().unwrap_or_default(), spec.name, &session.origin);
            request.params = params;
            return self.exchange(session, request, Kind::Reads, || {}).await;
        }
        let whose = [session.address.shown(), session.login.clone(), spec.name.to_owned()];
        let key = self.keys.of(&whose.each_ref().map(String::as_str), &params);
        let mut request = request(spec.command().unwrap_or_default(), spec.name, &session.origin);
        request.params = params;
        request.key = Some(key.text());
        self.exchange(session, request, Kind::Writes, || key.settle()).await
    }

    /// Sends a request of the session; a stale ticket is replaced once, since the request was then not carried out.
    async fn exchange(
        &self,
        session: &Session,
        mut request: Request,
        kind: Kind,
        settle: impl FnOnce(),
    ) -> Result<Value, Stop> {
        let mut renewed = false;
        loop {
            if session.licensed {
                request.licence = Some(licence::token(&session.place.folder, &session.login)?);
            }
            let ticket = session.ticket();
            request.session = Some(ticket.to_string());
            request.time = Timestamp::now().to_string();
            match self.client.call(&session.address, &request, kind).await {
                Ok(envelope) => match words::data(envelope) {
                    Err(refusal) if refusal.name() == "ticket_unknown" && !renewed => {
                        renewed = true;
                        sign_in::renew(self, session, &ticket).await?;
                    }
                    answer => {
                        // The engine, too, may not know: the database went away while it committed.
                        let is_unknown =
                            answer.as_ref().is_err_and(|refusal| refusal.name() == "not_available");
                        if !is_unknown {
                            settle();
                        }
                        return Ok(answer?);
                    }
                },
                Err(trouble) => {
                    if !trouble.sent {
                        settle();
                    }
                    return Err(trouble.refusal.into());
                }
            }
        }
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
