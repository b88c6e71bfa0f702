//! A store of a test: a copy of the sample, and the processes that run on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use home::passwords::{self, Account};
use home::{Home, Keyring};
use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::console::Console;
use crate::fixture::Fixture;
use crate::postgres::psql;
use crate::process::{Output, Running, run};
use crate::try_process::{People, TryOptions, Trying};
use crate::wait::PATIENCE;

/// A copy of the sample store; removed when dropped.
pub struct TestStore<'a> {
    fixture: &'a Fixture,
    folder: TempDir,
    database: Option<String>,
}

impl<'a> TestStore<'a> {
    /// A fresh copy.
    pub fn new(fixture: &'a Fixture) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("shopwright-test-").tempdir()?;
        let database = fixture.copy_sample(folder.path())?;
        let store = Self { fixture, folder, database };
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
        let mut command = self.fixture.command();
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
        Trying::start(self.fixture.binary(), self.folder.path(), &TryOptions::login(login))
    }

    /// Starts `try` with these options.
    pub fn start_with(&self, options: &TryOptions) -> Result<Trying> {
        Trying::start(self.fixture.binary(), self.folder.path(), options)
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

    /// Names another address in `Shop.ini`, with this person's password saved for it: the one that the
    /// program holds is for the old address only.
    pub fn move_to(&self, login: &str, url: &str) -> Result<()> {
        self.shop_ini("Login", login)?;
        self.shop_ini("Url", url)?;
        let people = self.people()?;
        let home = Home::at(self.home()).with_keyring(Keyring::File);
        let password = people.get(login).context("nobody of this login")?;
        passwords::save(&home, &Account::new(&self.store(), login, url), password)?;
        Ok(())
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

    /// Everything in the database, for comparing before and after; the tables named here are left out, and those in
    /// which the engine notes how far its own jobs are.
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
            if ["jobs", "dirty"].contains(&table.as_str()) {
                continue;
            }
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
            self.fixture.drop_database(url);
        }
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
