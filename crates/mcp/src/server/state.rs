//! What all calls of the process share: options, the client, the one session.

use std::sync::{Arc, Mutex, PoisonError};

use crate::client::http::Client;
use crate::client::idempotency_keys::IdempotencyKeys;
use crate::client::in_flight::InFlight;
use crate::options::Options;
use crate::server::listed_tool::ListedTool;
use crate::session::open_session::Session;
use crate::site::memory::Site;

/// What all calls of the process share.
pub(crate) struct ServerState {
    /// What the server was told when it started.
    pub(crate) options: Options,
    /// The way to the engine.
    pub(crate) client: Client,
    /// Held by `session_connect`. Other calls pass through it, so that those sent after it wait for it.
    pub(crate) connecting: tokio::sync::Mutex<()>,
    /// Places for calls on their way to the engine.
    pub(crate) in_flight: InFlight,
    /// Every tool, in the order of the list.
    pub(crate) tools: &'static [ListedTool],
    /// Keys of writes without an answer.
    pub(crate) keys: IdempotencyKeys,
    /// What visits to the store's site leave behind.
    pub(crate) site: Site,
    session: Mutex<Option<Arc<Session>>>,
}

impl ServerState {
    /// A process without a session.
    pub(crate) fn new(options: Options, tools: &'static [ListedTool]) -> Self {
        let client = Client::new(options.timeout, options.plain_http);
        Self {
            options,
            tools,
            client,
            connecting: tokio::sync::Mutex::default(),
            in_flight: InFlight::default(),
            session: Mutex::default(),
            keys: IdempotencyKeys::default(),
            site: Site::default(),
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
}
