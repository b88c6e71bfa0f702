//! Starting and stopping the engine of one store.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use db::{Db, DbError, FreezeReason};
use sandbox::PoolConfig;
use shop::address::is_own_computer;
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::app_state::{AppState, DemoScope};
use crate::clock::{Clock, SystemClock};
use crate::files::Files;
use crate::gate::passwords::Passwords;
use crate::http::answers::Answers;
use crate::http::body::Bodies;
use crate::http::connections::{self, Limits, Site};
use crate::http::metrics::Metrics;
use crate::http::requests::Requests;
use crate::jobs::upkeep::Upkeep;
use crate::media::Shelf;
use crate::settings::reload::LiveSettings;
use crate::settings::{ConfigError, Settings};
use crate::storefront::Packed;
use crate::units::Units;
use crate::write_check::WriteCheck;
use crate::{http, jobs, mail, maintenance, store};

/// How long running requests may take when the engine stops.
const FAREWELL: Duration = Duration::from_secs(10);

/// How to start.
#[derive(Clone)]
pub struct Options {
    /// Address to listen on instead of the configured one.
    pub listen: Option<SocketAddr>,
    /// Demo mode may be open to other computers.
    pub allow_open_demo: bool,
    /// Program and arguments of the workers that run units; none is this program with `unit-worker`.
    pub unit_worker: Option<(PathBuf, Vec<OsString>)>,
    /// By how much the usual times of units are multiplied; tests on busy machines bring more than one.
    #[doc(hidden)]
    pub unit_patience: u32,
    /// Clock and load; tests bring their own.
    #[doc(hidden)]
    pub clock: Arc<dyn Clock>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: None,
            allow_open_demo: false,
            unit_worker: None,
            unit_patience: 1,
            clock: Arc::new(SystemClock),
        }
    }
}

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The settings cannot be used.
    #[error("config.json {0}")]
    Config(#[from] ConfigError),
    /// The database cannot be used.
    #[error("the store's database cannot be used: {}", wire::Fault::from(.0).chain())]
    Db(#[from] DbError),
    /// The address cannot be listened on.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// Demo mode would let anybody in from anywhere.
    #[error(
        "the store is in demo mode (admin.here lies in its root), where anybody is an administrator, and {0} is \
         open to other computers; remove the marker or allow the open demo explicitly"
    )]
    OpenDemo(SocketAddr),
    /// Demo mode would let anybody in through the proxy.
    #[error(
        "the store is in demo mode (admin.here lies in its root), where anybody is an administrator, and config.json \
         names `trusted_proxies`, through which others come; remove the marker or allow the open demo explicitly"
    )]
    ProxiedDemo,
    /// A command moves or restores the store.
    #[error("`shopwright store` moves or restores this store now; start the engine when that is done")]
    AtWork,
    /// The database is not the store's any more, or not yet.
    #[error(
        "the store's database is closed: its rows {0}. Put the address of the right database into config.json, or \
         repeat `shopwright store migrate`; `shopwright store unlock` opens this one"
    )]
    Closed(&'static str),
    /// A part of the start broke down.
    #[error("the start broke down")]
    Broke,
}

/// The engine of one store.
pub struct Engine;

/// A running engine. Dropping it stops it without waiting.
pub struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
    jobs: Vec<JoinHandle<()>>,
    /// The job whose rounds are waited for at the end: nobody works on a stopped store.
    keeping: JoinHandle<()>,
    farewell: Arc<Notify>,
    state: Arc<AppState>,
    upkeep: Arc<Mutex<Upkeep>>,
}

impl Engine {
    /// Starts the engine of the store whose root this is.
    pub async fn start(root: PathBuf, options: Options) -> Result<Running, StartError> {
        let opening = tokio::task::spawn_blocking({
            let (root, now) = (root.clone(), options.clock.now());
            move || {
                let (settings, db, lock) = open(root.clone(), now)?;
                let files = Files::new(&root);
                recover(&files, &db);
                Ok::<_, StartError>((settings, db, lock, files))
            }
        });
        let (settings, db, lock, files) = opening.await.map_err(|_| StartError::Broke)??;
        let wanted = options.listen.unwrap_or(settings.listen);
        let listener = TcpListener::bind(wanted).await.map_err(|error| StartError::Listen(wanted, error))?;
        let address = listener.local_addr().map_err(|error| StartError::Listen(wanted, error))?;
        let workers = workers(options.unit_worker);
        let patience = options.unit_patience;
        let units = Units::new(&root, db.clone(), workers, patience, settings.config.cache_mb);
        let state = AppState {
            units,
            files,
            packed: Packed::default(),
            shelf: Shelf::new(&root),
            settings: LiveSettings::new(&root, settings),
            root,
            db,
            clock: options.clock,
            passwords: Passwords::new(),
            metrics: Metrics::default(),
            bodies: Bodies::new(),
            answers: Answers::new(),
            requests: Requests::new(),
            write_check: WriteCheck::default(),
            demo_scope: demo_scope(options.allow_open_demo, address),
            _engine_lock: lock,
            is_frozen: AtomicBool::new(false),
        };
        refuse_open_demo(&state, address)?;
        Ok(serve(Arc::new(state), listener, address))
    }
}

