//! Files that every visitor may have: those of the templates' groups, and a few of the root.
//!
//! Pages name them by addresses with a mark of their content (`main.0123456789ab.css`),
//! which are kept for a year; the same name without a mark is asked for anew each time.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

mod packed;

use super::answer;
use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::http::pages;
use crate::units::cache::{is_among, takes_packed};
use crate::units::{Tree, name};
pub(crate) use packed::Packed;

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
    let (headers, query) = (headers.clone(), uri.query().unwrap_or_default().to_owned());
    let shared = Arc::clone(&state);
    let served = blocking(move || {
        let found = find(&Tree::new(&shared.root), folder, &path)?;
        Ok(found.map(|(content, mark)| {
            let named = mark
                .or_else(|| query.split('&').find_map(|field| field.strip_prefix("v=").map(str::to_owned)));
            file(&shared.packed, kind, content, named.as_deref(), &headers)
        }))
    })
    .await;
    match served {
        Ok(Some(response)) => response,
        Ok(None) => pages::not_found_page(&state),
        Err(stop) => answer::broken(&state, &stop),
    }
}

/// The content of a file, and the mark its address names. A file that really has such a name is meant before one whose
/// address has a mark.
fn find(tree: &Tree, folder: &str, path: &str) -> std::io::Result<Option<(Vec<u8>, Option<String>)>> {
    if let Some(content) = tree.read(folder, path)? {
        return Ok(Some((content, None)));
    }
    let Some((path, mark)) = name::unmarked(path) else { return Ok(None) };
    Ok(tree.read(folder, &path)?.map(|content| (content, Some(mark.to_owned()))))
}

fn file(
    packed: &Packed,
    kind: &'static str,
    content: Vec<u8>,
    named: Option<&str>,
    headers: &HeaderMap,
) -> Response {
    let mark = name::mark(&content);
    let tag = format!("\"{mark}\"");
    // An address with the content's own mark never means another content; one with a former mark gets what is there now.
    let rule = if named == Some(&mark) { "public, max-age=31536000, immutable" } else { "no-cache" };
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let shared =
        [(ETAG, tag.clone()), (CACHE_CONTROL, rule.to_owned()), (VARY, "Accept-Encoding".to_owned())];
    let mut response = if is_among(text(IF_NONE_MATCH), &tag) {
        (StatusCode::NOT_MODIFIED, shared).into_response()
    } else {
        match takes_packed(headers).then(|| packed.get(&mark, kind, &content)).flatten() {
            Some(short) => {
                (shared, [(CONTENT_TYPE, kind), (CONTENT_ENCODING, "gzip")], short).into_response()
            }
            None => (shared, [(CONTENT_TYPE, kind)], content).into_response(),
        }
    };
    answer::dress(&mut response);
    response
}
