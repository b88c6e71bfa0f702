//! Connections to a server, and the threads that carry their traffic.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio_postgres::Config;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::parameters::{self, Numbered};
use super::{listen, tls};
use crate::DbError;
use crate::signal::{Listeners, Signals};

/// Connections of one node, at most.
pub(super) const CONNECTIONS: usize = 16;
/// How long a caller waits for a connection, new or of the pool.
pub(super) const WAIT: Duration = Duration::from_secs(20);
/// How long a connection may take to open.
const CONNECT: Duration = Duration::from_secs(5);
/// Statements whose numbered form is remembered.
const STATEMENTS_KEPT: usize = 2000;
/// Settings of every connection: whatever the server's own are, statements mean the same.
const OPTIONS: &str = "-c timezone=UTC -c datestyle=ISO -c bytea_output=hex -c lock_timeout=20s \
                       -c standard_conforming_strings=on -c idle_in_transaction_session_timeout=120s";

/// A server's database.
pub(crate) struct Postgres {
    /// Carries the connections' traffic. `None` only while dropping.
    pub(super) runtime: Option<tokio::runtime::Runtime>,
    pub(super) pool: Pool,
    pub(super) config: Config,
    /// Keeps lines to other computers secret.
    pub(super) tls: MakeRustlsConnect,
    /// Connections of the agents' login.
    pub(super) readers: Mutex<Option<Pool>>,
    pub(crate) listeners: Arc<Listeners>,
    /// Whether this node hears the others already.
    hears: Mutex<bool>,
    /// Statements with `:name` in the form the server takes.
    numbered: Mutex<HashMap<String, Arc<Numbered>>>,
}

impl Postgres {
    /// Files that the address names lie below `root`.
    pub(crate) fn open(url: &str, root: &Path) -> Result<Self, DbError> {
        let (mut config, tls) = tls::open(url, root)?;
        let options = config.get_options().map_or(OPTIONS.to_owned(), |own| format!("{OPTIONS} {own}"));
        config.options(options);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_application_name().is_none() {
            config.application_name("shopwright");
        }
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let pool = Pool::builder(Manager::from_config(config.clone(), tls.clone(), manager))
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(WAIT))
            .create_timeout(Some(WAIT))
            .build()
            .map_err(DbError::unreachable)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build()
            .map_err(DbError::unreachable)?;
        Ok(Self {
            runtime: Some(runtime),
            pool,
            config,
            tls,
            readers: Mutex::default(),
            listeners: Arc::default(),
            hears: Mutex::default(),
            numbered: Mutex::default(),
        })
    }

    /// Waits for the server in this thread.
    pub(super) fn wait<T>(&self, work: impl Future<Output = Result<T, DbError>>) -> Result<T, DbError> {
        match &self.runtime {
            Some(runtime) => runtime.block_on(work),
            None => Err(DbError::unreachable("the database is being closed")),
        }
    }

    /// Whether only a server that takes writes will do: so it is, unless the address says otherwise.
    pub(super) fn wants_writable(&self) -> bool {
        self.config.get_target_session_attrs() == TargetSessionAttrs::ReadWrite
    }

    /// Lets the idle connections go: their server turned out to be none that takes writes.
    pub(super) fn drop_idle(&self) {
        self.pool.retain(|_, _| false);
    }

    /// What the nodes say from now on.
    pub(crate) fn listen(&self) -> Result<Signals, DbError> {
        let signals = self.listeners.add();
        self.begin_hearing()?;
        Ok(signals)
    }

    /// Hears the other nodes from now on.
    pub(crate) fn begin_hearing(&self) -> Result<(), DbError> {
        let mut hears = self.hears.lock().unwrap_or_else(PoisonError::into_inner);
        if !*hears {
            let hearing =
                self.wait(listen::start(self.config.clone(), self.tls.clone(), Arc::clone(&self.listeners)))?;
            if let Some(runtime) = &self.runtime {
                runtime.spawn(hearing);
            }
            *hears = true;
        }
        Ok(())
    }

    pub(super) fn numbered(&self, sql: &str) -> Arc<Numbered> {
        let mut known = self.numbered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(numbered) = known.get(sql) {
            return Arc::clone(numbered);
        }
        let numbered = Arc::new(parameters::number(sql));
        if known.len() >= STATEMENTS_KEPT {
            known.clear();
        }
        known.insert(sql.to_owned(), Arc::clone(&numbered));
        numbered
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Dropping a runtime waits for its threads, which an asynchronous caller may not.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
