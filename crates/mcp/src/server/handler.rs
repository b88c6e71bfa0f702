//! What this process serves: the list of tools, and calls of them.

use std::future::{Future, ready};
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, DiscoverResult, ErrorData, InitializeRequestParams,
    InitializeResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use tokio::task::JoinHandle;
use tools::Presented;
use wire::{Fault, Stop};

use crate::answer;
use crate::gate::Arguments;
use crate::hosts::protocol::{Era, Host};
use crate::server::state::ServerState;
use crate::server::{calls, registry};
use crate::transport::incoming::OddArguments;

/// How long a list of tools keeps: it changes only with the build.
const LIST_KEEPS_MS: u64 = 60 * 60 * 1000;

/// What a host reads before the first call; some cut it at 2 KB.
const INSTRUCTIONS: &str = "Shopwright connects you to one online store, under the login and the rights of the person you work for. \
Begin with `session_init` (which store, is the program running), then `session_connect` with a topic of one word: \
it signs in and answers with who the person is, what you may call, and the rules of the session; read them. \
Every other tool needs an open session. Bulky results are files in the conversation folder that `session_connect` names. \
A refusal begins with what is wrong and says who mends it: follow it instead of trying around it. \
`RULES_REQUIRED:` shows rules to read and a code for `session_rules_accept`; then repeat the call. \
`Not connected`: call `session_connect` again with the same topic.";

/// The server of one process.
pub(crate) struct Server {
    state: Arc<ServerState>,
}

impl Server {
    /// A server over what its calls share.
    pub(crate) fn new(state: ServerState) -> Self {
        Self { state: Arc::new(state) }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.protocol_version = ProtocolVersion::V_2025_11_25;
        info.server_info = answer::about(Era::Handshake);
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<InitializeResult, ErrorData>> + Send + '_ {
        let answer = self.negotiate_initialize(&request).map(|mut answer| {
            // What is known of the host from here on is the version agreed upon.
            request.protocol_version = answer.protocol_version.clone();
            context.peer.set_peer_info(request);
            answer.server_info = answer::about(Era::of(answer.protocol_version.as_str()));
            answer
        });
        ready(answer)
    }

    fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<DiscoverResult, ErrorData>> + Send + '_ {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        result.ttl_ms = LIST_KEEPS_MS;
        result.cache_scope = CacheScope::Public;
        ready(Ok(result))
    }

    fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send + '_ {
        ready(list(request, &context))
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let host = host(&context)?;
        let arguments = match context.extensions.remove::<OddArguments>() {
            Some(OddArguments(words)) => Arguments::Odd(words),
            None => Arguments::Named(request.arguments.take().unwrap_or_default()),
        };
        let name = request.name.into_owned();
        // A task of its own: a panic in a call must end as an answer, not as silence.
        let (state, tool, application) = (Arc::clone(&self.state), name.clone(), host.name.clone());
        let mut call =
            Call(tokio::spawn(async move { calls::run(&state, &tool, arguments, &application).await }));
        let outcome = tokio::select! {
            biased;
            outcome = &mut call.0 => outcome.unwrap_or_else(|error| Err(panicked(error))),
            // Cancelled by the host, which then gets no answer, or the input ended; dropping the call drops its request.
            () = context.ct.cancelled() => {
                tracing::info!(tool = name, "Given up before its end: the host cancelled it, or the input ended");
                return Err(ErrorData::internal_error("Given up: the input ended before the answer came", None));
            }
        };
        Ok(answer::result(outcome, registry::known(&name), &host).into())
    }
}

/// A running call that ends when nobody waits for it.
struct Call(JoinHandle<Result<Presented, Stop>>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a broken call said last, for the log.
fn panicked(error: tokio::task::JoinError) -> Stop {
    let words = match error.try_into_panic() {
        Ok(payload) => {
            let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
        }
        Err(error) => error.to_string(),
    };
    Fault::new(format!("the call broke off inside the server: {words}")).into()
}

fn list(
    request: Option<PaginatedRequestParams>,
    context: &RequestContext<RoleServer>,
) -> Result<ListToolsResult, ErrorData> {
    let host = host(context)?;
    if request.is_some_and(|request| request.cursor.is_some()) {
        return Err(ErrorData::invalid_params("No such cursor: the list has one page", None));
    }
    let tools = registry::entries().iter().map(|entry| entry.listed(host.era)).collect();
    let mut result = ListToolsResult::with_all_items(tools);
    if host.era >= Era::Stateless {
        result.ttl_ms = Some(LIST_KEEPS_MS);
        result.cache_scope = Some(CacheScope::Public);
        result.meta = Some(answer::server_mark());
    }
    Ok(result)
}

/// The application behind a request; an error where it has neither shaken hands nor says its version.
fn host(context: &RequestContext<RoleServer>) -> Result<Host, ErrorData> {
    let Some(version) = context.protocol_version() else {
        let message =
            "Not initialized: send `initialize` first, or `_meta` with the protocol version in each request";
        return Err(ErrorData::invalid_request(message, None));
    };
    let name = context.client_info().map(|client| client.name).unwrap_or_default();
    Ok(Host { era: Era::of(version.as_str()), name })
}

#[cfg(test)]
mod tests;
