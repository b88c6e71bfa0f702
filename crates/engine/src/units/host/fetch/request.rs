//! What a script asks of another server, read from its arguments.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use sandbox::{HostError, Value};

use super::super::arguments::Arguments;
use crate::units::values;

/// Longest address.
const LONGEST_URL: usize = 4000;
/// Largest body.
const LARGEST_BODY: usize = 1 << 20;
/// Most headers.
const MOST_HEADERS: usize = 30;
/// Headers that are the line's own, or carry what is not the script's.
const NOT_FOR_SCRIPTS: [&str; 17] = [
    "accept-encoding",
    "connection",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "x-real-ip",
];

/// How the answer's body is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// As a text.
    Text,
    /// As what its JSON says.
    Json,
    /// As bytes.
    Bytes,
}

/// What is asked.
pub(super) struct Asked {
    pub(super) url: Url,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Vec<u8>>,
    pub(super) timeout: Option<Duration>,
    pub(super) shape: Shape,
}

impl Asked {
    pub(super) fn read(args: &Arguments<'_>) -> Result<Self, HostError> {
        let url = args.text(0, "url")?;
        let url = (url.len() <= LONGEST_URL).then(|| Url::parse(url).ok()).flatten();
        let url = url.ok_or_else(|| args.wrong("`url` is an address like `https://api.example.com/v1`"))?;
        if !matches!(args.value(1), Value::Null | Value::Map(_)) {
            return Err(args.wrong("`options` is an object"));
        }
        let method = match args.text_option(1, "method")?.unwrap_or("GET") {
            "GET" => Method::GET,
            "HEAD" => Method::HEAD,
            "POST" => Method::POST,
            "PUT" => Method::PUT,
            "PATCH" => Method::PATCH,
            "DELETE" => Method::DELETE,
            _ => return Err(args.wrong("`method` is GET, HEAD, POST, PUT, PATCH or DELETE")),
        };
        let shape = match args.text_option(1, "as")?.unwrap_or("text") {
            "text" => Shape::Text,
            "json" => Shape::Json,
            "bytes" => Shape::Bytes,
            _ => return Err(args.wrong("`as` is text, json or bytes")),
        };
        let timeout = match args.int_option(1, "timeout")? {
            None => None,
            Some(ms) if ms > 0 => Some(Duration::from_millis(ms.unsigned_abs())),
            Some(_) => return Err(args.wrong("`timeout` is a number of milliseconds")),
        };
        let mut headers = headers(args)?;
        let body = body(args, &mut headers)?;
        if body.is_some() && (method == Method::GET || method == Method::HEAD) {
            return Err(args.wrong("GET and HEAD have no `body`"));
        }
        Ok(Self { url, method, headers, body, timeout, shape })
    }
}

fn headers(args: &Arguments<'_>) -> Result<HeaderMap, HostError> {
    let mut headers = HeaderMap::new();
    let fields = match args.option(1, "headers") {
        None => return Ok(headers),
        Some(Value::Map(fields)) if fields.len() <= MOST_HEADERS => fields,
        Some(_) => return Err(args.wrong("`headers` is an object of a few texts by name")),
    };
    for (name, value) in fields {
        let shown = wire::text::quoted(name, 60);
        let lower = name.to_ascii_lowercase();
        let is_ours = NOT_FOR_SCRIPTS.contains(&lower.as_str())
            || ["proxy-", "sec-", "x-forwarded-"].iter().any(|start| lower.starts_with(start));
        if is_ours {
            return Err(args.wrong(&format!("the header `{shown}` is not for scripts")));
        }
        let pair = HeaderName::from_bytes(lower.as_bytes()).ok().zip(
            value
                .as_text()
                .filter(|text| text.len() <= 8000)
                .and_then(|text| HeaderValue::from_str(text).ok()),
        );
        let (name, mut value) = pair.ok_or_else(|| args.wrong(&format!("the header `{shown}` is none")))?;
        // It may be a key.
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The body: a text and bytes as they are, everything else as JSON.
fn body(args: &Arguments<'_>, headers: &mut HeaderMap) -> Result<Option<Vec<u8>>, HostError> {
    let body = match args.option(1, "body") {
        None => return Ok(None),
        Some(Value::Text(text)) => text.clone().into_bytes(),
        Some(Value::Bytes(bytes)) => bytes.clone(),
        Some(other) => {
            headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
            values::to_json(other).to_string().into_bytes()
        }
    };
    if body.len() > LARGEST_BODY {
        return Err(args.wrong(&format!("`body` is at most {LARGEST_BODY} bytes")));
    }
    Ok(Some(body))
}
