//! Connections that take too much, seen from the other side.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Bytes;
use axum::routing::get;
use futures_util::{Stream, StreamExt as _, stream};
use http_body_util::{BodyExt as _, Empty};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;

const ASK: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const ASK_LARGE: &[u8] = b"GET /large HTTP/1.1\r\nhost: a\r\n\r\n";
/// More than the system takes for a peer that does not read.
const LARGE: usize = 64 << 20;

async fn start(limits: Limits) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    start_behind(limits, false).await
}

async fn start_behind(limits: Limits, is_proxy: bool) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let router = Router::new()
        .route("/", get(async |peer: ConnectInfo<SocketAddr>| peer.0.to_string()))
        .route("/large", get(async || Bytes::from(vec![b'x'; LARGE])))
        .route("/slow", get(async || axum::body::Body::from_stream(paused())));
    let serving = tokio::spawn(serve(listener, router, limits, move |_| is_proxy, async {
        let _ = stopped.await;
    }));
    (address, stop, serving)
}

/// A body that pauses for longer than an answer may take.
fn paused() -> impl Stream<Item = Result<&'static str, Infallible>> {
    stream::iter(["first", "second"]).then(async |part| {
        if part == "second" {
            let nothing = std::future::pending::<()>();
            tokio::time::timeout(SOON * 3, nothing).await.unwrap_err();
        }
        Ok(part)
    })
}

fn long() -> Patience {
    let long = Duration::from_secs(600);
    Patience { first: long, idle: long, idle_while_others_wait: long, answer: long, rate: 1 }
}

fn limits(patience: Patience) -> Limits {
    Limits { patience, ..Limits::default() }
}

const SOON: Duration = Duration::from_millis(100);

/// Writes, and reads until the other side closes.
async fn whole(address: SocketAddr, bytes: &[u8]) -> (String, SocketAddr) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let own = stream.local_addr().unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    (String::from_utf8(answer).unwrap(), own)
}

/// A connection that asked and was answered, and stays.
async fn answered(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(ASK).await.unwrap();
    assert!(stream.read(&mut [0; 1024]).await.unwrap() > 0);
    stream
}

