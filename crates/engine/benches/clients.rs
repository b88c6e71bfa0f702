//! The engine under many clients at once: `cargo bench -p engine --bench clients [-- CLIENTS SECONDS]`.
//!
//! Engine and clients share one process and its cores. With `BENCH_DATABASE_URL`
//! the store lies on that PostgreSQL database, which must be empty; else on SQLite.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement prints, and stops at what it did not expect"
)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::store::{self, InitOptions};
use engine::{Engine, Options};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wire::Request;
use zeroize::Zeroizing;

const PASSWORD: &str = "correct horse";
/// Notes that a list answers with.
const NOTES: usize = 20;
/// How often one call after the other is measured.
const ROUNDS: usize = 500;

/// Stands for the key of a request until it is sent.
const KEY: &str = "00000000-0000-4000-8000-000000000000";

/// A kept connection.
struct Line {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Line {
    async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, read: Vec::with_capacity(1 << 16) }
    }

    /// Posts bytes, under a new key each time; the body of the answer.
    async fn post(&mut self, request: &[u8]) -> Vec<u8> {
        let mut request = request.to_vec();
        if let Some(at) = request.windows(KEY.len()).position(|part| part == KEY.as_bytes()) {
            let key = uuid::Uuid::new_v4().to_string();
            request[at..at + KEY.len()].copy_from_slice(key.as_bytes());
        }
        self.stream.write_all(&request).await.unwrap();
        self.read.clear();
        loop {
            if let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&self.read[..end]).to_ascii_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                let whole = end + 4 + length.parse::<usize>().unwrap();
                while self.read.len() < whole {
                    assert!(self.stream.read_buf(&mut self.read).await.unwrap() > 0);
                }
                return self.read[end + 4..whole].to_vec();
            }
            assert!(self.stream.read_buf(&mut self.read).await.unwrap() > 0);
        }
    }
}

fn request(command: &str, tool: Option<&str>, params: Value, ticket: Option<&str>) -> Vec<u8> {
    let body = json!({"command": command, "tool": tool, "params": params, "build": wire::BUILD,
        "session": ticket, "key": KEY});
    let body = body.to_string();
    let head =
        format!("POST /core/mcp.php HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body.as_bytes()].concat()
}

fn data(body: &[u8]) -> Value {
    let mut envelope: Value = serde_json::from_slice(body).unwrap();
    assert_eq!(envelope["ok"], json!(true), "{envelope}");
    envelope["data"].take()
}

fn tell(what: &str, mut times: Vec<Duration>, wall: Duration) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    let rate = times.len() as f64 / wall.as_secs_f64();
    println!("{what:<42} {rate:>9.0}/s   median {:>8.3} ms   p99 {:>8.3} ms", at(0.5), at(0.99));
}

/// One call after the other on one line.
async fn in_a_row(what: &str, address: SocketAddr, rounds: usize, request: &[u8]) {
    let mut line = Line::open(address).await;
    let mut times = Vec::with_capacity(rounds);
    let started = Instant::now();
    for _ in 0..rounds {
        let asked = Instant::now();
        data(&line.post(request).await);
        times.push(asked.elapsed());
    }
    tell(what, times, started.elapsed());
}

/// Many lines at once, each one call after the other.
async fn at_once(what: &str, address: SocketAddr, clients: usize, time: Duration, request: Vec<u8>) {
    let request = Arc::new(request);
    let started = Instant::now();
    let work: Vec<_> = (0..clients)
        .map(|_| {
            let request = Arc::clone(&request);
            tokio::spawn(async move {
                let mut line = Line::open(address).await;
                let mut times = Vec::new();
                while started.elapsed() < time {
                    let asked = Instant::now();
                    let body = line.post(&request).await;
                    times.push(asked.elapsed());
                    assert!(body.starts_with(b"{\"ok\":true"), "{}", String::from_utf8_lossy(&body));
                }
                times
            })
        })
        .collect();
    let mut times = Vec::new();
    for client in work {
        times.extend(client.await.unwrap());
    }
    tell(what, times, started.elapsed());
}

/// Signing in, and what of it is not the hash of the password.
async fn signing_in(address: SocketAddr, rounds: usize) {
    let params = json!({"login": "admin", "password": PASSWORD});
    in_a_row("sign-in", address, rounds, &request(Request::SIGN_IN, None, params, None)).await;
    let mut times = Vec::new();
    let started = Instant::now();
    for _ in 0..rounds {
        let asked = Instant::now();
        tokio::task::spawn_blocking(|| store::hash_password(PASSWORD).unwrap()).await.unwrap();
        times.push(asked.elapsed());
    }
    tell("  the hash alone", times, started.elapsed());
}

#[tokio::main]
async fn main() {
    let numbers: Vec<u64> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let clients = numbers.first().map_or(64, |number| *number as usize);
    let time = Duration::from_secs(numbers.get(1).copied().unwrap_or(5));
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("server");
    let made = root.clone();
    let options =
        InitOptions { admin_password: Zeroizing::new(PASSWORD.to_owned()), ..InitOptions::default() };
    let database = std::env::var("BENCH_DATABASE_URL").unwrap_or(options.database.clone());
    println!(
        "{clients} clients, {} s each, {}",
        time.as_secs(),
        database.split(':').next().unwrap_or_default()
    );
    let options = InitOptions { database, ..options };
    tokio::task::spawn_blocking(move || store::init(&made, &options).unwrap()).await.unwrap();
    let listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let running = Engine::start(root, Options { listen, ..Options::default() }).await.unwrap();
    let address = running.address();

    let params = json!({"login": "admin", "password": PASSWORD});
    let mut line = Line::open(address).await;
    let signed = data(&line.post(&request(Request::SIGN_IN, None, params, None)).await);
    let ticket = signed["ticket"].as_str();
    let save = request(
        "AGENT_MEMORY_SAVE",
        Some("memory_save"),
        json!({"name": "A note", "body": "<p>Words</p>"}),
        ticket,
    );
    for _ in 0..NOTES {
        data(&line.post(&save).await);
    }
    let list = request("AGENT_MEMORY_LIST", Some("memory_list"), json!({}), ticket);
    in_a_row("memory_list, one client", address, ROUNDS, &list).await;
    at_once(&format!("memory_list, {clients} clients"), address, clients, time, list).await;
    let refused = request("AGENT_MEMORY_LIST", Some("memory_list"), json!({}), Some("unknown"));
    let started = Instant::now();
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let asked = Instant::now();
        line.post(&refused).await;
        times.push(asked.elapsed());
    }
    tell("refused at the gate, one client", times, started.elapsed());
    in_a_row("memory_save, one client", address, ROUNDS, &save).await;
    at_once(&format!("memory_save, {clients} clients"), address, clients, time, save).await;
    signing_in(address, 30).await;
    running.stop().await;
}
