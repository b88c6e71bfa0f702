//! The store that is measured, and the bare server beside it.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use db::{Db, DbError, Tx};

use crate::client::Line;

const OURS: &str = env!("CARGO_BIN_EXE_shopwright");

/// A process that ends with this program.
pub struct Process(Child);

impl Process {
    /// Processor time that it and the processes it started have taken, in milliseconds.
    pub fn worked(&self) -> f64 {
        let all = [vec![self.0.id()], descendants(self.0.id())].concat();
        all.into_iter().map(worked).sum()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A bare axum server that says hello, in a process of its own.
pub fn hello() -> (Process, SocketAddr) {
    let mut child =
        Command::new(std::env::current_exe().unwrap()).arg("hello").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Process(child), line.trim().parse().unwrap())
}

/// What the bare server is.
#[tokio::main]
pub async fn serve_hello() {
    let app = axum::Router::new().route("/", axum::routing::get(|| async { "Hello, World!" }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    axum::serve(listener, app).await.unwrap();
}

/// A running store.
pub struct Store {
    pub root: PathBuf,
    pub address: SocketAddr,
    pub db: Db,
    pub process: Process,
}

/// Makes a store of so many products, unless it is there; how long filling it took.
pub fn make(root: &Path, products: usize, database: Option<&str>) -> Option<Duration> {
    if root.join("config.json").exists() {
        return None;
    }
    let mut init = Command::new(OURS);
    init.args(["store", "init", "--name", "Bench", "--root"]).arg(root);
    init.args(database.map(|url| format!("--database={url}"))).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut init = init.spawn().unwrap();
    init.stdin.take().unwrap().write_all(b"correct horse battery\n").unwrap();
    assert!(init.wait().unwrap().success());
    let begin = Instant::now();
    let mut seed = Command::new(OURS);
    seed.args(["store", "seed", "--products", &products.to_string(), "--root"]).arg(root);
    assert!(seed.stdout(Stdio::null()).status().unwrap().success());
    Some(begin.elapsed())
}

impl Store {
    pub async fn start(root: &Path) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = Command::new(OURS)
            .args(["serve", "--listen", &port.to_string(), "--root"])
            .arg(root)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let process = Process(child);
        let begin = Instant::now();
        while tokio::net::TcpStream::connect(port).await.is_err() {
            assert!(begin.elapsed() < Duration::from_secs(60), "the engine does not start");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let of = root.to_owned();
        let db = tokio::task::spawn_blocking(move || engine::store::open_db(&of).unwrap()).await.unwrap();
        Self { root: root.to_owned(), address: port, db, process }
    }

    /// Keeps pages or does not, and waits until the engine has heard of it.
    pub async fn keep_pages(&self, is_kept: bool) {
        let path = self.root.join("config.json");
        let mut config: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        config["cache"] = is_kept.into();
        replace(&path, &serde_json::to_vec_pretty(&config).unwrap());
        let mut line = Line::open(self.address).await;
        let begin = Instant::now();
        loop {
            line.get("/").await;
            let before = self.hits().await.0;
            line.get("/").await;
            if (self.hits().await.0 > before) == is_kept {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "the settings are not read");
        }
    }

    /// Pages that were in the cache, and those that were not.
    pub async fn hits(&self) -> (f64, f64) {
        let page = Line::open(self.address).await.text("/core/metrics").await;
        let of = |outcome: &str| {
            let name = format!("shopwright_cache_total{{what=\"page\",outcome=\"{outcome}\"}} ");
            page.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse().unwrap()
        };
        (of("hit"), of("miss"))
    }

    /// Lays a file into the store.
    pub fn lay(&self, path: &str, content: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        replace(&path, content.as_bytes());
    }

    /// Rows of one number or text each.
    pub async fn column<T: Send + 'static>(&self, sql: String, of: fn(&db::Row) -> T) -> Vec<T> {
        self.with(move |tx| Ok(tx.rows(&sql, &[])?.iter().map(of).collect())).await
    }

    /// Changes the price of a product.
    pub async fn change_price(&self, product: i64) {
        let sql = format!(
            "update prices set amount = amount + 1 where variant_id in
               (select id from variants where product_id = {product})"
        );
        assert!(self.with(move |tx| tx.run(&sql, &[])).await > 0);
    }

    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tx) -> Result<T, DbError> + Send + 'static,
    ) -> T {
        let db = self.db.clone();
        tokio::task::spawn_blocking(move || db.write(work).unwrap()).await.unwrap()
    }

    /// Resident memory of the engine, that of its workers, in MB, and how many they are.
    pub fn memory(&self) -> (f64, f64, usize) {
        let engine = self.process.0.id();
        let workers: Vec<f64> = descendants(engine).into_iter().map(resident).collect();
        (resident(engine), workers.iter().sum(), workers.len())
    }
}

fn replace(path: &Path, content: &[u8]) {
    let new = path.with_extension("new");
    std::fs::write(&new, content).unwrap();
    std::fs::rename(&new, path).unwrap();
}

fn resident(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    let kib: f64 = line.split_whitespace().nth(1).map_or(0.0, |kib| kib.parse().unwrap());
    kib / 1024.0
}

/// Processor time of a process, in milliseconds; the system counts it in hundredths of a second.
fn worked(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').skip(11).take(2);
    fields.map(|ticks| ticks.parse::<f64>().unwrap() * 10.0).sum()
}

fn descendants(pid: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let children = threads.flatten().flat_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        text.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()
    });
    children.flat_map(|child| [vec![child], descendants(child)].concat()).collect()
}
