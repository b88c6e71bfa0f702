//! `/files/…`: files of the shop's rows, pictures in the sizes there are.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    RETRY_AFTER, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use db::files::{self, ElementFile};
use wire::{Fault, Stop};

use super::answer;
use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::http::pages;
use crate::media::{Encoding, Kind, Size, make};
use crate::units::{Tree, name};

/// Rows whose files visitors see. Those of orders, customers and suppliers are nobody's but theirs.
const SHOWN: [&str; 7] =
    ["attribute_choices", "brands", "categories", "pages", "products", "promotions", "variants"];
/// An address with the content's own mark never means another content.
const FOREVER: &str = "public, max-age=31536000, immutable";
/// Letters of the mark.
const MARK: usize = 16;

/// A file of a row.
pub(super) async fn element_file(
    State(state): State<Arc<AppState>>,
    Path(path): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    if state.is_locked() {
        return pages::closed(&state);
    }
    let Ok(size) = asked_size(query.as_deref().unwrap_or_default()) else {
        return pages::not_found_page(&state);
    };
    if !path.split('/').all(name::is_plain) {
        return pages::not_found_page(&state);
    }
    let shared = Arc::clone(&state);
    let found = blocking(move || Ok(shared.db.read(|tx| files::by_stored_name(tx, &path))?)).await;
    let file = match found {
        Ok(Some(file)) if SHOWN.contains(&file.entity.as_str()) => file,
        Ok(_) => return pages::not_found_page(&state),
        Err(stop) => return answer::broken(&state, &stop),
    };
    let Some(kind) = Kind::of_mime(&file.mime) else { return pages::not_found_page(&state) };
    let served = match size {
        None => whole(&state, file, kind, &headers).await,
        Some(size) if kind.is_picture() => sized(&state, file, kind, size, &headers).await,
        Some(_) => Ok(None),
    };
    match served {
        Ok(Some(response)) => response,
        Ok(None) => pages::not_found_page(&state),
        Err(stop) => answer::broken(&state, &stop),
    }
}

/// The size an address names; an error where it names one there is not.
fn asked_size(query: &str) -> Result<Option<Size>, ()> {
    let field =
        |name: &str| query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name);
    let text = |name: &str| field(name).map(|(_, value)| value);
    match text("w") {
        None => Ok(None),
        Some(width) => Size::of(width, text("h"), text("fit")).map(Some).ok_or(()),
    }
}

/// A file as it is. What could act in a browser is handed out to be saved, and shut in where it is shown all the same.
async fn whole(
    state: &Arc<AppState>,
    file: ElementFile,
    kind: Kind,
    headers: &HeaderMap,
) -> Result<Option<Response>, Stop> {
    let tag = format!("\"{}\"", file.sha256.get(..MARK).unwrap_or_default());
    let rule = rule(&file);
    if is_known(headers, &tag) {
        return Ok(Some(unchanged(tag, rule)));
    }
    let Some(content) = original(state, &file).await? else { return Ok(None) };
    let mut response =
        ([(ETAG, tag), (CACHE_CONTROL, rule.to_owned())], [(CONTENT_TYPE, kind.mime())], content)
            .into_response();
    answer::dress(&mut response);
    if !kind.is_inert() {
        let headers = response.headers_mut();
        headers.insert(
            CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        );
        if let Ok(value) = HeaderValue::from_str(&attachment(&file.real_name)) {
            headers.insert(CONTENT_DISPOSITION, value);
        }
    }
    Ok(Some(response))
}