/// Brings up files that a killed engine left behind. A store whose disk fails says so and still opens.
fn recover(files: &Files, db: &Db) {
    if let Err(stop) = files.recover(db) {
        tracing::error!(?stop, "Files that lag behind their newest version could not be brought up");
    }
}

/// The workers that run units.
fn workers(named: Option<(PathBuf, Vec<OsString>)>) -> PoolConfig {
    let (program, arguments) = named.unwrap_or_else(|| {
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("shopwright"));
        (program, vec!["unit-worker".into()])
    });
    PoolConfig::new(program, arguments)
}

fn demo_scope(allow_open_demo: bool, address: SocketAddr) -> DemoScope {
    match (allow_open_demo, is_own_computer(address.ip())) {
        (true, _) => DemoScope::Everybody,
        (false, true) => DemoScope::ThisComputer,
        (false, false) => DemoScope::Nobody,
    }
}

fn refuse_open_demo(state: &AppState, address: SocketAddr) -> Result<(), StartError> {
    if !state.root.join(wire::paths::ADMIN_HERE).exists() {
        return Ok(());
    }
    match state.demo_scope {
        DemoScope::Nobody => Err(StartError::OpenDemo(address)),
        DemoScope::ThisComputer if !state.settings.current().trusted_proxies.is_empty() => {
            Err(StartError::ProxiedDemo)
        }
        DemoScope::ThisComputer | DemoScope::Everybody => Ok(()),
    }
}

fn open(root: PathBuf, now: jiff::Timestamp) -> Result<(Settings, Db, Option<File>), StartError> {
    let settings = Settings::read(&root)?;
    let lock = engine_lock(&root)?;
    let db = Db::open(&settings.config.database, &root)?;
    // In a store that is closed for people the engine may wait for what becomes of it.
    if let Some(closure) = db.write_freeze()?
        && !root.join(wire::paths::SHOP_LOCK).exists()
    {
        return Err(StartError::Closed(match closure.reason {
            FreezeReason::Moving => "are being moved elsewhere",
            FreezeReason::Copy => "are a copy whose move was not ended",
            FreezeReason::Moved => "were moved elsewhere",
        }));
    }
    store::prepare(&db, now)?;
    Ok((settings, db, lock))
}

/// Says that an engine runs. On a root that cannot be written nothing can be said, and moved only elsewhere.
fn engine_lock(root: &Path) -> Result<Option<File>, StartError> {
    match maintenance::engine_lock(root) {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => Err(StartError::AtWork),
        Err(error) => {
            tracing::warn!(%error, "Cannot write core/engine.lock: `shopwright store` does not see this engine");
            Ok(None)
        }
    }
}

fn serve(state: Arc<AppState>, listener: TcpListener, address: SocketAddr) -> Running {
    let upkeep = Arc::<Mutex<Upkeep>>::default();
    let farewell = Arc::<Notify>::default();
    let keeping = tokio::spawn(jobs::keep_up(Arc::clone(&state), Arc::clone(&upkeep), Arc::clone(&farewell)));
    let jobs = vec![
        tokio::spawn(jobs::watch_settings(Arc::clone(&state))),
        tokio::spawn(jobs::watch_write_freeze(Arc::clone(&state))),
        tokio::spawn(jobs::sweep(Arc::clone(&state))),
        tokio::spawn(mail::job::send_mails(Arc::clone(&state))),
        tokio::spawn(crate::shopping::jobs::run(Arc::clone(&state))),
    ];
    let (stop, stopped) = oneshot::channel();
    let until = async {
        // A dropped sender stops the engine too.
        let _ = stopped.await;
    };
    let (shared, kept) = (Arc::clone(&state), Arc::clone(&state));
    let is_proxy = move |address| shared.settings.current().trusted_proxies.contains(address);
    let pages = Arc::clone(&state);
    let site = Site::new(http::router(state), move |request| crate::storefront::kept_page(&pages, request));
    let serving = tokio::spawn(connections::serve(listener, site, Limits::default(), is_proxy, until));
    tracing::info!(%address, "The engine listens");
    Running { address, stop: Some(stop), serving, jobs, keeping, farewell, state: kept, upkeep }
}

impl Running {
    /// Where the engine listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Does at once what the engine's jobs do every second; for tests that move the clock.
    #[doc(hidden)]
    pub async fn keep_up(&self) {
        jobs::upkeep_round(&self.state, &self.upkeep).await;
    }

    /// The engine's jobs no longer have turns of their own; for tests that count what changes.
    #[doc(hidden)]
    pub fn stop_keeping_up(&self) {
        self.keeping.abort();
    }

    /// Takes no more requests, lets the running ones end, and stops.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            // The receiver is gone only where serving has ended already.
            let _ = stop.send(());
        }
        if tokio::time::timeout(FAREWELL, &mut self.serving).await.is_err() {
            tracing::warn!("Requests were still running when the engine stopped");
        }
        self.farewell.notify_one();
        if tokio::time::timeout(FAREWELL, &mut self.keeping).await.is_err() {
            tracing::warn!("The engine's jobs were still running when it stopped");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.serving.abort();
        self.keeping.abort();
        for job in &self.jobs {
            job.abort();
        }
    }
}
