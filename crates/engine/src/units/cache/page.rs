//! A whole page as it goes out: its bytes, packed once, and its headers.

use std::io::Write as _;

use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, Response as HttpResponse, StatusCode};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::templates::Look;

/// Smaller pages are not worth packing.
const PACK_FROM: usize = 1024;

/// A page.
pub(crate) struct KeptPage {
    headers: HeaderMap,
    body: Bytes,
    packed: Option<Bytes>,
    tag: String,
    look: Look,
}

impl KeptPage {
    /// A page with these headers; its tag and what it differs by are added.
    pub(crate) fn new(mut headers: HeaderMap, text: String, look: Look) -> Self {
        let body = Bytes::from(text);
        let hash = blake3::hash(&body).to_hex();
        let tag = format!("W/\"{}\"", hash.get(..20).unwrap_or_default());
        if !headers.contains_key(ETAG)
            && let Ok(value) = HeaderValue::from_str(&tag)
        {
            headers.insert(ETAG, value);
        }
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        let tag = headers.get(ETAG).and_then(|tag| tag.to_str().ok()).unwrap_or_default().to_owned();
        Self { headers, packed: packed(&body), body, tag, look }
    }

    /// The page for a visitor: nothing where they have it already, packed where they take it so.
    pub(crate) fn response(&self, asked: &HeaderMap) -> Response {
        let mut headers = self.headers.clone();
        let known = asked.get(IF_NONE_MATCH).and_then(|known| known.to_str().ok());
        let (status, body) = if known.is_some_and(|known| is_among(known, &self.tag)) {
            headers.remove(CONTENT_TYPE);
            (StatusCode::NOT_MODIFIED, Body::empty())
        } else if let Some(packed) = self.packed.as_ref().filter(|_| takes_packed(asked)) {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            (StatusCode::OK, Body::from(packed.clone()))
        } else {
            (StatusCode::OK, Body::from(self.body.clone()))
        };
        let mut response = HttpResponse::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }

    /// Bytes of its text.
    pub(crate) fn size(&self) -> usize {
        self.body.len()
    }

    /// How it looks.
    pub(crate) fn look(&self) -> &Look {
        &self.look
    }

    pub(super) fn weight(&self) -> u64 {
        let packed = self.packed.as_ref().map_or(0, Bytes::len);
        (self.body.len() + packed + self.headers.len() * 100) as u64
    }
}

fn packed(body: &Bytes) -> Option<Bytes> {
    if body.len() < PACK_FROM {
        return None;
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 3), Compression::default());
    encoder.write_all(body).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// Whether a tag is among those a visitor has; tags are compared without their mark of weakness.
pub(crate) fn is_among(known: &str, tag: &str) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    known.split(',').any(|one| one.trim() == "*" || bare(one) == bare(tag))
}

/// Whether a visitor takes what is packed.
pub(crate) fn takes_packed(asked: &HeaderMap) -> bool {
    let lines = asked.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    let mut codings = lines.flat_map(|line| line.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let is_refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.trim().parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look() -> Look {
        let text = String::new;
        Look {
            group: text(),
            default_group: text(),
            language: text(),
            default_language: text(),
            currency: text(),
            time_zone: text(),
        }
    }

    fn asked(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
    }

    #[test]
    fn a_visitor_gets_what_they_take() {
        let page = KeptPage::new(asked("content-type", "text/html"), "x".repeat(5000), look());
        let has = |headers: HeaderMap| {
            let response = page.response(&headers);
            (response.status().as_u16(), response.headers().contains_key(CONTENT_ENCODING))
        };
        assert_eq!(has(HeaderMap::new()), (200, false));
        for (taken, is_packed) in [
            ("gzip", true),
            ("br, GZip;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.000", false),
            ("br", false),
            ("xgzip", false),
        ] {
            assert_eq!(has(asked("accept-encoding", taken)), (200, is_packed), "{taken}");
        }
        let tag = page.tag.clone();
        for (known, status) in [
            (tag.as_str(), 304),
            (tag.trim_start_matches("W/"), 304),
            (&format!("\"a\", {tag}"), 304),
            ("*", 304),
            ("\"a\"", 200),
            ("", 200),
        ] {
            assert_eq!(has(asked("if-none-match", known)).0, status, "{known}");
        }
        assert!(KeptPage::new(HeaderMap::new(), "short".to_owned(), look()).packed.is_none());
    }
}
