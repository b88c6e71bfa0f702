//! Bad networks: what the reader is told, what is repeated, and under which key.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use home::ShopIni;
use mcp::Options;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use wire::catalogue;

use crate::engine::{Engine, Reply, no_notes};
use crate::host::{Host, Place};

async fn opened(engine: &Engine) -> (Place, Host) {
    engine.answers(|_| Reply::done(no_notes()));
    let place = Place::new(&engine.url);
    let options = Options { timeout: Duration::from_secs(3), ..place.options() };
    let mut host = Host::open(options, "2025-11-25", "x").await;
    host.connect("t").await;
    (place, host)
}

/// Makes an answer, as often as it is asked for.
type Make = Box<dyn Fn() -> Reply + Send + Sync>;

fn saved() -> Value {
    json!({"id": 5, "name": "n", "saved": "created"})
}

/// Answers with `first` the first `times`, then properly.
fn first(
    times: usize,
    first: impl Fn() -> Reply + Send + Sync + 'static,
    then: Value,
) -> impl Fn(&Value) -> Reply {
    let count = AtomicUsize::new(0);
    move |_| if count.fetch_add(1, Ordering::SeqCst) < times { first() } else { Reply::done(then.clone()) }
}

fn torn() -> Reply {
    Reply::Raw(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{\"ok\":".to_vec(),
    )
}

#[tokio::test]
async fn what_comes_instead_of_an_answer_is_said_in_words() {
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    let json = "content-type: application/json\r\n";
    let rows: Vec<(Make, &str)> = vec![
        (
            Box::new(|| Reply::http("200 OK", "content-type: text/html\r\n", b"<html>shop</html>")),
            "This store has no endpoint for the agent: core/mcp.php is missing: a web page came from http://127.0.0.1",
        ),
        (
            Box::new(|| Reply::http("413 Too Large", "", b"")),
            "The server of the store refused the request as too large (HTTP 413).",
        ),
        (
            Box::new(move || Reply::http("200 OK", json, b"{\"ok\":true,\"data\":{")),
            "The store answered with something that is not json.",
        ),
        (
            Box::new(move || Reply::http("200 OK", json, b"")),
            "Unexpected answer: an empty answer (HTTP 200).",
        ),
        (Box::new(|| Reply::http("200 OK", "", b"\x00\x01\x02")), "Unexpected answer:"),
        (
            Box::new(|| Reply::http("302 Found", "location: http://evil.example.com/x\r\n", b"")),
            "Unexpected answer: a redirect to another place, `http://evil.example.com/x`, which is not followed.",
        ),
        (
            Box::new(|| Reply::http("307 Again", "location: /again\r\n", b"")),
            "Unexpected answer: redirects that lead from one to the next.",
        ),
        (
            Box::new(|| Reply::http("502 Bad", "", b"<html>")),
            "The store is not available right now (HTTP 502).",
        ),
        (
            Box::new(|| Reply::http("503 Busy", "retry-after: 600\r\n", b"")),
            "The store is not available right now (HTTP 503). It asks to wait 600 seconds.",
        ),
        (
            Box::new(|| Reply::http("429 Slow", "retry-after: 7\r\n", b"")),
            "The store is not available right now (HTTP 429). It asks to wait 7 seconds.",
        ),
        (
            Box::new(move || {
                Reply::http(
                    "200 OK",
                    "content-type: application/json\r\ncontent-encoding: gzip\r\n",
                    b"not gzip at all",
                )
            }),
            "Unexpected answer: the answer is packed and cannot be unpacked.",
        ),
        (Box::new(torn), "No connection to the store at http://127.0.0.1"),
        (Box::new(|| Reply::Raw(Vec::new())), "No connection to the store at http://127.0.0.1"),
        (
            Box::new(|| Reply::Raw(b"SSH-2.0-OpenSSH\r\n".to_vec())),
            "No connection to the store at http://127.0.0.1",
        ),
        (Box::new(|| Reply::Silence), "No connection to the store at http://127.0.0.1"),
    ];
    for (reply, beginning) in rows {
        engine.answers(move |_| reply());
        let called = host.call("memory_list", json!({})).await;
        assert!(called.refused() && called.text().starts_with(beginning), "{beginning}\n{}", called.text());
        engine.answers(|_| Reply::done(no_notes()));
        assert!(!host.call("memory_list", json!({})).await.refused());
    }
}

#[tokio::test]
async fn the_words_say_what_may_have_become_of_the_request() {
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    engine.answers(|_| torn());
    let read = host.call("memory_list", json!({})).await;
    assert!(
        read.text().contains(
            "the line broke in the middle of the answer. The call only reads, so nothing was changed"
        ),
        "{}",
        read.text()
    );
    let write = host.call("memory_save", json!({"name": "n"})).await;
    assert!(
        write.text().contains(
            "It may have been carried out. Repeat exactly this call later: it is then not done twice."
        ),
        "{}",
        write.text()
    );
}

#[tokio::test]
async fn an_address_where_nobody_answers_is_told_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for (url, words) in [
        (url.as_str(), "nobody answers there (connection refused). No session was opened"),
        ("https://no-such-shop.invalid", "its name is not known (DNS). No session was opened"),
    ] {
        let place = Place::new(url);
        let mut host = Host::open(place.options(), "2025-11-25", "x").await;
        let called = host.call("session_connect", json!({"topic": "t"})).await;
        assert!(
            called.text().starts_with("No connection to the store at ") && called.text().contains(words),
            "{}",
            called.text()
        );
    }
}

