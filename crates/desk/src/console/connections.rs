//! Connections to the console: how many there are at once, and which one makes room.
//!
//! Loopback is open to every user of this computer. So a connection that says
//! nothing is closed soon, and where there are many, one that never showed the
//! cookie makes room for a new one: nobody else's idle connections keep the
//! person out.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot, watch};

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most connections at once.
    pub(crate) connections: usize,
    /// How long one may say nothing.
    pub(crate) idle: Duration,
}

impl Limits {
    /// A quarter of the files this process may open, so that engine and hand-over have theirs.
    pub(crate) fn of_this_process() -> Self {
        Self { connections: (most_files() / 4).clamp(8, 256), idle: Duration::from_secs(20) }
    }
}

/// How many files this process may open.
#[cfg(unix)]
fn most_files() -> usize {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Nofile).current.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX)
}

#[cfg(not(unix))]
fn most_files() -> usize {
    1024
}

/// One connection, as the guard and the newcomers see it.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// It showed the cookie of this start.
    is_known: AtomicBool,
    /// Requests that are being answered.
    running: AtomicUsize,
    /// Tells it to make room.
    leave: Notify,
}

impl Connection {
    /// Whoever shows the cookie makes room last.
    pub(crate) fn shows_cookie(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// What makes room first: strangers before those with the cookie, idle ones before busy ones.
    fn rank(&self) -> (bool, bool) {
        (self.is_known.load(Ordering::Relaxed), self.running.load(Ordering::Relaxed) > 0)
    }
}

/// The open connections, oldest first.
#[derive(Debug, Default)]
struct Open {
    next: AtomicU64,
    connections: Mutex<BTreeMap<u64, Arc<Connection>>>,
}

impl Open {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Connection>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a new one; where there are too many, another one is told to go.
    fn enter(&self, most: usize) -> (u64, Arc<Connection>) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(Connection::default());
        let mut connections = self.lock();
        if connections.len() >= most {
            let leaves = connections.iter().min_by_key(|(number, one)| (one.rank(), **number));
            if let Some(number) = leaves.map(|(number, _)| *number)
                && let Some(leaves) = connections.remove(&number)
            {
                leaves.leave.notify_one();
            }
        }
        connections.insert(number, Arc::clone(&connection));
        (number, connection)
    }
}

/// Serves until told to stop, and then until the running requests are answered.
pub(crate) async fn serve(
    mut listener: TcpListener,
    router: Router,
    limits: Limits,
    mut stopped: oneshot::Receiver<()>,
) {
    let open = Arc::new(Open::default());
    let (stop, stopping) = watch::channel(());
    loop {
        let (stream, _) = tokio::select! {
            _ = &mut stopped => break,
            accepted = Listener::accept(&mut listener) => accepted,
        };
        let (number, connection) = open.enter(limits.connections);
        let (open, router, stopping) = (Arc::clone(&open), router.clone(), stopping.clone());
        tokio::spawn(async move {
            carry(stream, &connection, router, limits, stopping).await;
            open.lock().remove(&number);
        });
    }
    drop((listener, stopping));
    // Every connection hears it, and is gone when nobody listens any more.
    let _ = stop.send(());
    stop.closed().await;
}

/// Serves one connection to its end.
async fn carry(
    stream: TcpStream,
    connection: &Arc<Connection>,
    router: Router,
    limits: Limits,
    mut stopping: watch::Receiver<()>,
) {
    let seen = Arc::clone(connection);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        seen.running.fetch_add(1, Ordering::Relaxed);
        request.extensions_mut().insert(Arc::clone(&seen));
        let (answer, seen) = (router.call(request), Arc::clone(&seen));
        async move {
            let answer = answer.await;
            seen.running.fetch_sub(1, Ordering::Relaxed);
            answer
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.idle);
    let mut serving = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // How a connection ends is the caller's business.
        _ = &mut serving => return,
        () = connection.leave.notified() => return,
        _ = stopping.changed() => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

#[cfg(test)]
mod tests;
