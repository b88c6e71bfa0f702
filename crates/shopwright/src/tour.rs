//! `tour`: plays an agent application against the MCP server of a running `try`.
//!
//! Every call goes to the real server over stdin and stdout; what comes back is
//! printed and compared with what a newcomer should see.

mod agent;
mod printer;

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::cli;
use crate::exit::Exit;
use crate::try_store::Ready;
use agent::{Agent, Answer};
use printer::Printer;

/// Runs the tour.
pub(crate) fn run(arguments: &cli::Tour) -> Result<Exit> {
    let ready = Ready::read(&arguments.dir)?;
    let mut tour = Tour { agent: Agent::start(&ready.mcp, &ready.store)?, printer: Printer::new(), step: 0 };
    let done = tour.play(&ready.store);
    tour.agent.stop();
    done?;
    tour.printer.end(tour.step);
    Ok(Exit::Done)
}

struct Tour {
    agent: Agent,
    printer: Printer,
    step: usize,
}

/// What a step must end with.
enum Wanted<'a> {
    /// A data block with these fields.
    Fields(&'a [&'a str]),
    /// A refusal that begins so.
    Refusal(&'a str),
}

impl Tour {
    fn play(&mut self, store: &Path) -> Result<()> {
        self.handshake()?;
        self.look_around(store)?;
        let critical = self.open()?;
        self.read_notes(&critical)?;
        let note = self.write_note()?;
        self.rules()?;
        self.mistakes(note)?;
        self.tidy()
    }

    fn handshake(&mut self) -> Result<()> {
        self.chapter("The agent application starts the server and says hello");
        let hello = self.agent.initialize()?;
        self.printer.line(&format!(
            "protocol {}, server {} {}",
            text(&hello["protocolVersion"]),
            text(&hello["serverInfo"]["name"]),
            text(&hello["serverInfo"]["version"])
        ));
        self.printer.quote(&text(&hello["instructions"]));
        let tools =
            self.agent.request("tools/list", json!({}))?["tools"].as_array().cloned().unwrap_or_default();
        ensure!(!tools.is_empty(), "the server lists no tools");
        self.printer.line(&format!("{} tools:", tools.len()));
        for tool in &tools {
            self.printer.item(&text(&tool["name"]), &text(&tool["description"]));
        }
        Ok(())
    }

    fn look_around(&mut self, store: &Path) -> Result<()> {
        self.chapter("The agent looks around; nothing is asked of the store yet");
        let data =
            self.done("session_init", json!({}), &["stores", "store", "pinned", "program", "connect"])?;
        ensure!(data["store"] == json!(store), "session_init names another store than the running one");
        ensure!(data["program"]["state"] == "running", "the program does not run on this store");
        self.chapter("Before signing in, a tool of the store is refused, with the way out");
        self.refused("memory_list", json!({}), "Not connected. Call \"session_connect\" first.")
    }

    /// Opens the session; gives the numbers of the critical notes that must be read.
    fn open(&mut self) -> Result<Vec<Value>> {
        self.chapter("The session opens: one call tells who works, where and with which rights");
        let fields = [
            "store", "user", "group", "princ", "event", "demo", "folder", "cache", "build", "memory",
            "tools", "tasks", "granted",
        ];
        let data = self.done("session_connect", json!({"topic": "tour"}), &fields)?;
        ensure!(data["user"]["from"] == "program", "the login does not come from the program");
        if data["memory"].is_null() {
            self.printer.line("(This person may not read memory, so the tour about notes is short.)");
            return Ok(Vec::new());
        }
        self.chapter("Notes of the store's memory, in their order of precedence");
        let list = self.done("memory_list", json!({}), &["notes"])?;
        let rows = list["notes"]["rows"].as_array().context("notes")?;
        let critical = rows.iter().filter(|row| row[2] == "kCritical").map(|row| row[0].clone());
        Ok(critical.collect())
    }

    fn read_notes(&mut self, critical: &[Value]) -> Result<()> {
        if critical.is_empty() {
            return Ok(());
        }
        self.chapter("Critical notes come first: another tool is refused until they are read");
        self.refused(
            "memory_save",
            json!({"name": "Too early"}),
            "The store asks you to read its kCritical notes",
        )?;
        let data = self.done("memory_load", json!({"ids": critical}), &["notes", "missed"])?;
        ensure!(
            data["notes"].as_array().is_some_and(|notes| notes.len() == critical.len()),
            "a note is missing"
        );
        Ok(())
    }

