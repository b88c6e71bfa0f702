//! Clients past the MCP server: one ticket for the whole time, keys that are kept over repeats.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use anyhow::{Result, anyhow, ensure};
use serde_json::{Value, json};
use testkit::{PATIENCE, wait_for};
use tools::Effect;

use crate::clients::{ALLOWED, Books, Caller};
use crate::setup::{Dice, request};

/// A client of the agent's endpoint.
pub(crate) struct Direct {
    url: String,
    name: String,
    login: String,
    password: String,
    /// Every ticket it was ever given; the last one is in use.
    pub(crate) tickets: Vec<Value>,
    granted: Vec<String>,
    keys: usize,
    /// The last write and its answer.
    last: Option<(Value, Value)>,
}

impl Direct {
    pub(crate) fn open(
        url: &str,
        name: &str,
        login: &str,
        password: &str,
        books: &mut Books,
    ) -> Result<Self> {
        let (name, login, password) = (name.to_owned(), login.to_owned(), password.to_owned());
        let (tickets, granted) = (Vec::new(), Vec::new());
        let mut direct =
            Self { url: url.to_owned(), name, login, password, tickets, granted, keys: 0, last: None };
        direct.sign_in(books)?;
        Ok(direct)
    }

    fn sign_in(&mut self, books: &mut Books) -> Result<()> {
        let params = json!({"login": self.login, "password": self.password});
        let answer = self.ask(books, &Value::Object(request("AGENT_SESSION_CONNECT", &params)))?;
        ensure!(answer["ticket"].is_string(), "no ticket: {answer}");
        self.tickets.push(answer["ticket"].clone());
        let granted = answer["rights"]["granted"].as_array().cloned().unwrap_or_default();
        self.granted = granted.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(())
    }

    /// Asks until there is an answer of the engine that is no refusal of a dead node.
    fn ask(&self, books: &mut Books, request: &Value) -> Result<Value> {
        let path = if request["command"].as_str().unwrap_or_default().starts_with("PROGRAM_") {
            "core/program.php"
        } else {
            "core/mcp.php"
        };
        let url = format!("{}/{path}", self.url);
        let mut count = |what: &str| *books.refused.entry(what.to_owned()).or_default() += 1;
        wait_for("an answer", PATIENCE, || {
            let answer = testkit::post(&url, request).ok().filter(|answer| answer.status == 200);
            let Some(answer) = answer.map(|answer| answer.json()).filter(Value::is_object) else {
                // Refused, cut off, or nobody there.
                count("(line broke)");
                return None;
            };
            if answer["ok"] == json!(true) {
                return Some(Ok(answer["data"].clone()));
            }
            let row = answer["refusal"].as_str().unwrap_or("none of the catalogue");
            count(row);
            (!ALLOWED.contains(&row)).then(|| Err(anyhow!("refused: {answer}")))
        })?
    }

    /// The last write once more, as after an answer that was lost: the same answer, from whichever node.
    fn again(&self, books: &mut Books) -> Result<()> {
        let Some((request, first)) = &self.last else { return Ok(()) };
        let second = self.ask(books, request)?;
        ensure!(second == *first, "repeated, {request} answered {second}, not {first}");
        *books.done.entry("(repeated under its key)".to_owned()).or_default() += 1;
        Ok(())
    }

    /// Takes the notes into work for a moment, as a window of the program does.
    fn lease(&mut self, books: &mut Books) -> Result<()> {
        let sign_in = json!({"login": self.login, "password": self.password});
        let ticket = self.ask(books, &Value::Object(request("PROGRAM_SIGN_IN", &sign_in)))?["ticket"].clone();
        let program = |command: &str, params: &Value| {
            let mut request = request(command, params);
            request.insert("session".to_owned(), ticket.clone());
            Value::Object(request)
        };
        let take = json!({"tables": ["notes"], "what": self.name, "seconds": 1});
        let taken = self.ask(books, &program("PROGRAM_LEASE_TAKE", &take))?;
        ensure!(taken["tables"] == json!(["notes"]), "{taken}");
        let free = json!({"tables": ["notes"], "holder": taken["holder"]});
        self.ask(books, &program("PROGRAM_LEASE_FREE", &free))?;
        *books.done.entry("(lease)".to_owned()).or_default() += 1;
        Ok(())
    }
}

/// A UUID for a client's write of this number.
fn key(name: &str, number: usize) -> String {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let name = format!("{:016x}", hasher.finish());
    format!("{}-{}-4000-8000-{number:012x}", &name[..8], &name[8..12])
}

impl Caller for Direct {
    fn done(&mut self, books: &mut Books, tool: &'static str, arguments: &Value) -> Result<Value> {
        let spec = tools::find(tool).ok_or_else(|| anyhow!("no tool {tool}"))?;
        let mut request = request(spec.command().unwrap_or_default(), arguments);
        request.insert("tool".to_owned(), json!(tool));
        request.insert("session".to_owned(), self.tickets.last().cloned().unwrap_or_default());
        let writes = spec.effect != Effect::Reads;
        if writes {
            self.keys += 1;
            request.insert("key".to_owned(), json!(key(&self.name, self.keys)));
        }
        let request = Value::Object(request);
        let answer = self.ask(books, &request)?;
        *books.done.entry(tool.to_owned()).or_default() += 1;
        if writes {
            self.last = Some((request, answer.clone()));
        }
        Ok(answer)
    }

    fn may(&self, tool: &str) -> bool {
        let command = tools::find(tool).and_then(|tool| tool.command()).unwrap_or_default();
        self.granted.iter().any(|granted| granted == command)
    }

    fn besides(&mut self, books: &mut Books, dice: &mut Dice) -> Result<()> {
        match dice.roll(16) {
            0 => self.sign_in(books),
            1 if self.login == "admin" => self.lease(books),
            _ => self.again(books),
        }
    }
}
