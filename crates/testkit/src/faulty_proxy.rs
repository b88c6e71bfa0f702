//! A bad network: stands in front of an engine and answers as told.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

/// What happens to one request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// It goes to the engine and the answer comes back.
    Pass,
    /// It goes to the engine, but the answer is lost.
    PassAndLose,
    /// It goes to the engine, and the answer breaks off after so many bytes.
    PassAndCut(usize),
    /// It goes to the engine, and these bytes come instead of its answer.
    PassAndReplace(Vec<u8>),
    /// These bytes come instead of an answer, then the line closes.
    Raw(Vec<u8>),
    /// The request itself comes back as a page.
    Echo,
    /// The line closes without a byte.
    Close,
    /// Nothing comes for so long, then the line closes.
    Hang(Duration),
}

impl Reply {
    /// A whole answer with this status line's rest, content type and body.
    pub fn http(status: &str, kind: &str, body: &str) -> Self {
        Self::http_with(status, kind, "", body.as_bytes())
    }

    /// The engine does what it was asked, and this comes instead of its answer.
    #[must_use]
    pub fn after_the_engine(self) -> Self {
        match self {
            Self::Raw(bytes) => Self::PassAndReplace(bytes),
            other => other,
        }
    }

    /// The same with more header lines, each with its line end.
    pub fn http_with(status: &str, kind: &str, headers: &str, body: &[u8]) -> Self {
        let mut raw = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        )
        .into_bytes();
        raw.extend_from_slice(body);
        Self::Raw(raw)
    }
}

/// The proxy: what it is told to do comes first, later requests pass.
pub struct FaultyProxy {
    /// Its address, without a slash at its end.
    pub url: String,
    state: Arc<State>,
}

struct State {
    upstream: String,
    plan: Mutex<VecDeque<Reply>>,
    seen: Mutex<Vec<Value>>,
    closed: AtomicBool,
}

impl FaultyProxy {
    /// Stands in front of the engine at this address.
    pub fn start(upstream: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let state = Arc::new(State {
            upstream: upstream.trim_start_matches("http://").to_owned(),
            plan: Mutex::default(),
            seen: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.closed.load(Ordering::Relaxed) {
                    break;
                }
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(stream));
            }
        });
        Ok(Self { url, state })
    }

    /// What happens to the next requests, one reply each.
    pub fn plan(&self, replies: impl IntoIterator<Item = Reply>) {
        let mut plan = self.state.plan.lock().unwrap_or_else(PoisonError::into_inner);
        plan.clear();
        plan.extend(replies);
    }

    /// The requests that came, as JSON, oldest first.
    pub fn seen(&self) -> Vec<Value> {
        self.state.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many requests came.
    pub fn count(&self) -> usize {
        self.seen().len()
    }
}

impl Drop for FaultyProxy {
    fn drop(&mut self) {
        self.state.closed.store(true, Ordering::Relaxed);
        // Wakes the listener, so that its thread ends.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

impl State {
    /// One request a line; every answer closes it.
    fn serve(&self, mut stream: TcpStream) {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
        let Some(request) = read_request(&mut stream) else { return };
        let at = request.windows(4).position(|bytes| bytes == b"\r\n\r\n").map_or(request.len(), |at| at + 4);
        let body = serde_json::from_slice(&request[at..]).unwrap_or(Value::Null);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(body);
        let reply =
            self.plan.lock().unwrap_or_else(PoisonError::into_inner).pop_front().unwrap_or(Reply::Pass);
        match reply {
            Reply::Pass => {
                let _ = stream.write_all(&self.pass(&request));
            }
            Reply::PassAndLose => {
                self.pass(&request);
            }
            Reply::PassAndCut(most) => {
                let answer = self.pass(&request);
                let _ = stream.write_all(&answer[..most.min(answer.len())]);
            }
            Reply::PassAndReplace(bytes) => {
                self.pass(&request);
                let _ = stream.write_all(&bytes);
            }
            Reply::Raw(bytes) => {
                let _ = stream.write_all(&bytes);
            }
            Reply::Echo => {
                if let Reply::Raw(bytes) = Reply::http_with("200 OK", "text/plain", "", &request) {
                    let _ = stream.write_all(&bytes);
                }
            }
            Reply::Close => {}
            Reply::Hang(time) => thread::sleep(time),
        }
        let _ = stream.shutdown(Shutdown::Both);
    }

    /// The engine's whole answer.
    fn pass(&self, request: &[u8]) -> Vec<u8> {
        let mut answer = Vec::new();
        if let Ok(mut engine) = TcpStream::connect(&self.upstream) {
            let _ = engine.set_read_timeout(Some(Duration::from_secs(30)));
            if engine.write_all(&closing(request)).is_ok() {
                let _ = engine.read_to_end(&mut answer);
            }
        }
        answer
    }
}

/// The request with a wish to close the line behind the answer.
fn closing(request: &[u8]) -> Vec<u8> {
    let line = request.windows(2).position(|pair| pair == b"\r\n").map_or(0, |at| at + 2);
    let mut whole = request[..line].to_vec();
    whole.extend_from_slice(b"connection: close\r\n");
    whole.extend_from_slice(&request[line..]);
    whole
}

pub(crate) fn read_request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    let mut part = [0u8; 16 * 1024];
    loop {
        if let Some(at) = request.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..at]).to_ascii_lowercase();
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
            if request.len() >= at + 4 + length.unwrap_or(0usize) {
                return Some(request);
            }
        }
        match stream.read(&mut part) {
            Ok(count) if count > 0 => request.extend_from_slice(&part[..count]),
            _ => return None,
        }
    }
}
