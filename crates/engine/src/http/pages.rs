//! Pages that need no units: the window that is being set up, what is not there, what failed, the closed store.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse, Response};

use crate::app_state::AppState;
use crate::units::templates::escaped;

/// Words of the pages in one language.
struct Words {
    welcome: &'static str,
    soon: &'static str,
    not_found: &'static str,
    to_home: &'static str,
    gone: &'static str,
    failed: &'static str,
    try_again: &'static str,
    closed: &'static str,
    come_back: &'static str,
}

const ENGLISH: Words = Words {
    welcome: "Welcome",
    soon: "The shop window is being set up. Please come back soon.",
    not_found: "There is no such page here",
    to_home: "To the home page",
    gone: "This page is no more",
    failed: "This page does not work just now",
    try_again: "We know of it. Please try again a little later.",
    closed: "Closed for works",
    come_back: "We are improving something and will be back soon.",
};

const RUSSIAN: Words = Words {
    welcome: "Добро пожаловать",
    soon: "Витрина оформляется. Загляните к нам чуть позже.",
    not_found: "Такой страницы здесь нет",
    to_home: "На главную",
    gone: "Этой страницы больше нет",
    failed: "Страница сейчас не работает",
    try_again: "Мы уже знаем об этом. Попробуйте чуть позже.",
    closed: "Магазин закрыт на время работ",
    come_back: "Мы кое-что улучшаем и скоро вернёмся.",
};

/// The home page of a store that has no units yet.
pub(crate) fn home_page(state: &AppState) -> Response {
    let words = words(state);
    page(state, StatusCode::OK, words.welcome, &format!("<p>{}</p>", words.soon))
}

/// Any address that is none.
pub(crate) fn not_found_page(state: &AppState) -> Response {
    missing_page(state, StatusCode::NOT_FOUND)
}

/// What is not there, or no more.
pub(crate) fn missing_page(state: &AppState, status: StatusCode) -> Response {
    let words = words(state);
    let heading = if status == StatusCode::GONE { words.gone } else { words.not_found };
    page(state, status, heading, &format!("<p><a href=\"/\">{}</a></p>", words.to_home))
}

/// A page that failed. Why is in the log.
pub(crate) fn failed_page(state: &AppState) -> Response {
    let words = words(state);
    page(state, StatusCode::INTERNAL_SERVER_ERROR, words.failed, &format!("<p>{}</p>", words.try_again))
}

/// The store is closed for works.
pub(crate) fn closed(state: &AppState) -> Response {
    let words = words(state);
    let body = format!("<p>{}</p>", words.come_back);
    let page = page(state, StatusCode::SERVICE_UNAVAILABLE, words.closed, &body);
    ([(RETRY_AFTER, "300")], page).into_response()
}

fn words(state: &AppState) -> &'static Words {
    if state.settings.current().config.language == "ru" { &RUSSIAN } else { &ENGLISH }
}

fn page(state: &AppState, status: StatusCode, heading: &str, body: &str) -> Response {
    let settings = state.settings.current();
    let name = escaped(&settings.config.name);
    let language = escaped(&settings.config.language);
    let html = format!(
        "<!doctype html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{heading} · {name}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<header><a href=\"/\">{name}</a></header>\n<main>\n<h1>{heading}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    );
    let headers = [
        (CONTENT_TYPE.as_str(), "text/html; charset=utf-8"),
        (
            "content-security-policy",
            "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
        ),
        ("x-content-type-options", "nosniff"),
    ];
    (status, headers, html).into_response()
}

const STYLE: &str = ":root{color-scheme:light dark;--paper:#fbfaf7;--ink:#23211d;--soft:#6d675d;--line:#e4dfd5}\
@media(prefers-color-scheme:dark){:root{--paper:#191816;--ink:#ece8e0;--soft:#a39c90;--line:#35322d}}\
body{margin:0;min-height:100vh;display:flex;flex-direction:column;background:var(--paper);color:var(--ink);\
font:1.06rem/1.6 system-ui,sans-serif}\
header{padding:1.1rem clamp(1rem,6vw,4rem);border-bottom:1px solid var(--line);font-weight:600}\
header a{color:inherit;text-decoration:none}\
main{flex:1;display:grid;align-content:center;justify-items:center;text-align:center;padding:2rem 1rem 5rem}\
h1{margin:0;font:500 clamp(1.9rem,6vw,3.2rem)/1.2 Georgia,serif}p{color:var(--soft)}p a{color:inherit}";
