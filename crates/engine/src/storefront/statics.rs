//! Files that every visitor may have: those of the templates' groups, and a few of the root.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

use super::answer;
use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::http::pages;
use crate::units::{Tree, name};

/// Kinds of files that are handed out, by their endings. What has another ending is not for visitors.
const KINDS: [(&str, &str); 20] = [
    ("avif", "image/avif"),
    ("css", "text/css; charset=utf-8"),
    ("csv", "text/csv; charset=utf-8"),
    ("gif", "image/gif"),
    ("ico", "image/x-icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("map", "application/json"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain; charset=utf-8"),
    ("webm", "video/webm"),
    ("webmanifest", "application/manifest+json"),
    ("webp", "image/webp"),
    ("woff2", "font/woff2"),
    ("xml", "application/xml"),
];

/// A file of the templates' group: `/statics/…`, `/images/…`, `/bundles/…`.
pub(super) async fn group_file(State(state): State<Arc<AppState>>, request: Request) -> Response {
    if state.is_locked() {
        return pages::closed(&state);
    }
    let (headers, uri) = (request.headers().clone(), request.uri().clone());
    let group = state.settings.current().config.template.clone();
    let path = format!("templates/{group}{}", uri.path());
    if !name::is_group(&group) {
        return pages::not_found_page(&state);
    }
    serve(state, "templates", path, &headers, &uri).await
}

/// A file of the root.
pub(super) async fn root_file(State(state): State<Arc<AppState>>, request: Request) -> Response {
    if state.is_locked() {
        return pages::closed(&state);
    }
    let (headers, uri) = (request.headers().clone(), request.uri().clone());
    let path = uri.path().trim_start_matches('/').to_owned();
    serve(state, "", path, &headers, &uri).await
}

async fn serve(
    state: Arc<AppState>,
    folder: &'static str,
    path: String,
    headers: &HeaderMap,
    uri: &Uri,
) -> Response {
    // Whatever is written with signs of its own is no name of a file here.
    let is_plain = path.split('/').all(name::is_plain);
    let kind = path.rsplit_once('.').and_then(|(_, ending)| {
        let ending = ending.to_ascii_lowercase();
        KINDS.iter().find(|(known, _)| **known == ending).map(|(_, kind)| *kind)
    });
    let Some(kind) = kind.filter(|_| is_plain) else { return pages::not_found_page(&state) };
    let tree = Tree::new(&state.root);
    let read = blocking(move || Ok(tree.read(folder, &path)?)).await;
    match read {
        Ok(Some(content)) => file(kind, content, headers, uri),
        Ok(None) => pages::not_found_page(&state),
        Err(stop) => answer::broken(&state, &stop),
    }
}

fn file(kind: &'static str, content: Vec<u8>, headers: &HeaderMap, uri: &Uri) -> Response {
    let hash = blake3::hash(&content).to_hex();
    let mark = hash.get(..12).unwrap_or_default();
    let tag = format!("\"{mark}\"");
    // An address with the content's own mark never means another content.
    let is_marked =
        uri.query().is_some_and(|query| query.split('&').any(|field| field == format!("v={mark}")));
    let rule = if is_marked { "public, max-age=31536000, immutable" } else { "no-cache" };
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let shared = [(ETAG, tag.clone()), (CACHE_CONTROL, rule.to_owned())];
    let mut response = if known.is_some_and(|known| known.contains(&tag)) {
        (StatusCode::NOT_MODIFIED, shared).into_response()
    } else {
        (shared, [(CONTENT_TYPE, kind)], content).into_response()
    };
    answer::dress(&mut response);
    response
}