#[tokio::test]
async fn who_asks_is_answered_and_who_is_silent_loses_the_connection() {
    let (address, stop, serving) = start(limits(Patience { first: SOON, idle: SOON, ..long() })).await;
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
async fn the_next_connection_waits_until_one_ends() {
    let (address, _stop, _serving) = start(Limits { connections: 1, ..limits(long()) }).await;
    let first = answered(address).await;
    let mut second = TcpStream::connect(address).await.unwrap();
    second.write_all(ASK).await.unwrap();
    let mut answer = [0; 1024];
    tokio::time::timeout(Duration::from_millis(50), second.read(&mut answer)).await.unwrap_err();
    drop(first);
    assert!(second.read(&mut answer).await.unwrap() > 0);
}

#[tokio::test]
async fn one_address_takes_its_share_of_the_connections_and_its_others_wait() {
    let (address, _stop, _serving) = start(Limits { of_address: 2, ..limits(long()) }).await;
    let (first, _second) = (answered(address).await, answered(address).await);
    let mut waiting = TcpStream::connect(address).await.unwrap();
    waiting.write_all(ASK).await.unwrap();
    let mut answer = [0; 1024];
    tokio::time::timeout(Duration::from_millis(50), waiting.read(&mut answer)).await.unwrap_err();
    // Another address of this computer is another client.
    let elsewhere = tokio::net::TcpSocket::new_v4().unwrap();
    elsewhere.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut elsewhere = elsewhere.connect(address).await.unwrap();
    elsewhere.write_all(ASK).await.unwrap();
    assert!(elsewhere.read(&mut [0; 1024]).await.unwrap() > 0);
    // As many may wait as may be served; more are sent away.
    let _fourth = TcpStream::connect(address).await.unwrap();
    let (sent_away, _) = whole(address, b"").await;
    assert_eq!(sent_away, "");
    drop(first);
    assert!(waiting.read(&mut answer).await.unwrap() > 0);
}

#[tokio::test]
async fn a_proxy_brings_the_connections_of_many() {
    let (address, _stop, _serving) = start_behind(Limits { of_address: 1, ..limits(long()) }, true).await;
    let (_first, _second) = (answered(address).await, answered(address).await);
}

#[tokio::test]
async fn an_idle_connection_makes_room_for_one_that_waits() {
    let patience = Patience { idle_while_others_wait: SOON, ..long() };
    let (address, _stop, _serving) = start(Limits { of_address: 1, ..limits(patience) }).await;
    let mut first = answered(address).await;
    let _second = answered(address).await;
    assert_eq!(first.read(&mut [0; 16]).await.unwrap(), 0, "it was told to go");
}

#[tokio::test]
async fn an_answer_that_nobody_reads_ends_its_connection() {
    let (address, stop, serving) = start(limits(Patience { answer: SOON, rate: 1 << 20, ..long() })).await;
    let mut deaf = TcpStream::connect(address).await.unwrap();
    deaf.write_all(ASK_LARGE).await.unwrap();
    deaf.read_exact(&mut [0]).await.unwrap();
    // Nothing runs any more when it is cut off, so the server comes to its end although we did not read.
    stop.send(()).unwrap();
    serving.await.unwrap();
    let mut got = Vec::new();
    let _ = deaf.read_to_end(&mut got).await;
    assert!(!got.is_empty() && got.len() < LARGE, "{} bytes", got.len());
}

#[tokio::test]
async fn an_answer_that_is_read_comes_whole() {
    let (address, _stop, _serving) = start(limits(Patience { answer: SOON, ..long() })).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /large HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut got = Vec::new();
    stream.read_to_end(&mut got).await.unwrap();
    assert!(got.len() > LARGE && got.ends_with(&[b'x'; 1024]));
}

#[tokio::test]
async fn an_answer_that_pauses_keeps_its_connection() {
    let patience = Patience { answer: SOON / 5, idle: SOON / 5, rate: 1 << 20, ..long() };
    let (address, _stop, _serving) = start(limits(patience)).await;
    let (answer, _) = whole(address, b"GET /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
    assert!(answer.contains("first") && answer.contains("second"), "{answer}");
}

type Http2 = hyper::client::conn::http2::SendRequest<Empty<Bytes>>;

/// A connection of HTTP/2 on which nothing was asked yet, and its end.
async fn http2(address: SocketAddr, window: u32) -> (Http2, JoinHandle<()>) {
    let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(window).initial_connection_window_size(window);
    let (ask, serving) = builder.handshake::<_, Empty<Bytes>>(stream).await.unwrap();
    let end = tokio::spawn(async move {
        let _ = serving.await;
    });
    (ask, end)
}

async fn get2(ask: &mut Http2, path: &str) -> hyper::Response<Incoming> {
    let request = Request::get(format!("http://a{path}")).body(Empty::new()).unwrap();
    ask.send_request(request).await.unwrap()
}

#[tokio::test]
async fn an_idle_connection_of_http2_is_closed() {
    for has_asked in [true, false] {
        let (address, _stop, _serving) = start(limits(Patience { first: SOON, idle: SOON, ..long() })).await;
        let (mut ask, end) = http2(address, 1 << 20).await;
        if has_asked {
            let answer = get2(&mut ask, "/").await;
            answer.into_body().collect().await.unwrap();
        }
        end.await.unwrap();
        assert!(ask.is_closed(), "{has_asked}");
    }
}

#[tokio::test]
async fn an_answer_that_http2_holds_back_ends_its_connection() {
    let (address, _stop, _serving) = start(limits(Patience { answer: SOON, rate: 1 << 20, ..long() })).await;
    let (mut ask, end) = http2(address, 1 << 16).await;
    // Its window is full, and nothing of it is read.
    let unread = get2(&mut ask, "/large").await;
    end.await.unwrap();
    let rest: Result<_, hyper::Error> = unread.into_body().collect().await;
    assert!(rest.is_err());
}
