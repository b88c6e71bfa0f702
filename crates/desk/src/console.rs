//! The console: pages on loopback for the person at this computer.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::locales::Locales;
use crate::program::Program;

mod guard;
mod pages;
mod rejection;
mod render;
mod secrets;

pub(crate) use secrets::Secrets;

/// What every page is made from.
pub(crate) struct Console {
    pub(crate) program: Arc<Program>,
    pub(crate) secrets: Secrets,
    pub(crate) address: SocketAddr,
    pub(crate) locales: Arc<Locales>,
    pub(crate) templates: minijinja::Environment<'static>,
}

impl Console {
    /// Reads the built-in texts and templates.
    pub(crate) fn new(program: Arc<Program>, secrets: Secrets, address: SocketAddr) -> Result<Self, String> {
        let locales = Arc::new(Locales::load().map_err(|error| error.to_string())?);
        let templates = render::templates(&locales).map_err(|error| error.to_string())?;
        Ok(Self { program, secrets, address, locales, templates })
    }

    /// Serves until told to stop.
    pub(crate) async fn serve(self, listener: TcpListener, stopped: oneshot::Receiver<()>) {
        let serving = axum::serve(listener, router(Arc::new(self))).with_graceful_shutdown(async {
            let _ = stopped.await;
        });
        if let Err(error) = serving.await {
            tracing::error!(%error, "The console ended");
        }
    }
}

fn router(console: Arc<Console>) -> Router {
    Router::new()
        .route("/", get(pages::home::show))
        .route("/sign-in", get(pages::sign_in::show).post(pages::sign_in::sign_in))
        .route("/sign-out", post(pages::sign_in::sign_out))
        .route("/again", post(pages::sign_in::again))
        .route("/stores", get(pages::stores::show))
        .route("/stores/add", post(pages::stores::add))
        .route("/stores/open", post(pages::stores::open))
        .route("/stores/remove", post(pages::stores::remove))
        .route(guard::START, get(pages::start::show))
        .route(guard::STYLE, get(style))
        .route(guard::ICON, get(icon))
        .fallback(pages::problem::not_found)
        .layer(from_fn_with_state(Arc::clone(&console), guard::check))
        .with_state(console)
}

async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("../assets/console.css"))
}

async fn icon() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "image/svg+xml")], include_str!("../assets/icon.svg"))
}
