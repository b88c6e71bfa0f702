//! Connections: how many there are at once, of everybody and of one address, and when one ends.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::response::Response;
use axum::serve::Listener;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::activity::{Activity, Counted, Fate, Patience};
use super::address_shares::AddressShares;

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most connections at once; others wait until one ends.
    pub(crate) connections: usize,
    /// Most connections of one client address; others of it wait in order, and as many may wait.
    pub(crate) of_address: usize,
    /// Requests at once on one connection of HTTP/2.
    pub(crate) streams: u32,
    pub(crate) patience: Patience,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 2048, of_address: 512, streams: 16, patience: Patience::default() }
    }
}

/// What requests are answered with.
#[derive(Clone)]
pub(crate) struct Site {
    router: Router,
    at_once: Option<Arc<AtOnce>>,
}

/// Answers what needs no way through the router, and no wait.
type AtOnce = dyn Fn(&Request<Incoming>) -> Option<Response> + Send + Sync;

impl Site {
    /// A site some of whose answers are had at once.
    pub(crate) fn new(
        router: Router,
        at_once: impl Fn(&Request<Incoming>) -> Option<Response> + Send + Sync + 'static,
    ) -> Self {
        Self { router, at_once: Some(Arc::new(at_once)) }
    }
}

impl From<Router> for Site {
    fn from(router: Router) -> Self {
        Self { router, at_once: None }
    }
}

/// Serves until it is told to stop, and then until the running requests are answered.
///
/// Addresses that `is_proxy` bring connections of many people, who are told apart by their requests.
pub(crate) async fn serve(
    mut listener: TcpListener,
    site: impl Into<Site>,
    limits: Limits,
    is_proxy: impl Fn(IpAddr) -> bool,
    until: impl Future<Output = ()>,
) {
    let doors = Arc::new(Doors::new(limits));
    let site = site.into();
    let (stop, stopping) = watch::channel(());
    let mut until = pin!(until);
    loop {
        let next = async {
            let place = Arc::clone(&doors.places).acquire_owned().await.ok()?;
            let (stream, peer) = Listener::accept(&mut listener).await;
            Some((place, stream, peer))
        };
        let next = tokio::select! {
            () = &mut until => None,
            next = next => next,
        };
        let Some((place, stream, peer)) = next else { break };
        let mut newcomer = Newcomer {
            doors: Arc::clone(&doors),
            stream,
            peer,
            site: site.clone(),
            stopping: stopping.clone(),
        };
        if is_proxy(peer.ip().to_canonical()) {
            tokio::spawn(newcomer.carry(place, None));
            continue;
        }
        match Arc::clone(&doors.shares.of(peer.ip())).try_acquire_owned() {
            Ok(share) => {
                tokio::spawn(newcomer.carry(place, Some(share)));
            }
            // Its address has its share: it waits without taking anybody's place, unless too many do.
            Err(_) => match Arc::clone(&doors.waiting.of(peer.ip())).try_acquire_owned() {
                Ok(turn) => {
                    drop(place);
                    tokio::spawn(async move {
                        if let Some((place, share)) = newcomer.wait(turn).await {
                            newcomer.carry(place, Some(share)).await;
                        }
                    });
                }
                Err(_) => drop(newcomer),
            },
        }
    }
    drop((listener, stopping));
    // Every connection hears it, and is gone when nobody listens any more.
    let _ = stop.send(());
    stop.closed().await;
}

/// What all connections share.
struct Doors {
    limits: Limits,
    places: Arc<Semaphore>,
    /// Connections of each address.
    shares: AddressShares,
    /// Connections of each address that wait for one of its others to end.
    waiting: AddressShares,
    builder: Builder<TokioExecutor>,
}

impl Doors {
    fn new(limits: Limits) -> Self {
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.patience.idle);
        let http2 = &mut builder.http2();
        http2.timer(TokioTimer::new()).max_concurrent_streams(limits.streams);
        http2.keep_alive_interval(limits.patience.first).keep_alive_timeout(limits.patience.first);
        Self {
            limits,
            places: Arc::new(Semaphore::new(limits.connections)),
            shares: AddressShares::new(limits.of_address),
            waiting: AddressShares::new(limits.of_address),
            builder,
        }
    }

    /// Whether somebody waits whom an idle connection of this address keeps waiting.
    fn do_others_wait(&self, address: IpAddr) -> bool {
        self.places.available_permits() == 0
            || self.waiting.of(address).available_permits() < self.waiting.each()
    }
}

/// A connection that was opened.
struct Newcomer {
    doors: Arc<Doors>,
    stream: TcpStream,
    peer: SocketAddr,
    site: Site,
    stopping: watch::Receiver<()>,
}

impl Newcomer {
    /// Waits until its address may have one more connection; `None` if that takes too long.
    async fn wait(
        &mut self,
        _turn: OwnedSemaphorePermit,
    ) -> Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)> {
        let places = async {
            let share = self.doors.shares.of(self.peer.ip()).acquire_owned().await.ok()?;
            Some((Arc::clone(&self.doors.places).acquire_owned().await.ok()?, share))
        };
        tokio::select! {
            places = tokio::time::timeout(self.doors.limits.patience.first, places) => places.ok()?,
            _ = self.stopping.changed() => None,
        }
    }

    /// Serves the connection to its end.
    async fn carry(self, place: OwnedSemaphorePermit, share: Option<OwnedSemaphorePermit>) {
        let Self { doors, stream, peer, site, mut stopping } = self;
        let patience = doors.limits.patience;
        let _held = (place, share);
        // An answer is one small packet; it must not wait for another.
        let _ = stream.set_nodelay(true);
        let activity = Activity::new();
        let seen = Arc::clone(&activity);
        let Site { router, at_once } = site;
        let router = TowerToHyperService::new(router);
        let service = service_fn(move |mut request: Request<Incoming>| {
            let work = seen.work(patience);
            let answer = match at_once.as_ref().and_then(|at_once| at_once(&request)) {
                Some(answer) => Ok(answer),
                None => {
                    request.extensions_mut().insert(ConnectInfo(peer));
                    Err(router.call(request))
                }
            };
            async move {
                let answer = match answer {
                    Ok(answer) => answer,
                    Err(answer) => answer.await?,
                };
                Ok::<_, Infallible>(work.answered(answer))
            }
        });
        let stream = TokioIo::new(Counted { stream, activity: Arc::clone(&activity) });
        let mut serving = pin!(doors.builder.serve_connection(stream, service));
        let mut leaving: Option<Instant> = None;
        let mut ticks = interval(patience.tick());
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // How a connection ends is the caller's business.
                _ = &mut serving => return,
                _ = stopping.changed(), if leaving.is_none() => {
                    serving.as_mut().graceful_shutdown();
                    leaving = Some(Instant::now());
                }
                _ = ticks.tick() => match activity.fate(patience, doors.do_others_wait(peer.ip())) {
                    Fate::Stays => {}
                    Fate::Leaves if leaving.is_none() => {
                        serving.as_mut().graceful_shutdown();
                        leaving = Some(Instant::now());
                    }
                    // It was told, and does not go.
                    Fate::Leaves if leaving.is_some_and(|since| since.elapsed() >= patience.first) => return,
                    Fate::Leaves => {}
                    Fate::IsCut => return,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests;
