//! A store of a test: a copy of the sample, and the processes that run on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::bench::{Bench, PATIENCE, psql, wait_for};
use crate::client::Client;
use crate::console::Console;
use crate::process::{Output, Running, run};

/// A copy of the sample store; removed when dropped.
pub struct TestStore<'a> {
    bench: &'a Bench,
    folder: TempDir,
    database: Option<String>,
}

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

impl<'a> TestStore<'a> {
    /// A fresh copy.
    pub fn new(bench: &'a Bench) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("shopwright-test-").tempdir()?;
        let database = bench.copy_sample(folder.path())?;
        let store = Self { bench, folder, database };
        if let Some(url) = store.database.clone() {
            store.config(|config| {
                config.insert("database".to_owned(), Value::String(url));
            })?;
        }
        Ok(store)
    }

    /// The folder of everything.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The store's root on the server side.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("server")
    }

    /// The store folder of the person.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// The program's home.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The binary with this store's home in its environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bench.command();
        command.args(arguments).env("SHOPWRIGHT_HOME", self.home());
        command
    }

    /// Runs a subcommand to its end.
    pub fn run(&self, arguments: &[&str]) -> Result<Output> {
        run(&mut self.command(arguments), b"", PATIENCE)
    }

    /// Runs `shopwright store ACTION --root … REST`, which must succeed.
    pub fn store_command(&self, action: &str, rest: &[&str]) -> Result<Output> {
        let root = self.root();
        let mut command = self.command(&["store", action, "--root"]);
        command.arg(root).args(rest);
        let output = run(&mut command, b"", PATIENCE)?;
        ensure!(output.code == 0, "store {action} {rest:?}: {}", output.err);
        Ok(output)
    }

    /// Starts `try` on this store: engine and program in one process.
    pub fn start(&self, login: &str) -> Result<Trying> {
        Trying::start(self.bench, self.folder.path(), &TryOptions::login(login))
    }

    /// Starts `try` with these options.
    pub fn start_with(&self, options: &TryOptions) -> Result<Trying> {
        Trying::start(self.bench, self.folder.path(), options)
    }

    /// Starts the engine alone; port 0 takes a free one.
    pub fn serve(&self, port: u16) -> Result<Engine> {
        let mut command = self.command(&["serve", "--listen", &format!("127.0.0.1:{port}"), "--root"]);
        command.arg(self.root());
        let running = Running::start(&mut command)?;
        let line = running.line(PATIENCE)?.with_context(|| running.errors())?;
        let line = String::from_utf8(line)?;
        let url = line.split_whitespace().last().context("no address")?.trim_end_matches('/').to_owned();
        let port = url.rsplit(':').next().and_then(|port| port.parse().ok()).context("no port")?;
        Ok(Engine { running, url, port })
    }

    /// Starts the program alone, on this store.
    pub fn desk(&self) -> Result<Desk> {
        let mut command = self.command(&["desk", "--listen", "127.0.0.1:0", "--store"]);
        command.arg(self.store());
        let running = Running::start(&mut command)?;
        let line = running.line(PATIENCE)?.with_context(|| running.errors())?;
        let console = String::from_utf8(line)?.split_whitespace().last().context("no address")?.to_owned();
        Ok(Desk { running, console })
    }

    /// The MCP server's command, with this store's home.
    pub fn mcp_command(&self) -> Command {
        let mut command = self.command(&["mcp", "--store"]);
        command.arg(self.store()).current_dir(self.folder());
        command
    }

    /// The people's passwords, as `try` drew them.
    pub fn people(&self) -> Result<People> {
        Ok(serde_json::from_slice(&std::fs::read(self.folder().join("people.json"))?)?)
    }

    /// Engine and program as two processes, with this person signed in; `keep` saves the password.
    pub fn apart(&self, login: &str, keep: bool) -> Result<(Engine, Desk)> {
        let engine = self.serve(0)?;
        self.shop_ini("Url", &engine.url)?;
        let desk = self.desk()?;
        let people = self.people()?;
        let password = people.get(login).context("nobody of this login")?;
        Console::open(&desk.console)?.sign_in(login, password, keep)?;
        Ok((engine, desk))
    }

    /// Rewrites a line of `Shop.ini`.
    pub fn shop_ini(&self, key: &str, value: &str) -> Result<()> {
        let file = self.store().join("Shop.ini");
        let text = std::fs::read_to_string(&file)?;
        let lines = text.lines().map(|line| match line.split_once('=') {
            Some((name, _)) if name.trim() == key => format!("{key} = {value}"),
            _ => line.to_owned(),
        });
        Ok(std::fs::write(&file, lines.map(|line| line + "\n").collect::<String>())?)
    }

    /// Changes the store's `config.json`.
    pub fn config(&self, change: impl FnOnce(&mut Map<String, Value>)) -> Result<()> {
        let file = self.root().join("config.json");
        let mut config: Map<String, Value> = serde_json::from_slice(&std::fs::read(&file)?)?;
        change(&mut config);
        let fresh = file.with_extension("new");
        std::fs::write(&fresh, serde_json::to_vec_pretty(&config)?)?;
        Ok(std::fs::rename(fresh, file)?)
    }

    /// Rows of a query over the database itself, past every part of ours; cells as text, NULL as "".
    pub fn query(&self, sql: &str) -> Result<Vec<Vec<String>>> {
        if let Some(url) = &self.database {
            let out = psql(url, sql)?;
            return Ok(out.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect());
        }
        let connection = self.sqlite()?;
        let mut statement = connection.prepare(sql)?;
        let width = statement.column_count();
        let rows = statement.query_map((), |row| {
            (0..width).map(|at| row.get_ref(at).map(text_of)).collect::<Result<Vec<_>, _>>()
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The first cell of a query.
    pub fn cell(&self, sql: &str) -> Result<String> {
        let rows = self.query(sql)?;
        rows.into_iter()
            .next()
            .and_then(|row| row.into_iter().next())
            .with_context(|| format!("no row: {sql}"))
    }

    /// Changes the database itself, as an owner with a database client could.
    pub fn sql(&self, sql: &str) -> Result<()> {
        if let Some(url) = &self.database {
            return psql(url, sql).map(|_| ());
        }
        Ok(self.sqlite()?.execute_batch(sql)?)
    }

    /// Everything in the database, for comparing before and after; the tables named here are left out.
    pub fn dump(&self, without: &[&str]) -> Result<BTreeMap<String, Vec<Vec<String>>>> {
        let list = if self.database.is_some() {
            "select table_name from information_schema.tables where table_schema = 'public' order by 1"
        } else {
            "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by 1"
        };
        let mut dump = BTreeMap::new();
        for table in
            self.query(list)?.into_iter().flatten().filter(|table| !without.contains(&table.as_str()))
        {
            let mut rows = self.query(&format!("select * from {table}"))?;
            rows.sort();
            dump.insert(table, rows);
        }
        Ok(dump)
    }

    fn sqlite(&self) -> Result<rusqlite::Connection> {
        let connection = rusqlite::Connection::open(self.root().join("core/store.db"))?;
        connection.busy_timeout(Duration::from_secs(10))?;
        Ok(connection)
    }
}

fn text_of(value: rusqlite::types::ValueRef<'_>) -> String {
    use rusqlite::types::ValueRef;
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

impl Drop for TestStore<'_> {
    fn drop(&mut self) {
        if let Some(url) = &self.database {
            self.bench.drop_database(url);
        }
    }
}

/// A running `try`.
pub struct Trying {
    running: Running,
    folder: PathBuf,
    info: Value,
    environment: Vec<(String, String)>,
}

impl Trying {
    /// Starts `try` on a folder and waits until everything answers.
    pub fn start(bench: &Bench, folder: &Path, options: &TryOptions) -> Result<Self> {
        let mut command = bench.command();
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

/// A program that runs alone.
pub struct Desk {
    /// The process.
    pub running: Running,
    /// Address of its console, with the secret of this start.
    pub console: String,
}

/// An engine that runs alone.
pub struct Engine {
    /// The process.
    pub running: Running,
    /// Its address, without a slash at its end.
    pub url: String,
    /// Its port.
    pub port: u16,
}
