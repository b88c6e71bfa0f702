//! What a session costs: `cargo bench -p shopwright --bench sessions`.
//!
//! Starts the real engine, program and MCP server, and, where
//! `bench/peers/install` has put them, echo servers on the TypeScript and the
//! Python SDK, and drives all of them in the same way over pipes. Prints the
//! tables of `docs/performance.md`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program for developers, which may stop at the first thing that is wrong"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const OURS: &str = env!("CARGO_BIN_EXE_shopwright");
const ROUNDS: usize = 7;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let shop = TryStore::start(folder.path());
    println!("| server | start to first answer, ms | call, µs | p99, µs | memory, MB |");
    println!("|---|---|---|---|---|");
    for peer in peers(&shop) {
        peer.measure();
    }
    println!();
    shop.measure();
}

/// A server to measure: how to start it, and a cheap call.
struct Peer {
    name: &'static str,
    command: Vec<String>,
    env: Vec<(String, String)>,
    call: Value,
}

fn peers(shop: &TryStore) -> Vec<Peer> {
    let echo = json!({"name": "echo", "arguments": {"text": "hello"}});
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench-peers");
    let installed = std::env::var_os("BENCH_PEERS").map_or(installed, PathBuf::from);
    let mut peers = vec![shop.peer()];
    let candidates = [
        ("TypeScript SDK 1.32, echo", "node".to_owned(), installed.join("echo.mjs")),
        (
            "Python SDK 1.30, echo",
            installed.join("venv/bin/python").display().to_string(),
            installed.join("echo.py"),
        ),
    ];
    for (name, program, script) in candidates {
        if script.exists() {
            let command = vec![program, script.display().to_string()];
            peers.push(Peer { name, command, env: Vec::new(), call: echo.clone() });
        } else {
            println!("({name}: not installed, see bench/peers/install)");
        }
    }
    peers
}

impl Peer {
    fn measure(&self) {
        let mut starts = Vec::new();
        let mut calls = Vec::new();
        let mut memory = 0;
        for _ in 0..ROUNDS {
            let begin = Instant::now();
            let mut server = Server::start(&self.command, &self.env);
            server.initialize("bench");
            starts.push(begin.elapsed());
            for _ in 0..50 {
                server.call(&self.call);
            }
            for _ in 0..1000 {
                calls.push(timed(|| server.call(&self.call)).0);
            }
            memory = memory.max(server.memory_kib());
        }
        println!(
            "| {} | {:.1} | {:.0} | {:.0} | {:.1} |",
            self.name,
            micros(median(&mut starts)) / 1000.0,
            micros(median(&mut calls)),
            micros(percentile(&mut calls, 99)),
            memory as f64 / 1024.0,
        );
    }
}

/// A running MCP server on pipes.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    id: u64,
}

impl Server {
    fn start(command: &[String], env: &[(String, String)]) -> Self {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .envs(env.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("start a server");
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout, id: 0 }
    }

