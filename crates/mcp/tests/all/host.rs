//! An agent application in the test's own process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use home::passwords::{self, Account};
use home::{Home, Keyring, ShopIni, StoreEntry};
use mcp::{Options, StorePin};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;

/// Nothing in a test takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// This computer: a home with one store, whose password is saved.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) home: Home,
}

impl Place {
    /// A computer whose store answers at this address.
    pub(crate) fn new(url: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let home = Home::at(folder.path().join("home")).with_keyring(Keyring::File);
        let place = Self { folder, home };
        std::fs::create_dir(place.store()).unwrap();
        let entry = StoreEntry { name: "shop.example.com".to_owned(), folder: place.store() };
        let mut list = place.home.stores().unwrap();
        list.last = Some(place.store());
        list.put(entry);
        place.home.save_stores(&list).unwrap();
        let connection = ShopIni { login: "irina".to_owned(), ..ShopIni::new("shop.example.com", url) };
        connection.write(&place.store()).unwrap();
        place.save_password(&place.store());
        place
    }

    /// Whose password is saved: irina's, at the address that this folder's `Shop.ini` names.
    pub(crate) fn account(&self, folder: &Path) -> Account {
        Account::new(folder, "irina", &ShopIni::read(folder).unwrap().url)
    }

    /// Saves her password for this folder's address.
    pub(crate) fn save_password(&self, folder: &Path) {
        passwords::save(&self.home, &self.account(folder), "secret").unwrap();
    }

    /// The store folder.
    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// What a server on this computer is told.
    pub(crate) fn options(&self) -> Options {
        Options {
            home: self.home.clone(),
            store: None,
            event: None,
            timeout: Duration::from_secs(5),
            plain_http: false,
        }
    }

    /// The same, pinned to a folder.
    pub(crate) fn pinned(&self, folder: &Path) -> Options {
        Options { store: Some(StorePin::Folder(folder.to_owned())), ..self.options() }
    }
}

/// One server and the streams to it.
pub(crate) struct Host {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    server: JoinHandle<()>,
    last: u64,
}

impl Host {
    /// Starts a server and says nothing.
    pub(crate) fn start(options: Options) -> Self {
        let (input, source) = tokio::io::duplex(1024 * 1024);
        let (sink, output) = tokio::io::duplex(1024 * 1024);
        let server = tokio::spawn(mcp::serve_on(options, source, sink));
        Self { input: Some(input), output: BufReader::new(output).lines(), server, last: 1000 }
    }

    /// Starts a server and shakes hands.
    pub(crate) async fn open(options: Options, version: &str, name: &str) -> Self {
        let mut host = Self::start(options);
        host.shake(version, name).await;
        host
    }

    /// The handshake; its answer.
    pub(crate) async fn shake(&mut self, version: &str, name: &str) -> Value {
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": name, "version": "1"}});
        let answer = self.ask("initialize", params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
        answer
    }

    /// One line to the server.
    pub(crate) async fn send(&mut self, line: &str) {
        self.raw(format!("{line}\n").as_bytes()).await;
    }

    /// Bytes to the server.
    pub(crate) async fn raw(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    /// The next line of the server.
    pub(crate) async fn line(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await.expect("no answer").unwrap();
        serde_json::from_str(&line.expect("the server ended")).unwrap()
    }

    /// Sends a request; its id.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let line = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        self.send(&line.to_string()).await;
        self.last
    }

    /// Sends a request and gets its result or error.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        loop {
            let line = self.line().await;
            if line["id"] == id {
                return line.get("result").or(line.get("error")).cloned().unwrap();
            }
        }
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Called {
        Called(self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await)
    }

    /// Opens a session that must succeed.
    pub(crate) async fn connect(&mut self, topic: &str) -> Called {
        let called = self.call("session_connect", json!({"topic": topic})).await;
        assert!(!called.refused(), "{}", called.text());
        called
    }

    /// Closes the input and waits for the end; what was said until then.
    pub(crate) async fn close(mut self) -> Vec<Value> {
        drop(self.input.take());
        let mut said = Vec::new();
        while let Some(line) =
            tokio::time::timeout(PATIENCE, self.output.next_line()).await.expect("no end").unwrap()
        {
            said.push(serde_json::from_str(&line).unwrap());
        }
        self.server.await.unwrap();
        said
    }
}

/// The result of a tool call.
pub(crate) struct Called(pub(crate) Value);

impl Called {
    /// Whether it has the error mark.
    pub(crate) fn refused(&self) -> bool {
        self.0["isError"] == true
    }

    /// All text blocks.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.0["content"].as_array().unwrap().iter().map(|block| block["text"].as_str().unwrap()).collect()
    }

    /// The last text block: a refusal, or what stands after the data.
    pub(crate) fn text(&self) -> &str {
        self.texts().last().copied().unwrap_or_default()
    }

    /// The data block.
    pub(crate) fn data(&self) -> Value {
        serde_json::from_str(self.texts()[0]).unwrap()
    }
}
