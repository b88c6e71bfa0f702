//! Whole pages out of the cache, for visitors whose page is no other than anybody's.

use std::sync::atomic::Ordering;

use axum::http::header::{CACHE_CONTROL, COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use sandbox::Value;

use super::answer;
use super::incoming::{self, DEBUG_CODE, Incoming};
use crate::app_state::AppState;
use crate::http::body::SMALL;
use crate::units::Outcome;
use crate::units::cache::{Found, Kept, KeptPage, Keys, Kind, Place, Proof, What};
use crate::units::visit::Visit;

/// A page that may lie in the cache, or may come to lie there.
pub(super) struct Asked<'a> {
    state: &'a AppState,
    incoming: &'a Incoming,
    keys: Keys,
}

/// Where a page will lie.
pub(super) struct PagePlace<'a> {
    place: Place<'a>,
    /// How far the node had heard before anything of the page was read.
    since: u64,
}

impl<'a> Asked<'a> {
    /// What a request asks for; `None` where it is not one for a page that others may get too.
    pub(super) fn of(state: &'a AppState, incoming: &'a Incoming) -> Option<Self> {
        let is_read = incoming.method == Method::GET || incoming.method == Method::HEAD;
        if !is_read || incoming.is_debugged || !incoming.settings.config.cache {
            return None;
        }
        let is_anonymous = !incoming.headers.contains_key(COOKIE);
        let keys = Keys::page(incoming.path.as_deref()?, &incoming.query, is_anonymous);
        Some(Self { state, incoming, keys })
    }

    /// The page, or the place where it will lie; `None` where the cache is not used.
    pub(super) fn answer(&self) -> Option<Result<Response, PagePlace<'a>>> {
        let units = &self.state.units;
        let since = units.cache.ask()?;
        let found = units.cache.find(self.keys.clone(), Kind::Page, &[], |kept| {
            // Anew: who waited for another one may have waited long.
            let heard = units.cache.catch_up().ok_or_else(|| "the database".to_owned())?;
            self.check(kept, heard)?;
            match &kept.what {
                What::Page(page) => units.check_files(&kept.proof, page.look()),
                What::Html(_) => Err(String::new()),
            }
        });
        match found {
            Found::Hit(kept) => self.response(&kept).map(Ok),
            Found::Miss(place) => Some(Err(PagePlace { place, since })),
        }
    }

    fn check(&self, kept: &Kept, heard: u64) -> Result<(), String> {
        self.state.units.cache.changed(&kept.proof, heard)?;
        kept.proof.check_moment(self.incoming.now, &self.incoming.settings)
    }

    fn response(&self, kept: &Kept) -> Option<Response> {
        response(kept, &self.incoming.headers)
    }
}

fn response(kept: &Kept, asked: &HeaderMap) -> Option<Response> {
    match &kept.what {
        What::Page(page) => Some(page.response(asked)),
        What::Html(_) => None,
    }
}

/// The page, where it is among those that many ask for: it costs no way through the router, no look at the disk, be
/// it at its files or at the one that closes the store, and no wait.
pub(crate) fn kept_page<B>(state: &AppState, request: &Request<B>) -> Option<Response> {
    let (uri, headers) = (request.uri(), request.headers());
    if request.method() != Method::GET || headers.contains_key(DEBUG_CODE) || is_no_page(uri.path()) {
        return None;
    }
    let settings = state.settings.current();
    if !settings.config.cache || state.is_frozen.load(Ordering::Relaxed) {
        return None;
    }
    let query = incoming::query(uri).ok()?;
    let keys = Keys::page(&incoming::decoded(uri.path())?, &query, !headers.contains_key(COOKIE));
    let cache = &state.units.cache;
    let kept = cache.find_busy(&keys, |kept| {
        // What has more waits for its room, as all large answers do.
        if !matches!(&kept.what, What::Page(page) if page.size() <= SMALL) {
            return Err(String::new());
        }
        let heard = cache.if_caught_up().ok_or_else(String::new)?;
        cache.changed(&kept.proof, heard)?;
        kept.proof.check_moment(state.clock.now(), &settings)
    })?;
    response(&kept, headers)
}

/// Whether an address is one of those that are asked for as often as pages and are none.
fn is_no_page(path: &str) -> bool {
    ["/core/", "/statics/", "/images/", "/files/"].iter().any(|folder| path.starts_with(folder))
}

/// Keeps a page that an element's or the home page's entry unit made, and answers with it.
pub(super) fn keep(
    place: Option<PagePlace<'_>>,
    visit: &Visit,
    outcome: Outcome,
    asked: &HeaderMap,
) -> Response {
    let Some(PagePlace { place, since }) = place else { return answer::page(visit, outcome, StatusCode::OK) };
    let is_by_request = outcome.dependencies.is_by_request();
    let page = if can_be_kept(visit, &outcome) { page(visit, &outcome) } else { None };
    let (Some(page), Some(group)) = (page, &outcome.group) else {
        place.fill(None, false);
        return answer::page(visit, outcome, StatusCode::OK);
    };
    let proof = Proof::new(since, outcome.dependencies.clone(), &visit.settings, group);
    let response = page.response(asked);
    place.fill(Some(Kept { what: What::Page(Box::new(page)), proof }), is_by_request);
    response
}

fn can_be_kept(visit: &Visit, outcome: &Outcome) -> bool {
    let reply = &outcome.reply;
    // Who words the rules for caches themselves wants none.
    let has_rule = reply.headers.iter().any(|(name, _)| name == CACHE_CONTROL.as_str());
    !visit.is_debugged
        && outcome.dependencies.can_be_kept(visit)
        && outcome.failures.is_empty()
        && outcome.effects.is_empty()
        && reply.status.is_none_or(|status| status == 200)
        && reply.location.is_none()
        && reply.cookies.is_empty()
        && !has_rule
}

/// The page as it goes out to everybody.
fn page(visit: &Visit, outcome: &Outcome) -> Option<KeptPage> {
    let (kind, text) = match &outcome.result {
        Ok(Value::Text(text)) => ("text/html; charset=utf-8", text.clone()),
        Ok(data @ (Value::Map(_) | Value::List(_))) => {
            ("application/json", crate::units::to_json(data).to_string())
        }
        _ => return None,
    };
    let mut shell = (StatusCode::OK, [(axum::http::header::CONTENT_TYPE, kind)]).into_response();
    answer::dress(&mut shell);
    answer::add(&mut shell, outcome);
    let headers = shell.headers_mut();
    headers.remove(SET_COOKIE);
    Some(KeptPage::new(std::mem::take(headers), text, visit.look.clone()))
}
