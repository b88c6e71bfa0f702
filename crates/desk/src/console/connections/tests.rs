//! Tests of the connections: real ones on loopback.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::routing::get;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::{Connection, Limits, serve};

/// How long what must come may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server whose `/known` is as good as the cookie.
async fn server(limits: Limits) -> (SocketAddr, oneshot::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let known = get(|request: Request| async move {
        request.extensions().get::<Arc<Connection>>().unwrap().shows_cookie();
    });
    let router = Router::new().route("/", get(|| async { "here" })).route("/known", known);
    let (stop, stopped) = oneshot::channel();
    tokio::spawn(serve(listener, router, limits, stopped));
    (address, stop)
}

async fn ask(line: &mut TcpStream, path: &str) -> String {
    line.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = vec![0; 1024];
    let count = tokio::time::timeout(PATIENCE, line.read(&mut answer)).await.unwrap().unwrap_or(0);
    String::from_utf8_lossy(&answer[..count]).into_owned()
}

/// Waits for the server's end of a connection.
async fn is_closed(line: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    tokio::time::timeout(PATIENCE, line.read_to_end(&mut rest)).await.is_ok()
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() {
    let idle = Duration::from_millis(50);
    let (address, _stop) = server(Limits { connections: 9, idle }).await;
    let mut silent = TcpStream::connect(address).await.unwrap();
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(b"GET / HTT").await.unwrap();
    let mut answered = TcpStream::connect(address).await.unwrap();
    assert!(ask(&mut answered, "/").await.starts_with("HTTP/1.1 200"));
    for line in [&mut silent, &mut half, &mut answered] {
        assert!(is_closed(line).await);
    }
}

#[tokio::test]
async fn strangers_make_room_and_whoever_is_known_stays() {
    let (address, _stop) = server(Limits { connections: 4, idle: Duration::from_secs(600) }).await;
    let mut known = TcpStream::connect(address).await.unwrap();
    assert!(ask(&mut known, "/known").await.starts_with("HTTP/1.1 200"));
    let mut strangers = Vec::new();
    for _ in 0..40 {
        strangers.push(TcpStream::connect(address).await.unwrap());
    }
    let mut newcomer = TcpStream::connect(address).await.unwrap();
    assert!(ask(&mut newcomer, "/").await.starts_with("HTTP/1.1 200"));
    assert!(ask(&mut known, "/").await.starts_with("HTTP/1.1 200"));
    for stranger in &mut strangers[..36] {
        assert!(is_closed(stranger).await);
    }
}

#[tokio::test]
async fn stopping_closes_what_is_idle() {
    let (address, stop) = server(Limits { connections: 4, idle: Duration::from_secs(600) }).await;
    let mut idle = TcpStream::connect(address).await.unwrap();
    assert!(ask(&mut idle, "/").await.starts_with("HTTP/1.1 200"));
    stop.send(()).unwrap();
    assert!(is_closed(&mut idle).await);
}