    fn request(&mut self, method: &str, params: &Value) -> (Value, usize) {
        self.id += 1;
        let line =
            json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}).to_string() + "\n";
        self.stdin.write_all(line.as_bytes()).unwrap();
        loop {
            let mut answer = String::new();
            assert!(self.stdout.read_line(&mut answer).unwrap() > 0, "the server ended");
            let value: Value = serde_json::from_str(&answer).unwrap();
            if value["id"] == self.id {
                assert!(value["error"].is_null(), "{value}");
                return (value["result"].clone(), answer.len());
            }
        }
    }

    fn initialize(&mut self, client: &str) {
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": client, "version": "1"}});
        self.request("initialize", &params);
        self.stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").unwrap();
    }

    fn call(&mut self, call: &Value) -> Value {
        let (result, _) = self.request("tools/call", call);
        assert_ne!(result["isError"], true, "{result}");
        result
    }

    fn memory_kib(&self) -> u64 {
        status_kib(self.child.id(), "VmRSS:")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A sample store that runs.
struct TryStore {
    child: Child,
    config: Value,
    ready: Duration,
    /// Resident memory when it was ready, in KiB.
    idle: u64,
}

impl TryStore {
    fn start(folder: &Path) -> Self {
        let begin = Instant::now();
        let child = Command::new(OURS)
            .args(["try", &folder.display().to_string(), "--port", "0"])
            .env_remove("SHOPWRIGHT_HOME")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut store = Self { child, config: Value::Null, ready: Duration::ZERO, idle: 0 };
        loop {
            assert!(begin.elapsed() < Duration::from_secs(30), "the sample store does not start");
            if let Ok(text) = std::fs::read_to_string(folder.join("try.json")) {
                store.config = serde_json::from_str(&text).unwrap();
                store.ready = begin.elapsed();
                store.idle = status_kib(store.child.id(), "VmRSS:");
                return store;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn peer(&self) -> Peer {
        let mcp = &self.config["mcp"];
        let mut command = vec![mcp["command"].as_str().unwrap().to_owned()];
        command.extend(mcp["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap().to_owned()));
        let env = mcp["env"].as_object().unwrap();
        let env = env.iter().map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned())).collect();
        Peer {
            name: "Shopwright, `session_init`",
            command,
            env,
            call: json!({"name": "session_init", "arguments": {}}),
        }
    }

    /// Measures while the store asks nobody for a password.
    fn in_demo_mode<T>(&self, measure: impl FnOnce() -> T) -> T {
        let marker = Path::new(self.config["root"].as_str().unwrap()).join("admin.here");
        std::fs::write(&marker, "").unwrap();
        let measured = measure();
        std::fs::remove_file(&marker).unwrap();
        measured
    }

    fn measure(&self) {
        let peer = self.peer();
        let mut server = Server::start(&peer.command, &peer.env);
        server.initialize("bench");
        let (_, bytes) = server.request("tools/list", &json!({}));
        let mut lists = times(200, || server.request("tools/list", &json!({})));
        let connect = json!({"name": "session_connect", "arguments": {"topic": "bench"}});
        server.call(&connect);
        let mut connects = times(30, || server.call(&connect));
        read_critical_notes(&mut server);
        let list = json!({"name": "memory_list", "arguments": {}});
        let mut reads = times(3000, || server.call(&list));
        let save = json!({"name": "memory_save", "arguments": {"name": "bench", "body": "<p>bench</p>"}});
        let mut writes = times(300, || server.call(&save));
        accept_rules(&mut server, &json!({"name": "tool_list", "arguments": {}}));
        let run = |command: &str, params: Value| {
            let arguments = json!({"unit": "PRICES", "command": command, "params": params});
            json!({"name": "tool_run", "arguments": arguments})
        };
        let mut price = 1000;
        let read = run("CmdList", json!({"product": 1}));
        let mut tool_reads = times(500, || server.call(&read));
        let mut tool_writes = times(300, || {
            price += 1;
            server.call(&run("CmdSet", json!({"variant": 1, "price": format!("{price}.00")})))
        });
        let step = json!({"unit": "PRICES", "command": "CmdList", "params": {"product": 1}});
        let pool = json!({"name": "tool_pool", "arguments": {"pool": vec![step; 1000]}});
        let mut pools = times(5, || server.call(&pool));
        let mut unhashed = self.in_demo_mode(|| times(100, || server.call(&connect)));

        println!("| what | median | p99 |");
        println!("|---|---|---|");
        row("`tools/list`", &mut lists);
        row("`session_connect` (with the password's hash)", &mut connects);
        row("`session_connect` in demo mode, which computes no hash", &mut unhashed);
        row("`memory_list` over loopback", &mut reads);
        row("`memory_save` over loopback, on disk when answered", &mut writes);
        row("`tool_run` that reads the prices of a product", &mut tool_reads);
        row("`tool_run` that sets a price, on disk when answered", &mut tool_writes);
        row("`tool_pool` of 1,000 commands that read prices, whole", &mut pools);
        println!();
        println!("| what | figure |");
        println!("|---|---|");
        println!("| `try`, from start to ready, new store | {} ms |", self.ready.as_millis());
        println!("| `tools/list`, bytes of the answer | {bytes} |");
        println!("| MCP server after all this, resident | {:.1} MB |", server.memory_kib() as f64 / 1024.0);
        let idle = self.idle as f64 / 1024.0;
        println!("| engine and program in one process when ready, resident | {idle:.1} MB |");
        let resident = status_kib(self.child.id(), "VmRSS:") as f64 / 1024.0;
        println!("| engine and program in one process after all this, resident | {resident:.1} MB |");
    }
}

impl Drop for TryStore {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_critical_notes(server: &mut Server) {
    let list = server.call(&json!({"name": "memory_list", "arguments": {}}));
    let ids: Vec<Value> = list["structuredContent"]["notes"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row[2] == "kCritical")
        .map(|row| row[0].clone())
        .collect();
    server.call(&json!({"name": "memory_load", "arguments": {"ids": ids}}));
}

/// Accepts the rules that a call asks for.
fn accept_rules(server: &mut Server, call: &Value) {
    let (asked, _) = server.request("tools/call", call);
    let text = asked["content"][0]["text"].as_str().unwrap_or_default();
    let Some((_, rest)) = text.split_once("and code `") else { return };
    let code = rest.split('`').next().unwrap();
    let accept = json!({"tool": call["name"], "code": code});
    server.call(&json!({"name": "session_rules_accept", "arguments": accept}));
}

fn row(name: &str, times: &mut [Duration]) {
    println!("| {name} | {:.0} µs | {:.0} µs |", micros(median(times)), micros(percentile(times, 99)));
}

fn times<T>(count: usize, mut call: impl FnMut() -> T) -> Vec<Duration> {
    (0..count).map(|_| timed(&mut call).0).collect()
}

fn timed<T>(call: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let result = call();
    (begin.elapsed(), result)
}

fn median(times: &mut [Duration]) -> Duration {
    percentile(times, 50)
}

fn percentile(times: &mut [Duration], per_cent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * per_cent / 100).min(times.len() - 1)]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn status_kib(pid: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or(0)
}
