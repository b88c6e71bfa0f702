//! The console's addresses, and serving them.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::connections::{self, Limits};
use super::state::Console;
use super::{guard, pages};

/// Serves until told to stop.
pub(crate) async fn serve(
    console: Console,
    listener: TcpListener,
    limits: Limits,
    stopped: oneshot::Receiver<()>,
) {
    connections::serve(listener, router(Arc::new(console)), limits, stopped).await;
}

fn router(console: Arc<Console>) -> Router {
    Router::new()
        .route("/", get(pages::home::show))
        .route("/sign-in", get(pages::sign_in::show).post(pages::sign_in::sign_in))
        .route("/sign-out", post(pages::sign_in::sign_out))
        .route("/again", post(pages::sign_in::again))
        .route("/approval", post(pages::agents::choose_approval))
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
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("../../assets/console.css"))
}

async fn icon() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "image/svg+xml")], include_str!("../../assets/icon.svg"))
}
