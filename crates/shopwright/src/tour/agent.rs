//! A small agent application: starts the MCP server and speaks JSON-RPC with it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::try_store::Launch;

/// How long the server may take over an answer: longer than it waits for the store itself.
const PATIENCE: Duration = Duration::from_secs(90);
/// How long it may take to end by itself.
const LAST: Duration = Duration::from_secs(5);

/// The agent application with its server.
pub(super) struct Agent {
    child: Child,
    to: Option<ChildStdin>,
    lines: Receiver<std::io::Result<String>>,
    patience: Duration,
    next_id: u64,
    granted: Vec<String>,
}

/// What a tool answered.
pub(super) struct Answer {
    /// Refused.
    pub(super) refused: bool,
    /// The data block, null without one.
    pub(super) data: Value,
    /// The other blocks.
    pub(super) texts: Vec<String>,
}

impl Answer {
    /// The code that a refusal for want of rules names.
    pub(super) fn code(&self) -> Option<String> {
        let (_, after) = self.texts.first()?.split_once("and code `")?;
        after.split('`').next().map(str::to_owned)
    }
}

impl Agent {
    /// Starts the server as `try.json` tells it.
    pub(super) fn start(launch: &Launch, folder: &Path) -> Result<Self> {
        let mut child = Command::new(&launch.command)
            .args(&launch.args)
            .envs(&launch.env)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", launch.command))?;
        let to = child.stdin.take();
        let lines = lines(child.stdout.take().context("no stdout")?);
        Ok(Self { child, to, lines, patience: PATIENCE, next_id: 0, granted: Vec::new() })
    }

    /// The handshake.
    pub(super) fn initialize(&mut self) -> Result<Value> {
        let about = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "shopwright-tour", "version": wire::BUILD},
        });
        let hello = self.request("initialize", about)?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(hello)
    }

    /// Whether the open session may call this tool.
    pub(super) fn granted(&self, tool: &str) -> bool {
        self.granted.iter().any(|name| name == tool)
    }

    /// Calls a tool; also gives how long it took.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Result<(Answer, Duration)> {
        let since = Instant::now();
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let took = since.elapsed();
        let blocks = result["content"].as_array().context("the answer has no content")?;
        let mut texts: Vec<String> =
            blocks.iter().filter_map(|block| block["text"].as_str().map(str::to_owned)).collect();
        let refused = result["isError"] == json!(true);
        let mut data = Value::Null;
        if let Some(first) = texts.first().filter(|_| !refused)
            && let Ok(object @ Value::Object(_)) = serde_json::from_str(first)
        {
            data = object;
            texts.remove(0);
        }
        if let Some(granted) = data["granted"].as_array() {
            self.granted = granted.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
        }
        Ok((Answer { refused, data, texts }, took))
    }

    /// Sends a request and waits for its result.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let until = Instant::now() + self.patience;
        loop {
            let line = match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => line?,
                Err(RecvTimeoutError::Timeout) => {
                    bail!("the server did not answer {method} within {} seconds", self.patience.as_secs())
                }
                Err(RecvTimeoutError::Disconnected) => bail!("the server ended without an answer"),
            };
            let message: Value =
                serde_json::from_str(&line).context("the server wrote something that is no JSON")?;
            if message["id"] != json!(id) {
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!("{method} ended with an error: {error}");
            }
            return Ok(message["result"].clone());
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let to = self.to.as_mut().context("the server's stdin is closed")?;
        writeln!(to, "{message}")?;
        Ok(to.flush()?)
    }

    /// Closes stdin, upon which the server ends by itself; one that does not is ended.
    pub(super) fn stop(&mut self) {
        self.to = None;
        let until = Instant::now() + LAST;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the server writes, line by line, read on a thread of its own: reading cannot be given a time limit.
fn lines(from: ChildStdout) -> Receiver<std::io::Result<String>> {
    let (say, hear) = channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines() {
            if say.send(line).is_err() {
                return;
            }
        }
    });
    hear
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn server(script: &str) -> Agent {
        let launch = Launch {
            command: "/bin/sh".to_owned(),
            args: vec!["-c".to_owned(), script.to_owned()],
            env: [].into(),
        };
        Agent::start(&launch, Path::new("/")).unwrap()
    }

    #[test]
    fn a_server_that_says_nothing_is_not_waited_for_for_ever() {
        let mut agent = server("while read -r line; do :; done");
        agent.patience = Duration::from_millis(50);
        let error = agent.initialize().unwrap_err().to_string();
        assert!(error.starts_with("the server did not answer initialize"), "{error}");
        agent.stop();
    }

    #[test]
    fn a_server_that_ends_is_said() {
        let error = server("exec true").initialize().unwrap_err();
        let said = format!("{error:#}");
        assert!(said.contains("ended without an answer") || said.contains("pipe"), "{said}");
    }
}