/// A picture in a size, made now if it was not before.
async fn sized(
    state: &Arc<AppState>,
    file: ElementFile,
    kind: Kind,
    size: Size,
    headers: &HeaderMap,
) -> Result<Option<Response>, Stop> {
    let accepts = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let takes_webp = accepts.flat_map(|value| value.split(',')).any(takes_webp);
    let encoding = if takes_webp { Encoding::Webp } else { Encoding::Common };
    let Some(key) = state.shelf.key(&file.sha256, size, encoding) else { return Ok(None) };
    let tag =
        format!("\"{}-{}\"", file.sha256.get(..MARK).unwrap_or_default(), if takes_webp { "w" } else { "c" });
    let rule = rule(&file);
    if is_known(headers, &tag) {
        return Ok(Some(unchanged(tag, rule)));
    }
    let (shared, known) = (Arc::clone(state), key.clone());
    let taken = match blocking(move || Ok(shared.shelf.find(&known))).await? {
        Some(taken) => taken,
        None => {
            let Some(_turn) = state.shelf.turn().await else {
                return Ok(Some((StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "2")]).into_response()));
            };
            let Some(content) = original(state, &file).await? else { return Ok(None) };
            let shared = Arc::clone(state);
            blocking(move || {
                let made = shared.shelf.get(&key, || make(kind, &content, size, encoding));
                Ok(made.map_err(Fault::from)?)
            })
            .await?
        }
    };
    let mut response = (
        [(ETAG, tag), (CACHE_CONTROL, rule.to_owned())],
        [(CONTENT_TYPE, taken.kind.mime()), (VARY, "Accept")],
        taken.bytes,
    )
        .into_response();
    answer::dress(&mut response);
    Ok(Some(response))
}

fn takes_webp(range: &str) -> bool {
    let mut parts = range.split(';').map(str::trim);
    parts.next() == Some("image/webp") && !parts.any(|part| part == "q=0" || part == "q=0.0")
}

/// The stored file; `None` where it is not there, or where a link leads out of `files/`.
async fn original(state: &Arc<AppState>, file: &ElementFile) -> Result<Option<Vec<u8>>, Stop> {
    let (tree, path) = (Tree::new(&state.root), format!("files/{}", file.stored_name));
    blocking(move || {
        let Some(path) = tree.inside("files", &path)? else { return Ok(None) };
        Ok(Some(wire::files::read_regular(&path, MOST_BYTES)?))
    })
    .await
}

/// Largest file that is handed out.
const MOST_BYTES: u64 = 32 << 20;

fn rule(file: &ElementFile) -> &'static str {
    let mark = file.sha256.get(..MARK).unwrap_or("?");
    if file.stored_name.contains(mark) { FOREVER } else { "no-cache" }
}

fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).is_some_and(|known| known.contains(tag))
}

fn unchanged(tag: String, rule: &str) -> Response {
    let headers = [(ETAG, tag), (CACHE_CONTROL, rule.to_owned())];
    (StatusCode::NOT_MODIFIED, headers, [(VARY, "Accept")]).into_response()
}

/// The name under which a file is saved, in plain letters and in its own.
fn attachment(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "-_. ".contains(letter) { letter } else { '_' })
        .collect();
    let own = crate::units::path::encoded(name);
    format!(
        "attachment; filename=\"{plain}\"; filename*=UTF-8''{}",
        own.trim_start_matches('/').replace('/', "%2F")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_inside_of_its_header() {
        let header = attachment("a\"; x=\"b/ё.svg");
        assert_eq!(
            header,
            "attachment; filename=\"a__ x__b__.svg\"; filename*=UTF-8''a%22%3B%20x%3D%22b%2F%D1%91.svg"
        );
        assert!(HeaderValue::from_str(&header).is_ok());
    }

    #[test]
    fn only_those_who_say_so_take_webp() {
        assert!(takes_webp("image/webp") && takes_webp(" image/webp;q=0.8"));
        assert!(!takes_webp("image/*") && !takes_webp("image/webp;q=0") && !takes_webp("*/*"));
    }

    #[test]
    fn an_odd_size_is_none() {
        assert_eq!(asked_size("v=1"), Ok(None));
        assert!(asked_size("w=480&h=480&fit=cover").unwrap().is_some());
        assert_eq!(asked_size("w=481"), Err(()));
    }
}
