//! PostgreSQL: a pool of connections, driven from the callers' blocking threads.

mod agent;
mod closing;
mod guard;
mod lex;
mod listen;
mod named;
pub(crate) mod reader;
mod session;
mod tls;
mod value;
mod whole;

pub(crate) use session::PostgresSession;
pub(crate) use whole::CopyIn;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime};
use tokio_postgres::Config;
use tokio_postgres::error::SqlState;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::DbError;
use crate::signal::{Listeners, Signals};
use named::Numbered;

/// Connections of one node, at most.
const CONNECTIONS: usize = 16;
/// How long a caller waits for a connection, new or of the pool.
const WAIT: Duration = Duration::from_secs(20);
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
    runtime: Option<tokio::runtime::Runtime>,
    pool: Pool,
    config: Config,
    /// Keeps lines to other computers secret.
    tls: MakeRustlsConnect,
    /// Connections of the agents' login.
    readers: Mutex<Option<Pool>>,
    listeners: Arc<Listeners>,
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
    fn wait<T>(&self, work: impl Future<Output = Result<T, DbError>>) -> Result<T, DbError> {
        match &self.runtime {
            Some(runtime) => runtime.block_on(work),
            None => Err(DbError::unreachable("the database is being closed")),
        }
    }

    /// What the nodes say from now on.
    pub(crate) fn listen(&self) -> Result<Signals, DbError> {
        let signals = self.listeners.add();
        let mut hears = self.hears.lock().unwrap_or_else(PoisonError::into_inner);
        if !*hears {
            let hearing =
                self.wait(listen::start(self.config.clone(), self.tls.clone(), Arc::clone(&self.listeners)))?;
            if let Some(runtime) = &self.runtime {
                runtime.spawn(hearing);
            }
            *hears = true;
        }
        Ok(signals)
    }

    fn numbered(&self, sql: &str) -> Arc<Numbered> {
        let mut known = self.numbered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(numbered) = known.get(sql) {
            return Arc::clone(numbered);
        }
        let numbered = Arc::new(named::number(sql));
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

/// What a failure of the server means to the callers.
pub(crate) fn error(error: tokio_postgres::Error) -> DbError {
    let Some(cause) = error.as_db_error() else {
        return if error.is_closed()
            || std::error::Error::source(&error).is_some_and(|s| s.is::<std::io::Error>())
        {
            DbError::unreachable(error)
        } else {
            DbError::sql(error)
        };
    };
    let code = cause.code();
    if code.code() == closing::STATE {
        DbError::Closed
    } else if *code == SqlState::UNIQUE_VIOLATION {
        DbError::Conflict(cause.message().to_owned())
    } else if *code == SqlState::FOREIGN_KEY_VIOLATION {
        DbError::Dangling(cause.message().to_owned())
    } else if [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
    ]
    .contains(code)
    {
        DbError::Busy
    } else if ["08", "57P0", "53", "28", "3D"].iter().any(|class| code.code().starts_with(class)) {
        DbError::unreachable(error)
    } else {
        DbError::sql(error)
    }
}

fn pool_error(failure: PoolError) -> DbError {
    match failure {
        // No answer of the server: the line could not be opened, or not kept secret.
        PoolError::Backend(cause) if cause.as_db_error().is_none() => DbError::unreachable(cause),
        PoolError::Backend(cause) => error(cause),
        other => DbError::unreachable(other),
    }
}
