//! A caller of the engine: builds a request as the MCP server does and reads what comes back, byte by byte.

use std::net::Ipv4Addr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use wire::Request;

use crate::test_store::{NOON, PASSWORD, TestStore};

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The envelope's data or error.
    pub(crate) fn result(&self) -> Result<Value, String> {
        assert_eq!(
            (self.status, self.header("content-type")),
            (200, Some("application/json")),
            "{}",
            self.text()
        );
        let envelope: Value = serde_json::from_slice(&self.body).unwrap();
        assert!(envelope["ms"].is_u64(), "{envelope}");
        if envelope["ok"] == json!(true) {
            Ok(envelope["data"].clone())
        } else {
            Err(envelope["error"].as_str().unwrap().to_owned())
        }
    }
}

/// A request to an engine; its fields are what tests spoil.
#[derive(Clone, Debug)]
pub(crate) struct TestRequest {
    pub(crate) path: &'static str,
    pub(crate) body: Value,
    pub(crate) from: Ipv4Addr,
    pub(crate) host: String,
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl TestRequest {
    pub(crate) fn new(command: &str) -> Self {
        let program = command.starts_with("PROGRAM_");
        Self {
            path: if program { "/core/program.php" } else { "/core/mcp.php" },
            body: json!({"command": command, "params": {}, "build": wire::BUILD, "time": NOON}),
            from: Ipv4Addr::LOCALHOST,
            host: "shop.example.com".to_owned(),
            headers: Vec::new(),
        }
    }

    /// A call of a tool.
    pub(crate) fn tool(name: &str, params: Value) -> Self {
        let tool = tools::find(name).unwrap();
        Self::new(tool.command().unwrap()).with("tool", name).with("params", params)
    }

    pub(crate) fn sign_in(login: &str, password: &str) -> Self {
        Self::new(Request::SIGN_IN).with("params", json!({"login": login, "password": password}))
    }

    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.body[field] = value.into();
        self
    }

    pub(crate) fn from(mut self, last: u8) -> Self {
        self.from = Ipv4Addr::new(127, 0, 0, last);
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The request; a call that writes has a new key each time unless it names one.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut body = self.body.clone();
        let tool = body["tool"].as_str().and_then(tools::find);
        if tool.is_some_and(|tool| tool.effect != tools::Effect::Reads) && body.get("key").is_none() {
            body["key"] = uuid::Uuid::new_v4().to_string().into();
        }
        let body = body.to_string();
        let mut head = format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            self.path,
            self.host,
            body.len()
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        [head.as_bytes(), b"\r\n", body.as_bytes()].concat()
    }

    pub(crate) async fn send(&self, store: &TestStore) -> Answer {
        Line::open(store, self.from).await.send(&self.bytes()).await
    }

    pub(crate) async fn result(&self, store: &TestStore) -> Result<Value, String> {
        self.send(store).await.result()
    }

    /// What another node answers.
    pub(crate) async fn result_at(&self, node: &engine::Running) -> Result<Value, String> {
        let mut line = Line::to(("127.0.0.1", node.address().port())).await;
        self.result_on(&mut line).await
    }

    pub(crate) async fn result_on(&self, line: &mut Line) -> Result<Value, String> {
        line.send(&self.bytes()).await.result()
    }
}

/// A kept connection.
pub(crate) struct Line {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Line {
    pub(crate) async fn open(store: &TestStore, from: Ipv4Addr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        let stream = socket.connect((Ipv4Addr::LOCALHOST, store.port()).into()).await.unwrap();
        Self { stream, read: Vec::new() }
    }

    pub(crate) async fn to(address: (&str, u16)) -> Self {
        Self { stream: TcpStream::connect(address).await.unwrap(), read: Vec::new() }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Answer {
        self.write(bytes).await;
        self.answer().await
    }

    /// The answer of an engine that may be killed meanwhile; `None` where it was.
    pub(crate) async fn try_send(&mut self, bytes: &[u8]) -> Option<Answer> {
        self.stream.write_all(bytes).await.ok()?;
        // All but the last read of a whole answer ends within it: half of one counts as none.
        while !self.has_answer() {
            match self.stream.read_buf(&mut self.read).await {
                Ok(got) if got > 0 => {}
                _ => return None,
            }
        }
        Some(self.answer().await)
    }

    /// Whether a whole answer with a known length has come.
    fn has_answer(&self) -> bool {
        let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
        let head = String::from_utf8_lossy(&self.read[..end]).to_ascii_lowercase();
        match head.lines().find_map(|line| line.strip_prefix("content-length: ")) {
            Some(length) => self.read.len() >= end + 4 + length.trim().parse::<usize>().unwrap(),
            None => self.read.ends_with(b"0\r\n\r\n"),
        }
    }

    async fn fill(&mut self) {
        let got = self.stream.read_buf(&mut self.read).await.unwrap();
        assert!(got > 0, "the line ended early: {:?}", String::from_utf8_lossy(&self.read));
    }

    pub(crate) async fn answer(&mut self) -> Answer {
        let end = loop {
            match self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                Some(at) => break at,
                None => self.fill().await,
            }
        };
        let head = String::from_utf8(self.read.drain(..end + 4).collect()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let mut answer = Answer { status, headers, body: Vec::new() };
        answer.body = match answer.header("content-length") {
            Some(length) => self.take(length.parse().unwrap()).await,
            None if answer.header("transfer-encoding") == Some("chunked") => self.chunks().await,
            None => Vec::new(),
        };
        answer
    }

    async fn take(&mut self, length: usize) -> Vec<u8> {
        while self.read.len() < length {
            self.fill().await;
        }
        self.read.drain(..length).collect()
    }

    async fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let end = loop {
                match self.read.windows(2).position(|two| two == b"\r\n") {
                    Some(at) => break at,
                    None => self.fill().await,
                }
            };
            let size: Vec<u8> = self.read.drain(..end + 2).collect();
            let size = usize::from_str_radix(std::str::from_utf8(&size[..end]).unwrap(), 16).unwrap();
            body.extend(self.take(size).await);
            self.take(2).await;
            if size == 0 {
                return body;
            }
        }
    }
}

/// Raw bytes to a fresh line.
pub(crate) async fn raw(store: &TestStore, bytes: &[u8]) -> Answer {
    Line::open(store, Ipv4Addr::LOCALHOST).await.send(bytes).await
}

/// Looks at a page.
pub(crate) async fn get(store: &TestStore, path: &str, headers: &str) -> Answer {
    raw(store, format!("GET {path} HTTP/1.1\r\nhost: shop.example.com\r\n{headers}\r\n").as_bytes()).await
}

/// Signs in; the answer is what the session knows.
pub(crate) async fn signed_in(store: &TestStore, login: &str) -> Value {
    TestRequest::sign_in(login, PASSWORD).result(store).await.unwrap()
}

/// Signs in; the answer is the ticket.
pub(crate) async fn ticket(store: &TestStore, login: &str) -> String {
    signed_in(store, login).await["ticket"].as_str().unwrap().to_owned()
}

/// Runs all at once.
pub(crate) async fn all<F: Future + Send>(work: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut work: Vec<_> = work.map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = work.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        let mut waits = false;
        for (work, done) in work.iter_mut().zip(&mut done) {
            if done.is_none() {
                match work.as_mut().poll(cx) {
                    std::task::Poll::Ready(output) => *done = Some(output),
                    std::task::Poll::Pending => waits = true,
                }
            }
        }
        if waits { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
    done.into_iter().flatten().collect()
}
