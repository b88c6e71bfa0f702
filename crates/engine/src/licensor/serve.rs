//! The authority's address: programs post a proof and get the day's token.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use wire::{TokenAnswer, TokenRequest};

use super::LicensorError;
use super::customers::customers;
use super::keys::keys;
use super::token::token;
use crate::clock::Clock;
use crate::http::connections::{self, Limits};

/// Largest request: four short texts.
const LIMIT: usize = 16 * 1024;

struct Authority {
    folder: PathBuf,
    clock: Arc<dyn Clock>,
}

/// A running authority. Dropping it stops it without waiting.
pub struct RunningLicensor {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

impl RunningLicensor {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets running requests end, and stops.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            // The receiver is gone only where serving has ended already.
            let _ = stop.send(());
        }
        let _ = tokio::time::timeout(std::time::Duration::from_secs(5), &mut self.serving).await;
    }
}

impl Drop for RunningLicensor {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Serves tokens. TLS is the business of a proxy in front.
pub async fn serve(
    folder: PathBuf,
    listen: SocketAddr,
    clock: Arc<dyn Clock>,
) -> Result<RunningLicensor, LicensorError> {
    // A folder without a key, or with a broken list, is told now and not to the first program.
    keys(&folder)?;
    customers(&folder)?;
    let listener = TcpListener::bind(listen).await.map_err(LicensorError::Listen)?;
    let address = listener.local_addr().map_err(LicensorError::Listen)?;
    let router = Router::new()
        .route("/token", post(give))
        .route("/public-key", get(show_key))
        .route("/health", get(async || "ok\n"))
        .layer(DefaultBodyLimit::max(LIMIT))
        .with_state(Arc::new(Authority { folder, clock }));
    let (stop, stopped) = oneshot::channel();
    let serving = tokio::spawn(async move {
        let until = async {
            // A dropped sender stops the authority too.
            let _ = stopped.await;
        };
        connections::serve(listener, router, Limits::default(), |_| false, until).await;
    });
    Ok(RunningLicensor { address, stop: Some(stop), serving })
}

async fn give(State(authority): State<Arc<Authority>>, Json(request): Json<TokenRequest>) -> Response {
    let now = authority.clock.now();
    let made = within(authority, move |folder| {
        let answer = token(&request, &customers(folder)?, &keys(folder)?, now)?;
        tracing::info!(login = request.login, given = answer.is_ok(), "RequestContext for a token");
        Ok(answer)
    });
    match made.await {
        Ok(Ok(token)) => Json(TokenAnswer { token: Some(token), error: None }).into_response(),
        Ok(Err(denied)) => failed(StatusCode::FORBIDDEN, &denied.to_string()),
        Err(answer) => answer,
    }
}

async fn show_key(State(authority): State<Arc<Authority>>) -> Response {
    match within(authority, |folder| Ok(keys(folder)?.public.to_string())).await {
        Ok(key) => format!("{key}\n").into_response(),
        Err(answer) => answer,
    }
}

/// Runs work on the folder; what fails there is told to the log, not to the caller.
async fn within<T: Send + 'static>(
    authority: Arc<Authority>,
    work: impl FnOnce(&Path) -> Result<T, LicensorError> + Send + 'static,
) -> Result<T, Response> {
    let done = tokio::task::spawn_blocking(move || work(&authority.folder)).await;
    let cause = match done {
        Ok(Ok(done)) => return Ok(done),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    tracing::error!(cause, "The licence authority failed");
    Err(failed(
        StatusCode::INTERNAL_SERVER_ERROR,
        "the licence authority has a problem; its keeper finds it in the log",
    ))
}

fn failed(status: StatusCode, why: &str) -> Response {
    (status, Json(TokenAnswer { token: None, error: Some(why.to_owned()) })).into_response()
}
