//! What a `given` block can set up.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use crate::store::TestStore;

/// How the session of a section starts.
pub(super) struct Scene {
    pub(super) login: String,
    pub(super) protocol: String,
    pub(super) client: String,
    pub(super) session: Session,
    pub(super) pinned: bool,
    pub(super) environment: Vec<(String, String)>,
}

/// What is done before the first call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Session {
    /// Nothing.
    None,
    /// `session_connect`.
    Connected,
    /// The critical notes are read as well.
    Ready,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            login: "irina".to_owned(),
            protocol: "2025-11-25".to_owned(),
            client: "testkit".to_owned(),
            session: Session::Ready,
            pinned: true,
            environment: Vec::new(),
        }
    }
}

/// A line that must wait for the client.
pub(super) enum Later {
    /// Call a tool and forget its answer.
    Quietly(String),
    /// `session_connect` and the critical notes.
    Connect,
}

/// Carries out one line before or between calls.
pub(super) fn line(text: &str, scene: &mut Scene, store: &TestStore<'_>) -> Result<Option<Later>> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rest = rest.trim();
    match word {
        "as" => rest.clone_into(&mut scene.login),
        "protocol" => rest.clone_into(&mut scene.protocol),
        "client" => rest.clone_into(&mut scene.client),
        "unpinned" => scene.pinned = false,
        "env" => {
            let (name, value) = rest.split_once('=').context("env NAME=VALUE")?;
            scene.environment.push((name.to_owned(), value.to_owned()));
        }
        "session" => scene.session = session(rest)?,
        "language" => set(store, "language", Value::from(rest))?,
        "config" => merge(store, serde_json::from_str(rest).context("config takes a JSON object")?)?,
        "sql" => store.sql(rest)?,
        "store" => command(store, rest)?,
        "file" => file(store, rest)?,
        "many" => many(store, rest)?,
        "bytes" => bytes(store, rest)?,
        "remove" => remove(&place(store, rest))?,
        "quietly" => return Ok(Some(Later::Quietly(rest.to_owned()))),
        "connect" => return Ok(Some(Later::Connect)),
        _ => bail!("`given` does not know `{word}`"),
    }
    Ok(None)
}

fn session(word: &str) -> Result<Session> {
    match word {
        "none" => Ok(Session::None),
        "connected" => Ok(Session::Connected),
        "ready" => Ok(Session::Ready),
        _ => bail!("session none, connected or ready"),
    }
}

fn set(store: &TestStore<'_>, key: &str, value: Value) -> Result<()> {
    merge(store, Map::from_iter([(key.to_owned(), value)]))
}

/// Puts keys into `config.json`; null takes one out.
fn merge(store: &TestStore<'_>, keys: Map<String, Value>) -> Result<()> {
    store.config(|config| {
        for (key, value) in keys {
            if value.is_null() {
                config.remove(&key);
            } else {
                config.insert(key, value);
            }
        }
    })
}

/// `store ACTION --login …` on the store's root.
fn command(store: &TestStore<'_>, line: &str) -> Result<()> {
    let mut words = line.split_whitespace();
    let action = words.next().context("store ACTION …")?;
    store.store_command(action, &words.collect::<Vec<_>>()).map(|_| ())
}

/// `file PATH TEXT`, where `\n` in the text is a line end.
fn file(store: &TestStore<'_>, rest: &str) -> Result<()> {
    let (path, text) = rest.split_once(' ').unwrap_or((rest, ""));
    write(store, path, text.replace("\\n", "\n").as_bytes())
}

fn write(store: &TestStore<'_>, path: &str, bytes: &[u8]) -> Result<()> {
    let path = place(store, path);
    std::fs::create_dir_all(path.parent().context("no folder")?)?;
    Ok(std::fs::write(path, bytes)?)
}

/// `many PATH COUNT TEXT`: the text so many times.
fn many(store: &TestStore<'_>, rest: &str) -> Result<()> {
    let mut words = rest.splitn(3, ' ');
    let (path, count) = (words.next().unwrap_or_default(), words.next().context("many PATH COUNT TEXT")?);
    let text = words.next().context("many PATH COUNT TEXT")?.repeat(count.parse()?);
    write(store, path, text.as_bytes())
}

/// `bytes PATH HEX`: what no text can hold.
fn bytes(store: &TestStore<'_>, rest: &str) -> Result<()> {
    let (path, digits) = rest.split_once(' ').context("bytes PATH HEX")?;
    let digit = |at: usize| digits.get(at..at + 2).context("two digits a byte");
    let bytes: Result<Vec<u8>> =
        (0..digits.len()).step_by(2).map(|at| Ok(u8::from_str_radix(digit(at)?, 16)?)).collect();
    write(store, path, &bytes?)
}

fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    removed.with_context(|| format!("cannot remove {}", path.display()))
}

fn place(store: &TestStore<'_>, path: &str) -> PathBuf {
    store.folder().join(path)
}
