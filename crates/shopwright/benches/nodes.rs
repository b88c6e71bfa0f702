//! One node against two: `TEST_DATABASE_URL=postgres://… cargo bench -p shopwright --bench nodes [-- SECONDS]`.
//!
//! Real `shopwright serve` processes on one PostgreSQL database of their own, and clients on kept lines, each
//! with a note of its own, dealt out over the nodes. Prints a table for `docs/performance.md`: what one more
//! node brings depends on how many cores the nodes, the database and the clients share. `BENCH_NODE_CORES=0.2`
//! gives each node so much of a core and no more, as if it had a small machine of its own (Linux, as root).
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers, which may stop at the first thing that is wrong"
)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Engine, Fixture, TestStore};

const CLIENTS: [usize; 3] = [1, 8, 32];
/// Every write is one of its own.
static KEYS: AtomicU64 = AtomicU64::new(0);

fn main() {
    let fixture = Fixture::postgres(
        env!("CARGO_BIN_EXE_shopwright"),
        concat!(env!("CARGO_TARGET_TMPDIR"), "/bench-nodes"),
    );
    let Some(fixture) = fixture else {
        println!("TEST_DATABASE_URL names no PostgreSQL server");
        return;
    };
    let seconds = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(5);
    let length = Duration::from_secs(seconds);
    println!("{} cores", std::thread::available_parallelism().map_or(0, usize::from));
    println!("| nodes | call | clients | calls a second | median, ms | p99, ms |");
    println!("|---|---|---|---|---|---|");
    for count in [1, 2] {
        let store = TestStore::new(&fixture).unwrap();
        let nodes: Vec<Engine> = (0..count).map(|_| store.serve(0).unwrap()).collect();
        let _shares: Vec<Share> = nodes.iter().filter_map(|node| Share::of(node.running.pid())).collect();
        let password = store.people().unwrap()["admin"].clone();
        let ports: Vec<u16> = nodes.iter().map(|node| node.port).collect();
        let mut line = Line::open(ports[0]);
        let sign_in = json!({"login": "admin", "password": password});
        let ticket = line.ask("AGENT_SESSION_CONNECT", &Value::Null, &sign_in)["ticket"].clone();
        let mut note = |number| {
            let params = json!({"name": format!("bench {number}"), "body": "<p>0</p>"});
            line.ask("AGENT_MEMORY_SAVE", &ticket, &params)["id"].clone()
        };
        let notes: Vec<Value> = (0..CLIENTS[CLIENTS.len() - 1]).map(&mut note).collect();
        for (call, command) in
            [("one row read", "AGENT_MEMORY_LOAD"), ("one row written", "AGENT_MEMORY_SAVE")]
        {
            for clients in CLIENTS {
                let took = measure(&ports, &ticket, command, &notes[..clients], length);
                let (rate, median, p99) = figures(took, length);
                println!("| {count} | {call} | {clients} | {rate:.0} | {median:.2} | {p99:.2} |");
            }
        }
    }
}

/// A control group that gives a process a share of a core.
struct Share(PathBuf);

impl Share {
    /// The share that `BENCH_NODE_CORES` names.
    fn of(pid: u32) -> Option<Self> {
        let cores: f64 = std::env::var("BENCH_NODE_CORES").ok()?.parse().unwrap();
        let quota = (cores * 100_000.0).round();
        let (top, file, text) = match Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
            true => ("/sys/fs/cgroup", "cpu.max", format!("{quota} 100000")),
            false => ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", quota.to_string()),
        };
        let group = Path::new(top).join(format!("shopwright-bench-{pid}"));
        std::fs::create_dir(&group).unwrap();
        let share = Self(group);
        std::fs::write(share.0.join(file), text).unwrap();
        std::fs::write(share.0.join("cgroup.procs"), pid.to_string()).unwrap();
        Some(share)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // A group that still has its process stays until the machine starts anew.
        let top = self.0.with_file_name("cgroup.procs");
        let left = std::fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
        left.lines().for_each(|pid| drop(std::fs::write(&top, pid)));
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// How long each call of all clients took.
fn measure(ports: &[u16], ticket: &Value, command: &str, notes: &[Value], length: Duration) -> Vec<Duration> {
    let client = |number: usize| {
        let mut line = Line::open(ports[number % ports.len()]);
        let mut took = Vec::new();
        let since = Instant::now();
        for round in 0.. {
            let params = if command == "AGENT_MEMORY_LOAD" {
                json!({"ids": [notes[number]]})
            } else {
                json!({"id": notes[number], "body": format!("<p>{round}</p>")})
            };
            let began = Instant::now();
            line.ask(command, ticket, &params);
            took.push(began.elapsed());
            if since.elapsed() > length {
                break;
            }
        }
        took
    };
    std::thread::scope(|scope| {
        let client = &client;
        let clients: Vec<_> = (0..notes.len()).map(|number| scope.spawn(move || client(number))).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

fn figures(mut took: Vec<Duration>, length: Duration) -> (f64, f64, f64) {
    took.sort();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    (took.len() as f64 / length.as_secs_f64(), at(0.5), at(0.99))
}

/// A kept line to a node.
struct Line {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Line {
    fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, read: Vec::new() }
    }

    /// The data of an answer; a refusal ends the measurement.
    fn ask(&mut self, command: &str, ticket: &Value, params: &Value) -> Value {
        let time = jiff::Timestamp::now().to_string();
        let mut request = json!({"command": command, "params": params, "build": wire::BUILD, "time": time});
        if !ticket.is_null() {
            request["session"] = ticket.clone();
        }
        if command == "AGENT_MEMORY_SAVE" {
            let number = KEYS.fetch_add(1, Ordering::Relaxed);
            request["key"] = json!(format!("00000000-0000-4000-8000-{number:012x}"));
        }
        let body = request.to_string();
        let head =
            format!("POST /core/mcp.php HTTP/1.1\r\nhost: bench\r\ncontent-length: {}\r\n\r\n", body.len());
        self.stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
        let answer: Value = serde_json::from_slice(&self.answer()).unwrap();
        assert_eq!(answer["ok"], json!(true), "{answer}");
        answer["data"].clone()
    }

    fn answer(&mut self) -> Vec<u8> {
        self.read.clear();
        let mut part = [0; 16 * 1024];
        loop {
            let count = self.stream.read(&mut part).unwrap();
            assert!(count > 0, "the node closed the line");
            self.read.extend_from_slice(&part[..count]);
            let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
            let head = String::from_utf8_lossy(&self.read[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let whole = end + 4 + length.parse::<usize>().unwrap();
            if self.read.len() >= whole {
                return self.read[end + 4..whole].to_vec();
            }
        }
    }
}
