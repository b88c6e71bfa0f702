//! Playing a section on real processes and comparing.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::given::{self, Later, Scene, Session};
use super::page::{Piece, Section};
use super::redact::{pretty, redact};
use super::refusal_name;
use crate::client::{Client, ToolAnswer, rules_code};
use crate::fixture::Fixture;
use crate::store::TestStore;
use crate::try_process::Trying;

/// How the session's rules begin, which every `session_connect` tells.
const SESSION_RULES: &str = "# Rules of this session";

/// Plays a section on a fresh copy of the sample store; gives the section with the answers that came.
pub fn replay(fixture: &Fixture, section: &Section) -> Result<Section> {
    let mut stage = Stage {
        store: TestStore::new(fixture)?,
        scene: Scene::default(),
        running: None,
        code: String::new(),
        replayed: Vec::new(),
    };
    for (at, piece) in section.pieces.iter().enumerate() {
        if !between_call_and_answer(&section.pieces, at) {
            stage.piece(piece).with_context(|| format!("in\n{piece}"))?;
        }
    }
    Ok(Section { heading: section.heading.clone(), pieces: stage.replayed })
}

/// Whether this is the blank line between a call and its answer, which is made anew with the answer.
fn between_call_and_answer(pieces: &[Piece], at: usize) -> bool {
    let is = |at: Option<usize>, kinds: &[&str]| {
        at.and_then(|at| pieces.get(at)).is_some_and(|piece| piece.is(kinds))
    };
    matches!(&pieces[at], Piece::Prose(prose) if prose.trim().is_empty())
        && is(at.checked_sub(1), &["call"])
        && is(Some(at + 1), &["answer", "refusal"])
}

struct Stage<'a> {
    store: TestStore<'a>,
    scene: Scene,
    running: Option<(Trying, Client)>,
    /// The code of the last rules that were asked for.
    code: String,
    replayed: Vec<Piece>,
}

impl Stage<'_> {
    fn piece(&mut self, piece: &Piece) -> Result<()> {
        let Piece::Block { kind, about, body } = piece else {
            self.replayed.push(piece.clone());
            return Ok(());
        };
        match kind.as_str() {
            "given" => {
                for line in body.lines().filter(|line| !line.trim().is_empty()) {
                    self.given(line.trim()).with_context(|| line.to_owned())?;
                }
                self.replayed.push(piece.clone());
            }
            "call" => {
                self.replayed.push(piece.clone());
                self.replayed.push(Piece::Prose("\n".to_owned()));
                let answer = self.call(body, about == "whole")?;
                self.replayed.push(answer);
            }
            // What stood here before was made anew after its call.
            "answer" | "refusal" => {}
            _ => self.replayed.push(piece.clone()),
        }
        Ok(())
    }

    fn given(&mut self, line: &str) -> Result<()> {
        match given::line(line, &mut self.scene, &self.store)? {
            Some(Later::Quietly(call)) => self.call(&call, false).map(|_| ()),
            Some(Later::Connect) => {
                self.start()?;
                let client = &mut self.running.as_mut().context("not running")?.1;
                client.connect("test").map(|_| ())
            }
            None => Ok(()),
        }
    }

    /// Starts the processes at the first call.
    fn start(&mut self) -> Result<()> {
        if self.running.is_some() {
            return Ok(());
        }
        let trying = self.store.start(&self.scene.login)?;
        let mut command = if self.scene.pinned { trying.mcp_command() } else { trying.unpinned_command() };
        command.envs(self.scene.environment.iter().map(|(name, value)| (name, value)));
        let mut client = Client::start(&mut command)?;
        client.initialize(&self.scene.protocol, &self.scene.client)?;
        match self.scene.session {
            Session::None => {}
            Session::Connected => {
                client.done("session_connect", serde_json::json!({"topic": "test"}))?;
            }
            Session::Ready => {
                client.connect("test")?;
            }
        }
        self.running = Some((trying, client));
        Ok(())
    }

    /// `tool {arguments}`, with `[FOLDER]` and `[CODE]` filled in; `whole` shows the session's rules too.
    fn call(&mut self, body: &str, whole: bool) -> Result<Piece> {
        self.start()?;
        let (tool, arguments) = body.trim().split_once(char::is_whitespace).unwrap_or((body.trim(), "{}"));
        let folder = self.folder();
        let arguments = arguments.replace("[FOLDER]", &folder).replace("[CODE]", &self.code);
        let arguments = repeated(&arguments)?;
        let arguments: Value = serde_json::from_str(&arguments).context("the arguments are not JSON")?;
        let (trying, client) = self.running.as_mut().context("not running")?;
        let answer = client.call(tool, arguments)?;
        let url = trying.url();
        let port = url.rsplit(':').next().unwrap_or_default();
        let text = render(&answer, client.protocol(), &self.scene.client)?;
        if let Some(code) = rules_code(&text) {
            self.code = code;
        }
        let mut text = redact(&text, &folder, port);
        if let Some(at) = text.find(SESSION_RULES).filter(|_| !whole) {
            text.truncate(at);
            text.push_str("[RULES OF THE SESSION]");
        }
        Ok(if answer.is_own_no() {
            Piece::block("answer", "no", &text)
        } else if answer.refused() {
            let name =
                refusal_name(&answer.text()).with_context(|| format!("not in the catalogue: {text}"))?;
            Piece::block("refusal", name, &text)
        } else {
            Piece::block("answer", "", &text)
        })
    }

    fn folder(&self) -> String {
        let folder = self.store.folder();
        folder.canonicalize().unwrap_or_else(|_| Path::new(folder).to_owned()).display().to_string()
    }
}