    /// Writes a note and changes it; gives its number, where this person may write.
    fn write_note(&mut self) -> Result<Option<Value>> {
        if !self.agent.granted("memory_save") {
            self.chapter("Without the right the refusal names the folder where it is granted");
            self.refused(
                "memory_save",
                json!({"name": "From the tour"}),
                "ACCESS_DENIED: this user may not run AGENT_MEMORY_SAVE",
            )?;
            return Ok(None);
        }
        self.chapter("The agent keeps something for later sessions, then corrects it");
        let note = json!({"name": "From the tour", "category": "Tour", "body": "<p>Green tea sold best in November.</p>"});
        let saved = self.done("memory_save", note, &["id", "name", "saved"])?;
        ensure!(saved["saved"] == "created", "the note was not created");
        let change = json!({"id": saved["id"], "info": "Sales by kind of tea"});
        let saved = self.done("memory_save", change, &["id", "name", "saved"])?;
        ensure!(saved["saved"] == "updated", "the note was not changed");
        Ok(Some(saved["id"].clone()))
    }

    fn rules(&mut self) -> Result<()> {
        if !self.agent.granted("repo_list") {
            return Ok(());
        }
        self.chapter("A family of tools with rules: read, accept with the code, repeat");
        let refusal = self.call("repo_list", json!({}), &Wanted::Refusal("RULES_REQUIRED:"))?;
        let code = refusal.code().context("the refusal names no code")?;
        self.done("session_rules_accept", json!({"tool": "repo_list", "code": code}), &[])?;
        self.done("repo_list", json!({}), &["repos"]).map(|_| ())
    }

    fn mistakes(&mut self, note: Option<Value>) -> Result<()> {
        self.chapter("Mistakes are answered in words that say how to go on");
        self.refused("memory_lst", json!({}), "Unknown tool:")?;
        self.refused("session_connect", json!({"topic": "two words"}), "topic [")?;
        if let Some(id) = note {
            self.refused("memory_save", json!({"id": id, "colour": "green"}), "Unknown parameter")?;
            self.done("memory_remove", json!({"id": id}), &["id", "name", "removed"])?;
        }
        Ok(())
    }

    fn tidy(&mut self) -> Result<()> {
        self.chapter("Conversation folders: what the tour left behind is listed and removed");
        let list = self.done("session_clear", json!({}), &["current", "topics", "size"])?;
        ensure!(list["current"] == "tour", "another conversation is open");
        let cleared = self.done("session_clear", json!({"topics": ["tour"]}), &["removed", "missing"])?;
        ensure!(cleared["removed"] == json!(["tour"]), "the folder of the tour was not removed");
        Ok(())
    }

    fn chapter(&mut self, title: &str) {
        self.printer.chapter(title);
    }

    fn done(&mut self, tool: &str, arguments: Value, fields: &[&str]) -> Result<Value> {
        Ok(self.call(tool, arguments, &Wanted::Fields(fields))?.data)
    }

    fn refused(&mut self, tool: &str, arguments: Value, beginning: &str) -> Result<()> {
        self.call(tool, arguments, &Wanted::Refusal(beginning)).map(|_| ())
    }

    fn call(&mut self, tool: &str, arguments: Value, wanted: &Wanted<'_>) -> Result<Answer> {
        self.step += 1;
        self.printer.call(self.step, tool, &arguments);
        let (answer, took) = self.agent.call(tool, arguments)?;
        self.printer.answer(&answer, took);
        match wanted {
            Wanted::Refusal(beginning) => {
                let text = answer.texts.first().map(String::as_str).unwrap_or_default();
                ensure!(answer.refused, "{tool} was to be refused, and was not");
                ensure!(text.starts_with(beginning), "the refusal was to begin with `{beginning}`");
            }
            Wanted::Fields(fields) => {
                if answer.refused {
                    bail!("{tool} was refused");
                }
                if let Some(lacking) = fields.iter().find(|field| answer.data.get(**field).is_none()) {
                    bail!("the answer of {tool} lacks `{lacking}`");
                }
            }
        }
        Ok(answer)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
