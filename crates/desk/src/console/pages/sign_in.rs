//! Signing in to the open store and out of it.

use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use home::Credentials;
use minijinja::context;
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::console::state::{Console, go_to};

#[derive(Deserialize)]
pub(crate) struct SignInForm {
    #[serde(default)]
    login: String,
    #[serde(default)]
    password: String,
    /// Present where the box is ticked.
    keep: Option<String>,
}

pub(crate) async fn show(State(console): State<Arc<Console>>, headers: HeaderMap) -> Response {
    let trouble = console.program.store().and_then(|open| open.trouble);
    let said = trouble.map(|message| message.text(&console.locales, console.language(&headers)));
    form(&console, &headers, StatusCode::OK, said, None, true)
}

pub(crate) async fn sign_in(
    State(console): State<Arc<Console>>,
    headers: HeaderMap,
    Form(sent): Form<SignInForm>,
) -> Response {
    let login = sent.login.trim().to_owned();
    let pair = Credentials { login: login.clone(), password: Zeroizing::new(sent.password) };
    match console.program.sign_in(pair, sent.keep.is_some()).await {
        Ok(()) => go_to("/"),
        Err(message) => {
            let said = message.text(&console.locales, console.language(&headers));
            form(&console, &headers, StatusCode::OK, Some(said), Some(login), sent.keep.is_some())
        }
    }
}

fn form(
    console: &Console,
    headers: &HeaderMap,
    status: StatusCode,
    trouble: Option<String>,
    login: Option<String>,
    keep: bool,
) -> Response {
    let Some(open) = console.program.store() else {
        return go_to("/stores");
    };
    let language = console.language(headers);
    let broken = open.ini.as_ref().err().cloned();
    let known = open.ini.as_ref().ok().map(|ini| ini.login.clone());
    let values = context! {
        page => "sign_in",
        name => open.name.clone(),
        url => open.url(),
        folder => open.folder.to_string_lossy(),
        broken,
        trouble,
        login => login.or(known).unwrap_or_default(),
        keep,
    };
    console.page("sign_in.html", language, status, values)
}

pub(crate) async fn sign_out(State(console): State<Arc<Console>>) -> Response {
    let program = Arc::clone(&console.program);
    // To its end, also where the page is closed before a slow keyring has forgotten.
    let _ = tokio::spawn(async move { program.sign_out().await }).await;
    go_to("/sign-in")
}

/// Tries the pair that is held once more.
pub(crate) async fn again(State(console): State<Arc<Console>>) -> Response {
    console.program.resume().await;
    go_to("/")
}