/// Puts `[x*100]` as a hundred times `x`.
fn repeated(text: &str) -> Result<String> {
    let Some((before, rest)) = text.split_once("[x*") else { return Ok(text.to_owned()) };
    let (count, after) = rest.split_once(']').context("[x*COUNT]")?;
    Ok(format!("{before}{}{}", "x".repeat(count.parse()?), repeated(after)?))
}

/// The blocks of an answer; what every answer must keep to is checked on the way.
fn render(answer: &ToolAnswer, protocol: &str, client: &str) -> Result<String> {
    let blocks = answer.result["content"].as_array().context("no content")?;
    ensure!(!blocks.is_empty(), "an answer without blocks");
    let structured = answer.result.get("structuredContent");
    if answer.refused() && !answer.is_own_no() {
        ensure!(blocks.len() == 1 && structured.is_none(), "a refusal is one text block: {}", answer.result);
        return Ok(answer.text());
    }
    let data: Option<Value> = blocks[0]["text"].as_str().and_then(|text| serde_json::from_str(text).ok());
    let data = data.filter(Value::is_object);
    if protocol >= "2025-06-18" && client != "claude-code" {
        // Of hosts that nobody knows the text stands inside it too.
        let without_text = structured.cloned().map(|mut object| {
            if data.as_ref().is_some_and(|data| data.get("text").is_none()) {
                object.as_object_mut().map(|object| object.remove("text"));
            }
            object
        });
        ensure!(without_text == data, "structuredContent is not the data block: {}", answer.result);
    }
    if protocol < "2025-06-18" {
        ensure!(structured.is_none(), "structuredContent for an old protocol: {}", answer.result);
    }
    let texts = answer.texts();
    let mut shown: Vec<String> = Vec::new();
    if let Some(data) = &data {
        shown.push(pretty(data));
    }
    shown.extend(texts.into_iter().skip(usize::from(data.is_some())));
    let pictures = blocks.iter().filter(|block| block["type"] == "image");
    shown.extend(pictures.map(|block| format!("(a picture: {})", block["mimeType"].as_str().unwrap_or("?"))));
    Ok(shown.join("\n---\n"))
}
