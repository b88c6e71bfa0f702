//! A store's server that answers what a test wants, byte by byte where needed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What the server does with a request.
pub(crate) enum Reply {
    /// An envelope with HTTP 200.
    Json(Value),
    /// These bytes, whatever they are; then the line is closed.
    Raw(Vec<u8>),
    /// Nothing, for ever.
    Silence,
}

impl Reply {
    /// A done command.
    pub(crate) fn done(data: Value) -> Self {
        Self::Json(json!({"ok": true, "ms": 1, "data": data}))
    }

    /// A refused command.
    pub(crate) fn refused(refusal: &wire::Refusal) -> Self {
        Self::Json(json!({"ok": false, "ms": 1, "error": refusal.head(), "refusal": refusal.name()}))
    }

    /// An answer of HTTP with a length.
    pub(crate) fn http(status: &str, headers: &str, body: &[u8]) -> Self {
        let mut bytes =
            format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len()).into_bytes();
        bytes.extend_from_slice(body);
        Self::Raw(bytes)
    }
}

type Answer = dyn Fn(&Value) -> Reply + Send + Sync;

/// The server. It stops with the test's runtime.
pub(crate) struct Engine {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Value>>>,
    answer: Arc<Mutex<Arc<Answer>>>,
    lines: Arc<AtomicUsize>,
    door: JoinHandle<()>,
}

impl Engine {
    /// Signs everyone in and answers `{}` to everything else.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let answer: Arc<Mutex<Arc<Answer>>> = Arc::new(Mutex::new(Arc::new(|_| Reply::done(json!({})))));
        let lines = Arc::new(AtomicUsize::new(0));
        let door = open(listener, &seen, &answer, &lines);
        Self { url, seen, answer, lines, door }
    }

    /// Answers everything but sign-ins so from now on.
    pub(crate) fn answers(&self, answer: impl Fn(&Value) -> Reply + Send + Sync + 'static) {
        self.answers_all(move |request| {
            if request["command"] == "AGENT_SESSION_CONNECT" {
                Reply::done(signed_in())
            } else {
                answer(request)
            }
        });
    }

    /// Answers everything so from now on, sign-ins too.
    pub(crate) fn answers_all(&self, answer: impl Fn(&Value) -> Reply + Send + Sync + 'static) {
        *self.answer.lock().unwrap() = Arc::new(answer);
    }

    /// Lets nobody in any more; lines that stand go on.
    pub(crate) fn shut(&self) {
        self.door.abort();
    }

    /// Lets people in again at the same address.
    pub(crate) async fn reopen(&mut self) {
        let listener = TcpListener::bind(self.url.trim_start_matches("http://")).await.unwrap();
        self.door = open(listener, &self.seen, &self.answer, &self.lines);
    }

    /// Lines that were opened so far.
    pub(crate) fn lines(&self) -> usize {
        self.lines.load(Ordering::SeqCst)
    }

    /// Requests of this command so far.
    pub(crate) fn seen(&self, command: &str) -> Vec<Value> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|request| request["command"] == command).cloned().collect()
    }
}

fn open(
    listener: TcpListener,
    seen: &Arc<Mutex<Vec<Value>>>,
    answer: &Arc<Mutex<Arc<Answer>>>,
    lines: &Arc<AtomicUsize>,
) -> JoinHandle<()> {
    let (seen, answer, lines) = (Arc::clone(seen), Arc::clone(answer), Arc::clone(lines));
    tokio::spawn(async move {
        while let Ok((line, _)) = listener.accept().await {
            lines.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(serve(line, Arc::clone(&seen), Arc::clone(&answer)));
        }
    })
}

async fn serve(mut line: TcpStream, seen: Arc<Mutex<Vec<Value>>>, answer: Arc<Mutex<Arc<Answer>>>) {
    let mut input = Vec::new();
    while let Some(request) = request(&mut line, &mut input).await {
        seen.lock().unwrap().push(request.clone());
        let answer = Arc::clone(&answer.lock().unwrap());
        match answer(&request) {
            Reply::Json(envelope) => {
                let body = envelope.to_string();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                let _ = line.write_all(format!("{head}{body}").as_bytes()).await;
            }
            Reply::Raw(bytes) => {
                let _ = line.write_all(&bytes).await;
                let _ = line.shutdown().await;
                return;
            }
            Reply::Silence => std::future::pending::<()>().await,
        }
    }
}

/// One request's JSON; null for a request without a body.
async fn request(line: &mut TcpStream, input: &mut Vec<u8>) -> Option<Value> {
    loop {
        if let Some(end) = input.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&input[..end]).to_ascii_lowercase();
            let length =
                head.lines().find_map(|header| header.strip_prefix("content-length: ")?.parse().ok());
            let whole = end + 4 + length.unwrap_or(0_usize);
            if input.len() >= whole {
                let body = serde_json::from_slice(&input[end + 4..whole]).unwrap_or_default();
                input.drain(..whole);
                return Some(body);
            }
        }
        if line.read_buf(input).await.ok()? == 0 {
            return None;
        }
    }
}

/// What an engine tells at sign-in.
pub(crate) fn signed_in() -> Value {
    json!({
        "ticket": "ticket-1",
        "licensed": false,
        "language": "en",
        "user": {"id": 5, "login": "irina", "name": "Irina", "options": {"LANG": "ru"}},
        "group": {"id": 2, "skey": "MANAGER", "name": "Managers", "options": {}},
        "princ": null,
        "event": null,
        "demo": false,
        "memory": {"notes": 3, "critical": []},
        "tools": 16,
        "tasks": {"waiting": [{"state": "kNew", "name": "New", "count": 2}], "given": []},
        "rights": {
            "granted": [
                "AGENT_MEMORY_LIST", "AGENT_MEMORY_LOAD", "AGENT_MEMORY_SAVE", "AGENT_MEMORY_REMOVE",
                "AGENT_REPO_LIST", "AGENT_ENGINE_DB_LOCKS"
            ],
            "closed": [
                {"command": "AGENT_ENGINE_DB_UNLOCKS", "path": "AI Assistant -> Direct access -> Database -> Release"}
            ],
            "components_path": "AI components -> Tools"
        }
    })
}

/// What an engine answers to `memory_list`.
pub(crate) fn no_notes() -> Value {
    json!({
        "notes": {"columns": ["id", "name", "kind_key", "level", "group", "category", "info", "size", "edit_time"], "rows": []},
        "locks": {"columns": ["table"], "rows": []},
    })
}
