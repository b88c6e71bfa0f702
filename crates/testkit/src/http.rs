//! A few lines of HTTP/1.1, so that a test can say exactly what goes over the line.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

/// An answer.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status.
    pub status: u16,
    /// Head, as it came.
    pub head: String,
    /// Body, with chunks put together.
    pub body: Vec<u8>,
}

impl Response {
    /// The body as JSON; null where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The values of a header.
    pub fn header(&self, name: &str) -> Vec<String> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
            .collect()
    }
}

/// GET of an address.
pub fn get(url: &str) -> Result<Response> {
    send("GET", url, &[], b"")
}

/// POST of a JSON value.
pub fn post(url: &str, body: &Value) -> Result<Response> {
    send("POST", url, &[("content-type", "application/json")], body.to_string().as_bytes())
}

/// One request on a connection of its own.
pub fn send(method: &str, url: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Response> {
    let rest = url.strip_prefix("http://").context("only http")?;
    let (host, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    let mut stream = TcpStream::connect(host).with_context(|| format!("cannot connect to {host}"))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut head =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_str(&format!("host: {host}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    // A server may refuse a large body before it has read the whole.
    let _ = stream.write_all(body);
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    if answer.is_empty() {
        read?;
    }
    parse(&answer)
}

fn parse(answer: &[u8]) -> Result<Response> {
    let at = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").context("no head in the answer")?;
    let head = String::from_utf8_lossy(&answer[..at]).into_owned();
    let status =
        head.split(' ').nth(1).and_then(|word| word.parse().ok()).context("no status in the answer")?;
    let body = &answer[at + 4..];
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunk(body)? } else { body.to_vec() };
    Ok(Response { status, head, body })
}

fn unchunk(mut bytes: &[u8]) -> Result<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let at = bytes.windows(2).position(|pair| pair == b"\r\n").context("a cut chunk")?;
        let size = usize::from_str_radix(String::from_utf8_lossy(&bytes[..at]).trim(), 16)?;
        if size == 0 {
            return Ok(whole);
        }
        whole.extend_from_slice(bytes.get(at + 2..at + 2 + size).context("a cut chunk")?);
        bytes = bytes.get(at + 4 + size..).context("a cut chunk")?;
    }
}
