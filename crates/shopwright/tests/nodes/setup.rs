//! Nodes over one store, and what their tests share.

use std::sync::LazyLock;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use testkit::{Console, Desk, Engine, Fixture, PATIENCE, RoundRobin, TestStore, wait_for};

/// The binary under test and its sample store.
static BENCH: LazyLock<Option<Fixture>> = LazyLock::new(|| {
    let fixture =
        Fixture::postgres(env!("CARGO_BIN_EXE_shopwright"), concat!(env!("CARGO_TARGET_TMPDIR"), "/nodes"));
    if fixture.is_none() {
        println!("TEST_DATABASE_URL is not set: nodes are not tested");
    }
    fixture
});

/// The fixture of all tests; `None` where there is no PostgreSQL.
pub(crate) fn fixture() -> Option<&'static Fixture> {
    BENCH.as_ref()
}

/// Numbers that look random and are the same for the same seed.
#[derive(Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % sides.max(1)
    }
}

/// Two nodes of one store behind a round-robin, and the program of the administrator.
pub(crate) struct Nodes {
    pub(crate) nodes: Vec<Engine>,
    pub(crate) proxy: RoundRobin,
    _desk: Desk,
}

impl Nodes {
    pub(crate) fn start(store: &TestStore<'_>) -> Result<Self> {
        store.config(|config| {
            config.insert("trusted_proxies".to_owned(), json!(["127.0.0.1"]));
        })?;
        let nodes = [free_port()?, free_port()?].map(|port| store.serve(port));
        let nodes = nodes.into_iter().collect::<Result<Vec<Engine>>>()?;
        let proxy = RoundRobin::start(&nodes.iter().map(|node| node.url.as_str()).collect::<Vec<_>>())?;
        store.shop_ini("Url", &proxy.url)?;
        let desk = store.desk()?;
        let people = store.people()?;
        Console::open(&desk.console)?.sign_in("admin", &people["admin"], false)?;
        Ok(Self { nodes, proxy, _desk: desk })
    }
}

/// A port that no outgoing line takes by itself, so that a killed node gets it back.
pub(crate) fn free_port() -> Result<u16> {
    let mut dice = Dice::new(
        u64::from(std::process::id()) ^ u64::from(jiff::Timestamp::now().subsec_nanosecond().unsigned_abs()),
    );
    wait_for("a free port", PATIENCE, || {
        let port = 15_000 + u16::try_from(dice.roll(15_000)).unwrap_or_default();
        std::net::TcpListener::bind(("127.0.0.1", port)).is_ok().then_some(port)
    })
}

/// Starts a killed node again, at its old address.
pub(crate) fn revive(store: &TestStore<'_>, port: u16) -> Result<Engine> {
    let mut last = None;
    wait_for("the node to start again", PATIENCE, || match store.serve(port) {
        Ok(engine) => Some(engine),
        Err(error) => {
            last = Some(error);
            None
        }
    })
    .with_context(|| format!("{last:?}"))
}

/// A request past the MCP server.
pub(crate) fn request(command: &str, params: &Value) -> Map<String, Value> {
    let time = jiff::Timestamp::now().to_string();
    let request = json!({"command": command, "params": params, "build": wire::BUILD, "time": time});
    request.as_object().cloned().unwrap_or_default()
}

/// Asks a node or the proxy; the envelope.
pub(crate) fn ask(url: &str, ticket: &Value, command: &str, params: &Value) -> Result<Value> {
    let mut request = request(command, params);
    request.insert("session".to_owned(), ticket.clone());
    let path = if command.starts_with("PROGRAM_") { "core/program.php" } else { "core/mcp.php" };
    Ok(testkit::post(&format!("{url}/{path}"), &Value::Object(request))?.json())
}

/// A ticket of this person, for the agent's or the program's endpoint.
pub(crate) fn ticket(url: &str, command: &str, login: &str, password: &str) -> Result<Value> {
    let answer = ask(url, &Value::Null, command, &json!({"login": login, "password": password}))?;
    let ticket = &answer["data"]["ticket"];
    anyhow::ensure!(ticket.is_string(), "no ticket: {answer}");
    Ok(ticket.clone())
}