#[tokio::test]
async fn a_server_without_tls_is_told_so() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut line, _)) = listener.accept().await {
            let _ = line.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let place = Place::new(&url);
    let mut host = Host::open(place.options(), "2025-11-25", "x").await;
    let called = host.call("session_connect", json!({"topic": "t"})).await;
    assert!(called.text().contains("secure connection"), "{}", called.text());
}

#[tokio::test]
async fn a_read_is_repeated_by_itself() {
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    for reply in [torn as fn() -> Reply, || Reply::Raw(Vec::new()), || Reply::http("502 Bad", "", b"")] {
        engine.answers(first(2, reply, no_notes()));
        let before = engine.seen("AGENT_MEMORY_LIST").len();
        assert!(!host.call("memory_list", json!({})).await.refused());
        assert_eq!(engine.seen("AGENT_MEMORY_LIST").len(), before + 3);
    }
}

#[tokio::test]
async fn a_proxy_that_asks_for_a_second_gets_it() {
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    engine.answers(first(1, || Reply::http("503 Busy", "retry-after: 1\r\n", b""), no_notes()));
    let since = Instant::now();
    assert!(!host.call("memory_list", json!({})).await.refused());
    assert!(since.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_redirect_within_the_host_is_followed_with_the_request() {
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    engine.answers(first(1, || Reply::http("308 There", "location: /core/mcp.php\r\n", b""), no_notes()));
    assert!(!host.call("memory_list", json!({})).await.refused());
}

fn keys(engine: &Engine) -> Vec<String> {
    engine
        .seen("AGENT_MEMORY_SAVE")
        .iter()
        .map(|request| request["key"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_write_is_repeated_only_under_its_key() {
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    engine.answers(first(2, torn, saved()));
    let called = host.call("memory_save", json!({"name": "n"})).await;
    assert!(!called.refused(), "{}", called.text());
    let keys = keys(&engine);
    assert_eq!((keys.len(), keys.iter().collect::<BTreeSet<_>>().len()), (3, 1));
}

#[tokio::test]
async fn a_write_whose_fate_the_engine_does_not_know_keeps_its_key() {
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    let note = json!({"name": "n"});
    let unknown = || Reply::refused(&wire::catalogue::not_available(503, "", "It may have been done."));
    engine.answers(move |_| unknown());
    let called = host.call("memory_save", note.clone()).await;
    assert!(called.refused() && called.text().starts_with("The store is not available right now"));
    engine.answers(|_| Reply::done(saved()));
    assert!(!host.call("memory_save", note.clone()).await.refused());
    let keys = keys(&engine);
    assert_eq!((keys.len(), keys.iter().collect::<BTreeSet<_>>().len()), (2, 1));
}

#[tokio::test]
async fn a_write_repeated_by_the_agent_after_a_lost_answer_keeps_its_key() {
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    let note = json!({"name": "n", "body": "b"});
    engine.answers(|_| torn());
    assert!(host.call("memory_save", note.clone()).await.refused());
    engine.answers(|_| Reply::done(saved()));
    assert!(!host.call("memory_save", note.clone()).await.refused());
    let lost = keys(&engine);
    assert_eq!(lost.iter().collect::<BTreeSet<_>>().len(), 1);
    // Answered is answered: the same words once more are another note.
    assert!(!host.call("memory_save", note.clone()).await.refused());
    assert_ne!(keys(&engine).last(), lost.last());
    // A refusal of the store is an answer too.
    engine.answers(|_| Reply::refused(&catalogue::backup_soon("05:00", "05:30")));
    assert!(host.call("memory_save", note.clone()).await.text().starts_with("BACKUP_SOON: 05:00 - 05:30\n"));
    let refused = keys(&engine).last().cloned();
    engine.answers(|_| Reply::done(saved()));
    host.call("memory_save", note).await;
    assert_ne!(keys(&engine).last().cloned(), refused);
}

#[tokio::test]
async fn a_write_that_an_engine_took_and_died_of_may_have_been_done() {
    let engine = Arc::new(Engine::start().await);
    let (_place, mut host) = opened(&engine).await;
    let door = Arc::clone(&engine);
    engine.answers(move |_| {
        door.shut();
        torn()
    });
    let called = host.call("memory_save", json!({"name": "n"})).await;
    assert!(called.text().contains("connection refused"), "{}", called.text());
    assert!(called.text().contains("It may have been carried out."), "{}", called.text());
}

#[tokio::test]
async fn equal_writes_at_once_are_two_writes() {
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    engine.answers(|_| Reply::done(saved()));
    for _ in 0..2 {
        host.request("tools/call", json!({"name": "memory_save", "arguments": {"name": "n"}})).await;
    }
    for _ in 0..2 {
        assert_eq!(host.line().await["result"]["isError"], false);
    }
    assert_eq!(keys(&engine).iter().collect::<BTreeSet<_>>().len(), 2);
}

#[tokio::test]
async fn an_engine_that_comes_back_is_found_again() {
    let engine = Engine::start().await;
    let (place, mut host) = opened(&engine).await;
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    let connection = ShopIni::read(&place.store()).unwrap();
    ShopIni { url: address, ..connection.clone() }.write(&place.store()).unwrap();
    // A password is for the address it was typed for.
    let text = host.call("session_connect", json!({"topic": "t"})).await.text().to_owned();
    assert!(text.starts_with("NO_SETTINGS:") && text.contains("it was typed for the address"), "{text}");
    place.save_password(&place.store());
    assert!(host.call("session_connect", json!({"topic": "t"})).await.text().starts_with("No connection"));
    assert!(host.call("memory_list", json!({})).await.text().starts_with("Not connected"));
    connection.write(&place.store()).unwrap();
    place.save_password(&place.store());
    host.connect("t").await;
    assert!(!host.call("memory_list", json!({})).await.refused());
}

#[tokio::test]
async fn a_call_with_its_repeats_ends_in_its_time() {
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    engine.answers(move |_| if seen.fetch_add(1, Ordering::SeqCst) == 0 { torn() } else { Reply::Silence });
    let since = Instant::now();
    let called = host.call("memory_list", json!({})).await;
    assert!(called.text().contains("no answer within 3 seconds"), "{}", called.text());
    assert!(since.elapsed() < Duration::from_secs(5));
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_refusal_that_this_build_does_not_know_is_shown_as_it_came() {
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    engine.answers(|_| {
        Reply::Json(json!({"ok": false, "error": "MOON_IS_FULL: wait a night", "refusal": "moon"}))
    });
    let called = host.call("memory_list", json!({})).await;
    assert!(called.text().starts_with("Unexpected answer: the store refused: MOON_IS_FULL: wait a night"));
    engine.answers(|_| Reply::Json(json!({"ok": false, "error": "Module not found! [units/x.js]"})));
    let called = host.call("memory_list", json!({})).await;
    assert!(called.text().starts_with("Module not found! [units/x.js] "), "{}", called.text());
}

/// What the reader is told where an earlier try may have been carried out.
const EARLIER: &str =
    "An earlier try of this call got no answer and may have been carried out: repeat exactly this call";

#[tokio::test]
async fn a_refusal_says_nothing_about_an_earlier_try_and_the_key_is_kept() {
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    let note = json!({"name": "n", "body": "b"});
    let soon = || Reply::refused(&catalogue::backup_soon("05:00", "05:30"));
    // The first try is lost, its repeat is turned away at the gate.
    let count = AtomicUsize::new(0);
    engine.answers(move |_| if count.fetch_add(1, Ordering::SeqCst) == 0 { torn() } else { soon() });
    let answer = host.call("memory_save", note.clone()).await;
    let text = answer.text();
    assert!(text.starts_with("BACKUP_SOON: 05:00 - 05:30\n") && text.contains(EARLIER), "{text}");
    // So are the agent's repeats, until one is answered: all of it is one call.
    engine.answers(move |_| soon());
    let answer = host.call("memory_save", note.clone()).await;
    let text = answer.text();
    assert!(text.starts_with("BACKUP_SOON: 05:00 - 05:30\n") && text.contains(EARLIER), "{text}");
    engine.answers(|_| Reply::done(saved()));
    assert!(!host.call("memory_save", note.clone()).await.refused());
    let sent = keys(&engine);
    assert_eq!((sent.len(), sent.iter().collect::<BTreeSet<_>>().len()), (4, 1), "{sent:?}");
    host.call("memory_save", note).await;
    assert_ne!(keys(&engine).last(), sent.last());
}

#[tokio::test]
async fn a_repeat_that_cannot_be_sent_keeps_the_key() {
    let mut engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    let note = json!({"name": "n", "body": "b"});
    engine.answers(|_| torn());
    assert!(host.call("memory_save", note.clone()).await.refused());
    let lost = keys(&engine);
    engine.shut();
    let answer = host.call("memory_save", note.clone()).await;
    let text = answer.text();
    assert!(text.contains("It may have been carried out"), "{text}");
    engine.reopen().await;
    engine.answers(|_| Reply::done(saved()));
    assert!(!host.call("memory_save", note).await.refused());
    assert_eq!(keys(&engine).last(), lost.last());
}

#[tokio::test]
async fn thousands_of_calls_go_in_turn_over_a_few_lines() {
    const MANY: u64 = 2_000;
    /// Calls on their way at once.
    const MOST: u64 = 16;
    let engine = Engine::start().await;
    let (_place, mut host) = opened(&engine).await;
    let before = engine.lines();
    let mut text = String::new();
    for number in 0..MANY {
        let arguments = json!({"find": number.to_string()});
        let params = json!({"name": "memory_list", "arguments": arguments});
        let line = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params});
        text.push_str(&format!("{line}\n"));
    }
    host.raw(text.as_bytes()).await;
    for _ in 0..MANY {
        let line = host.line().await;
        assert_ne!(line["result"]["isError"], true, "{line}");
    }
    let lines = engine.lines() - before;
    assert!(lines as u64 <= MOST, "{lines} lines");
    // Whoever came first went first: only those that were on their way together may have changed places.
    for (place, request) in (0_u64..).zip(engine.seen("AGENT_MEMORY_LIST")) {
        let number: u64 = request["params"]["find"].as_str().unwrap().parse().unwrap();
        assert!(number < place + MOST, "call {number} went as number {place}");
    }
}
