//! The MCP server on stdio: session, conversation folder, HTTP client to the engine, answers as blocks.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::serve_directly;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

mod answer;
mod check;
mod client;
mod gate;
mod hosts;
mod options;
mod server;
mod session;
pub mod session_tools;
mod site;
mod transport;

pub use check::{Step, check};
pub use hosts::quirks;
pub use options::{Options, StorePin};
pub use server::registry::{all_tools, tools_list_json};

/// How long running calls may still answer after the input ended.
const LAST_ANSWERS: Duration = Duration::from_millis(600);
/// How long writing may take after that.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Serves standard input and output on a runtime of its own, until the input ends.
pub fn run(options: Options) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "The server cannot start");
            return ExitCode::FAILURE;
        }
    };
    runtime.block_on(serve(options));
    // A thread may be reading a terminal or a slow disk; nobody waits for it any more.
    runtime.shutdown_background();
    ExitCode::SUCCESS
}

/// Serves standard input and output, until the input ends.
pub async fn serve(options: Options) {
    let (source, sink) = transport::streams::open();
    serve_on(options, source, sink).await;
}

/// Serves these streams, until the input ends.
pub async fn serve_on(
    options: Options,
    source: impl AsyncRead + Send + Unpin + 'static,
    sink: impl AsyncWrite + Send + Unpin + 'static,
) {
    let ended = Arc::new(Notify::new());
    let transport = transport::Stdio::new(source, sink, Arc::clone(&ended));
    let state = server::state::ServerState::new(options, server::registry::entries());
    let server = server::handler::Server::new(state);
    let service = serve_directly(server, transport, None);
    let end = service.cancellation_token();
    let mut served = std::pin::pin!(service.waiting());
    tokio::select! {
        _ = &mut served => {}
        () = async {
            ended.notified().await;
            tokio::time::sleep(LAST_ANSWERS).await;
        } => {
            // What still runs is given up, and its caller told so.
            end.cancel();
            let _ = tokio::time::timeout(LAST_WORDS, served).await;
        }
    }
}
