//! A running `try`: engine and program in one process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::binary::Binary;
use crate::client::Client;
use crate::process::Running;
use crate::wait::{PATIENCE, wait_for};

/// How `try` is started.
#[derive(Clone, Debug, Default)]
pub struct TryOptions {
    /// Who is signed in; `admin` when empty.
    pub login: String,
    /// More arguments.
    pub arguments: Vec<String>,
    /// More variables of the environment.
    pub environment: Vec<(String, String)>,
}

impl TryOptions {
    /// This person signed in.
    pub fn login(login: &str) -> Self {
        Self { login: login.to_owned(), ..Self::default() }
    }
}

/// People of a running store by login, with their passwords.
pub type People = BTreeMap<String, String>;

/// A running `try`.
pub struct Trying {
    running: Running,
    folder: PathBuf,
    info: Value,
    environment: Vec<(String, String)>,
}

impl Trying {
    /// Starts `try` on a folder and waits until everything answers.
    pub fn start(binary: &Binary, folder: &Path, options: &TryOptions) -> Result<Self> {
        let mut command = binary.command();
        command.arg("try").arg(folder).args(["--port", "0"]).args(&options.arguments);
        if !options.login.is_empty() {
            command.args(["--as", &options.login]);
        }
        let own = options.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        command.envs(own);
        let file = folder.join("try.json");
        // What a killed one left behind tells nothing of this one.
        let _ = std::fs::remove_file(&file);
        let mut running = Running::start(&mut command)?;
        let found = wait_for("try.json", PATIENCE, || {
            let text = std::fs::read(&file).ok();
            if text.is_none() && !running.alive() {
                return Some(None);
            }
            text.map(|text| serde_json::from_slice::<Value>(&text).ok())
        })?;
        let info = found.with_context(|| format!("try ended: {}", running.errors()))?;
        let environment = vec![("SHOPWRIGHT_KEYRING".to_owned(), "file".to_owned())];
        Ok(Self { running, folder: folder.to_owned(), info, environment })
    }

    /// What `try.json` tells.
    pub fn info(&self) -> &Value {
        &self.info
    }

    /// The process.
    pub fn process(&mut self) -> &mut Running {
        &mut self.running
    }

    /// The engine's address, without a slash at its end.
    pub fn url(&self) -> String {
        self.info["storefront"].as_str().unwrap_or_default().trim_end_matches('/').to_owned()
    }

    /// The people with their passwords.
    pub fn people(&self) -> People {
        let people = self.info["people"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        people.iter().map(|one| (text(&one["login"]), text(&one["password"]))).collect()
    }

    /// The command an agent application must start, word by word as `try.json` tells it.
    pub fn mcp_command(&self) -> Command {
        let mcp = &self.info["mcp"];
        let mut command = Command::new(mcp["command"].as_str().unwrap_or_default());
        command.args(mcp["args"].as_array().into_iter().flatten().filter_map(Value::as_str));
        for (name, value) in mcp["env"].as_object().into_iter().flatten() {
            command.env(name, value.as_str().unwrap_or_default());
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value))).current_dir(&self.folder);
        command
    }

    /// The same command without its pin to the store.
    pub fn unpinned_command(&self) -> Command {
        let pinned = self.mcp_command();
        let mut command = Command::new(pinned.get_program());
        command.arg("mcp").current_dir(&self.folder);
        command
            .envs(pinned.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))));
        command
    }

    /// A client that speaks the newest version with a handshake.
    pub fn client(&self) -> Result<Client> {
        Client::open(&mut self.mcp_command(), "2025-11-25")
    }

    /// A client with an open session and its critical notes read.
    pub fn connected(&self) -> Result<Client> {
        let mut client = self.client()?;
        client.connect("test")?;
        Ok(client)
    }

    /// Stops as Ctrl-C does; it must end with 0.
    pub fn stop(&mut self) -> Result<()> {
        let status = self.running.stop(PATIENCE)?;
        ensure!(status.success(), "try ended with {status}; stderr:\n{}", self.running.errors());
        Ok(())
    }
}
