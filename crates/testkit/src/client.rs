//! A raw MCP client: lines of JSON-RPC over a child's stdin and stdout, nothing of ours in between.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::process::Running;
use crate::wait::PATIENCE;

/// A client with its server.
pub struct Client {
    server: Running,
    next_id: u64,
    /// Answers and notifications that came while another answer was awaited.
    early: Vec<Value>,
    protocol: String,
    name: String,
    stateless: bool,
}

/// What a tool answered.
#[derive(Clone, Debug)]
pub struct ToolAnswer {
    /// The whole result.
    pub result: Value,
}

impl ToolAnswer {
    /// Whether the call was refused.
    pub fn refused(&self) -> bool {
        self.result["isError"] == json!(true)
    }

    /// Whether it is the no of one of the store's own tools: an answer of theirs with the error mark.
    pub fn is_own_no(&self) -> bool {
        self.refused() && ["result", "ok"].iter().any(|key| self.data()[key] == json!(false))
    }

    /// The texts of all blocks, in their order.
    pub fn texts(&self) -> Vec<String> {
        let blocks = self.result["content"].as_array().cloned().unwrap_or_default();
        blocks.iter().filter_map(|block| block["text"].as_str().map(str::to_owned)).collect()
    }

    /// The first text.
    pub fn text(&self) -> String {
        self.texts().into_iter().next().unwrap_or_default()
    }

    /// The data block; null where there is none.
    pub fn data(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap_or(Value::Null)
    }
}

impl Client {
    /// Starts a server; nothing is sent yet.
    pub fn start(command: &mut Command) -> Result<Self> {
        Ok(Self {
            server: Running::start(command)?,
            next_id: 0,
            early: Vec::new(),
            protocol: String::new(),
            name: "testkit".to_owned(),
            stateless: false,
        })
    }

    /// Starts a server and shakes hands with this protocol version.
    pub fn open(command: &mut Command, protocol: &str) -> Result<Self> {
        let mut client = Self::start(command)?;
        client.initialize(protocol, "testkit")?;
        Ok(client)
    }

    /// Starts a server and speaks 2026-07-28, which has no handshake.
    pub fn open_stateless(command: &mut Command) -> Result<Self> {
        let mut client = Self::start(command)?;
        client.stateless = true;
        client.protocol = "2026-07-28".to_owned();
        Ok(client)
    }

    /// The handshake; gives the `initialize` result.
    pub fn initialize(&mut self, protocol: &str, name: &str) -> Result<Value> {
        self.name = name.to_owned();
        let params = json!({
            "protocolVersion": protocol, "capabilities": {}, "clientInfo": {"name": name, "version": "1"},
        });
        let result = self.request("initialize", params)?;
        self.protocol = result["protocolVersion"].as_str().context("no protocolVersion")?.to_owned();
        self.notify("notifications/initialized", json!({}))?;
        Ok(result)
    }

    /// The version both sides speak.
    pub fn protocol(&self) -> &str {
        &self.protocol
    }

    /// The server's process.
    pub fn server(&mut self) -> &mut Running {
        &mut self.server
    }

    /// Sends a request and waits for its result; an error answer is an error.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.ask(method, params)?;
        let answer = self.answer(id)?;
        ensure!(answer.get("error").is_none(), "{method} ended with an error: {answer}");
        Ok(answer["result"].clone())
    }

    /// Sends a request without waiting; gives its id.
    pub fn ask(&mut self, method: &str, mut params: Value) -> Result<u64> {
        self.next_id += 1;
        let id = self.next_id;
        if self.stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.protocol,
                "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Sends one message.
    pub fn send(&mut self, message: &Value) -> Result<()> {
        self.send_raw(format!("{message}\n").as_bytes())
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) -> Result<()> {
        self.server.write(bytes).with_context(|| self.server.errors())
    }

    /// The next message, whatever it is. What is not JSON-RPC on stdout is an error.
    pub fn message(&mut self, patience: Duration) -> Result<Value> {
        if !self.early.is_empty() {
            return Ok(self.early.remove(0));
        }
        self.read(patience)
    }

    /// The answer to this request: result or error.
    pub fn answer(&mut self, id: u64) -> Result<Value> {
        self.answer_within(id, PATIENCE)
    }

    /// The answer to this request within this time.
    pub fn answer_within(&mut self, id: u64, patience: Duration) -> Result<Value> {
        let is_it = |message: &Value| message["id"] == json!(id) && message.get("method").is_none();
        if let Some(at) = self.early.iter().position(is_it) {
            return Ok(self.early.remove(at));
        }
        let since = Instant::now();
        loop {
            let left = patience.checked_sub(since.elapsed()).context("no answer in time")?;
            let message = self.read(left)?;
            if is_it(&message) {
                return Ok(message);
            }
            self.early.push(message);
        }
    }

    fn read(&mut self, patience: Duration) -> Result<Value> {
        let Some(line) = self.server.line(patience)? else {
            bail!("the server ended; stderr:\n{}", self.server.errors());
        };
        let message: Value = serde_json::from_slice(&line)
            .with_context(|| format!("not JSON on stdout: {}", String::from_utf8_lossy(&line)))?;
        ensure!(message["jsonrpc"] == "2.0", "not JSON-RPC on stdout: {message}");
        Ok(message)
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<ToolAnswer> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        ensure!(result["content"].is_array(), "no content in {result}");
        Ok(ToolAnswer { result })
    }

    /// Calls a tool that must be done; gives its data block.
    pub fn done(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let answer = self.call(tool, arguments)?;
        ensure!(!answer.refused(), "{tool} was refused: {}", answer.text());
        Ok(answer.data())
    }

    /// Calls a tool that must be refused; gives the refusal's text.
    pub fn refused(&mut self, tool: &str, arguments: Value) -> Result<String> {
        let answer = self.call(tool, arguments)?;
        ensure!(answer.refused(), "{tool} was not refused: {}", answer.result);
        ensure!(answer.texts().len() == 1, "a refusal is one text block: {}", answer.result);
        Ok(answer.text())
    }

    /// `session_connect`, then reads the critical notes: everything granted works afterwards.
    pub fn connect(&mut self, topic: &str) -> Result<Value> {
        let data = self.done("session_connect", json!({"topic": topic}))?;
        self.read_critical_notes()?;
        Ok(data)
    }

    /// Loads every critical note that this person sees.
    pub fn read_critical_notes(&mut self) -> Result<()> {
        let list = self.call("memory_list", json!({}))?;
        if list.refused() {
            return Ok(());
        }
        let rows = list.data()["notes"]["rows"].as_array().cloned().unwrap_or_default();
        let critical: Vec<Value> =
            rows.iter().filter(|row| row[2] == "kCritical").map(|row| row[0].clone()).collect();
        if !critical.is_empty() {
            self.done("memory_load", json!({"ids": critical}))?;
        }
        Ok(())
    }

    /// Accepts the rules that cover a tool; they are asked for by a call with these arguments.
    pub fn accept_rules(&mut self, tool: &str, arguments: Value) -> Result<()> {
        let text = self.call(tool, arguments)?.text();
        if let Some(code) = rules_code(&text) {
            self.done("session_rules_accept", json!({"tool": tool, "code": code}))?;
        }
        Ok(())
    }
}

/// The code named in a `RULES_REQUIRED:` refusal.
pub(crate) fn rules_code(text: &str) -> Option<String> {
    let rest = text.strip_prefix("RULES_REQUIRED:")?;
    let (_, after) = rest.split_once("and code `")?;
    Some(after.split('`').next()?.to_owned())
}
