//! `/core/pay/…`: messages of payment providers, and the page of the provider for trying.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::to_bytes;
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use db::payments::Payment;
use db::{orders, payments as rows};
use wire::{Fault, Stop};

use super::answer;
use super::incoming::Incoming;
use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::http::pages;
use crate::payments::notices::{Taken, take};
use crate::payments::test::{Decision, decide, message};
use crate::payments::{ProviderError, provider};
use crate::settings::Settings;
use crate::shopping::order_page::token_of;
use crate::shopping::view::page_path;
use crate::shopping::{Cx, NotDone};
use crate::units::templates::{Look, escaped, money_text};
use crate::units::visit::Visit;

/// Largest message of a provider.
const LARGEST: usize = 64 * 1024;
/// The header that a message is signed in.
const SIGNATURE: &str = "x-signature";

/// A provider tells something.
pub(super) async fn notify(
    State(state): State<Arc<AppState>>,
    Path(key): Path<String>,
    request: Request,
) -> Response {
    if state.is_locked() {
        // Providers repeat what was not taken.
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let Some(provider) = provider(&key) else { return StatusCode::NOT_FOUND.into_response() };
    let signature = request.headers().get(SIGNATURE).and_then(|value| value.to_str().ok());
    let signature = signature.unwrap_or_default().to_owned();
    let Ok(body) = to_bytes(request.into_body(), LARGEST).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let taken = blocking(move || {
        let settings = state.settings.current();
        let look = Visit::look(&settings, &settings.config.language);
        let cx = Cx { settings: &settings, look: &look, now: state.clock.now() };
        take(&state.db, cx, provider, &signature, &body).map_err(stop)
    });
    match taken.await {
        Ok(Taken::Yes) => StatusCode::NO_CONTENT.into_response(),
        Ok(Taken::Unknown) => StatusCode::NOT_FOUND.into_response(),
        Ok(Taken::Forged) => StatusCode::FORBIDDEN.into_response(),
        Err(Stop::Refused(_)) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Err(Stop::Broke(fault)) => {
            tracing::error!(cause = fault.chain(), "A payment provider's message was not taken");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn stop(error: NotDone) -> Stop {
    match error {
        NotDone::Db(cause) => cause.into(),
        NotDone::Problem(problem) => Fault::new(problem.code).into(),
        NotDone::Broke(words) => Fault::new(words).into(),
    }
}

/// The page of the bank that is for trying.
pub(super) async fn bank(
    State(state): State<Arc<AppState>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Path(number): Path<String>,
    request: Request,
) -> Response {
    if state.is_locked() {
        return pages::closed(&state);
    }
    let incoming = match Incoming::read(&state, peer, request).await {
        Ok(incoming) => incoming,
        Err(refused) => return refused,
    };
    let shared = Arc::clone(&state);
    match blocking(move || visit_bank(&shared, &incoming, &number)).await {
        Ok(response) => response,
        Err(stop) => answer::broken(&state, &stop),
    }
}

fn visit_bank(state: &AppState, incoming: &Incoming, number: &str) -> Result<Response, Stop> {
    let settings = &incoming.settings;
    let found = state.db.read(|tx| {
        let Some(payment) = rows::by_ref(tx, "test", number)? else { return Ok(None) };
        let order = orders::by_id(tx, payment.order_id)?;
        Ok::<_, NotDone>(order.map(|order| (payment, order)))
    });
    let Some((payment, order)) = found.map_err(stop)? else { return Ok(pages::not_found_page(state)) };
    let look = Visit::look(settings, &order.language);
    if incoming.method != Method::POST {
        return Ok(page(settings, &look, &payment, order.number.as_deref().unwrap_or_default()));
    }
    let chosen = incoming.post.iter().find(|(name, _)| name == "do").map(|(_, value)| value.as_str());
    let Some(decision) = chosen.and_then(Decision::parse) else {
        return Ok((StatusCode::BAD_REQUEST, "This form is not complete.\n").into_response());
    };
    let cx = Cx { settings, look: &look, now: incoming.now };
    let decided = state.db.write(|tx| decide(tx, &payment, decision, cx.now))?;
    // The bank tells the store by the way that any message comes.
    let (body, signature) = message(&state.db, &payment, decided).map_err(refused)?;
    if let Some(provider) = provider("test") {
        take(&state.db, cx, provider, &signature, &body).map_err(stop)?;
    }
    let token = state.db.read(|tx| token_of(tx, &order)).map_err(stop)?.unwrap_or_default();
    let path = page_path(cx, &order.language, &format!("order/{token}"));
    Ok((StatusCode::SEE_OTHER, [(LOCATION, path)]).into_response())
}

fn refused(error: ProviderError) -> Stop {
    let (ProviderError::Refused(words) | ProviderError::NoAnswer(words)) = error;
    Fault::new(words).into()
}

/// The bank's page. Nothing on it is a visitor's text.
fn page(settings: &Settings, look: &Look, payment: &Payment, number: &str) -> Response {
    let amount = money_text(payment.amount, &payment.currency, &look.language).unwrap_or_default();
    let [title, about, total, pay, fail, cancel] = match look.language.as_str() {
        "ru" => [
            "Пробная оплата",
            "Это не настоящий банк: деньги не списываются. Выберите, чем закончится оплата.",
            "К оплате",
            "Оплатить",
            "Отказ банка",
            "Вернуться без оплаты",
        ],
        _ => [
            "Test payment",
            "This is no real bank: no money is taken. Choose how the payment ends.",
            "To pay",
            "Pay",
            "Let the bank refuse",
            "Go back without paying",
        ],
    };
    let button = |value: &str, kind: &str, words: &str| {
        format!("<p><button class=\"button {kind}\" name=\"do\" value=\"{value}\">{words}</button></p>")
    };
    let name = escaped(&settings.config.name);
    let html = format!(
        "<!doctype html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"robots\" content=\"noindex\"><title>{title}</title>\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <link rel=\"icon\" href=\"/statics/icon.svg\" type=\"image/svg+xml\">\
         <link rel=\"stylesheet\" href=\"/statics/main.css\">\
         <link rel=\"stylesheet\" href=\"/statics/buy.css\"></head>\n\
         <body><main id=\"content\" class=\"wide\"><div class=\"narrow panel\"><h1>{title}</h1>\
         <p class=\"notice warn\">{about}</p>\
         <table class=\"sums\"><tbody><tr><th scope=\"row\">{name}</th><td>{number}</td></tr></tbody>\
         <tfoot><tr class=\"total\"><th scope=\"row\">{total}</th><td>{}</td></tr></tfoot></table>\
         <form method=\"post\">{}{}{}</form></div></main></body></html>\n",
        escaped(&look.language),
        escaped(&amount),
        button("paid", "large", pay),
        button("failed", "quiet", fail),
        button("cancelled", "quiet", cancel),
    );
    let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CACHE_CONTROL, "no-store")];
    let mut response = (StatusCode::OK, headers, html).into_response();
    answer::dress(&mut response);
    response
}
