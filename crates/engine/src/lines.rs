//! Connections: how many there are at once, and how long one may keep its place without asking.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::serve::Listener;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Most connections at once; others wait until one ends.
    pub(crate) lines: usize,
    /// Requests at once on one connection of HTTP/2.
    pub(crate) streams: u32,
    /// Until the first request.
    pub(crate) first: Duration,
    /// Between requests of HTTP/1, and for a request's head; longer than clients keep an idle connection.
    pub(crate) between: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        let (first, between) = (Duration::from_secs(30), Duration::from_secs(120));
        Self { lines: 2048, streams: 16, first, between }
    }
}

/// Serves until it is told to stop, and then until the running requests are answered.
pub(crate) async fn serve(
    mut listener: TcpListener,
    router: Router,
    patience: Patience,
    until: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(patience.lines));
    let farewell = GracefulShutdown::new();
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(patience.between);
    let http2 = &mut builder.http2();
    http2.timer(TokioTimer::new()).max_concurrent_streams(patience.streams);
    http2.keep_alive_interval(patience.first).keep_alive_timeout(patience.first);
    let mut until = pin!(until);
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            let (line, peer) = Listener::accept(&mut listener).await;
            Some((place, line, peer))
        };
        let next = tokio::select! {
            () = &mut until => None,
            next = next => next,
        };
        let Some((place, line, peer)) = next else { break };
        let router = router.clone();
        let line = Line { place, stream: line, patience };
        line.carry(&builder, router, ConnectInfo(peer), &farewell);
    }
    drop(listener);
    farewell.shutdown().await;
}

/// One connection.
struct Line {
    place: OwnedSemaphorePermit,
    stream: TcpStream,
    patience: Patience,
}

impl Line {
    fn carry(
        self,
        builder: &Builder<TokioExecutor>,
        router: Router,
        peer: ConnectInfo<std::net::SocketAddr>,
        farewell: &GracefulShutdown,
    ) {
        let Self { place, stream, patience } = self;
        // An answer is one small packet; it must not wait for another.
        let _ = stream.set_nodelay(true);
        let has_asked = Arc::new(AtomicBool::new(false));
        let asks = Arc::clone(&has_asked);
        let router = TowerToHyperService::new(router);
        let service = service_fn(move |mut request: Request<Incoming>| {
            asks.store(true, Ordering::Relaxed);
            request.extensions_mut().insert(peer);
            router.call(request)
        });
        let serving = builder.serve_connection(TokioIo::new(stream), service).into_owned();
        let serving = farewell.watch(serving);
        tokio::spawn(async move {
            let _place = place;
            let mut serving = pin!(serving);
            // How a connection ends is the caller's business.
            if tokio::time::timeout(patience.first, &mut serving).await.is_err()
                && has_asked.load(Ordering::Relaxed)
            {
                let _ = serving.await;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;

    use super::*;

    const ASK: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";

    async fn start(patience: Patience) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let router = Router::new().route("/", get(async |peer: ConnectInfo<SocketAddr>| peer.0.to_string()));
        let serving = tokio::spawn(serve(listener, router, patience, async {
            let _ = stopped.await;
        }));
        (address, stop, serving)
    }

    fn short() -> Patience {
        let soon = Duration::from_millis(100);
        Patience { lines: 2, streams: 1, first: soon, between: soon }
    }

    /// Writes, and reads until the other side closes.
    async fn whole(address: SocketAddr, bytes: &[u8]) -> (String, SocketAddr) {
        let mut line = TcpStream::connect(address).await.unwrap();
        let own = line.local_addr().unwrap();
        line.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        let _ = line.read_to_end(&mut answer).await;
        (String::from_utf8(answer).unwrap(), own)
    }

    #[tokio::test]
    async fn who_asks_is_answered_and_who_is_silent_loses_the_line() {
        let (address, stop, serving) = start(short()).await;
        for bytes in [&b""[..], b"P", b"PRI * HT", b"GET / HTTP/1.1\r\nhost"] {
            let (answer, _) = whole(address, bytes).await;
            assert!(!answer.contains("200 OK"), "{answer}");
        }
        let (answer, own) = whole(address, ASK).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with(&own.to_string()), "{answer}");
        stop.send(()).unwrap();
        serving.await.unwrap();
        TcpStream::connect(address).await.unwrap_err();
    }

    #[tokio::test]
    async fn the_next_line_waits_until_one_ends() {
        let long = Patience { lines: 1, ..Patience::default() };
        let (address, _stop, _serving) = start(long).await;
        let mut first = TcpStream::connect(address).await.unwrap();
        first.write_all(ASK).await.unwrap();
        assert!(first.read(&mut [0; 1024]).await.unwrap() > 0);
        let mut second = TcpStream::connect(address).await.unwrap();
        second.write_all(ASK).await.unwrap();
        let mut answer = [0; 1024];
        let waiting = tokio::time::timeout(Duration::from_millis(50), second.read(&mut answer)).await;
        waiting.unwrap_err();
        drop(first);
        assert!(second.read(&mut answer).await.unwrap() > 0);
    }
}
