//! Thousands of answers no engine gives: each ends in the catalogue's words or in a proper answer.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use mcp::Options;
use proptest::prelude::any;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use wire::catalogue;

use crate::engine::{Engine, Reply, no_notes};
use crate::host::{Called, Host, Place};

/// Answers of each sort.
const EACH: usize = 5000;
/// Calls at once.
const AT_ONCE: usize = 500;

/// A simple source of numbers, the same in every run.
struct Dice(Mutex<u64>);

impl Dice {
    fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap();
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    fn below(&self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap()
    }

    fn bytes(&self, most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| u8::try_from(self.next() % 256).unwrap()).collect()
    }

    fn of<T: Copy>(&self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// Bytes out of nowhere, with and without the clothes of HTTP.
fn random(dice: &Dice) -> Reply {
    let body = dice.bytes(600);
    let kind = dice.of(&["application/json", "text/html", "text/plain", "multipart/mixed", "x"]);
    let status =
        dice.of(&["200 OK", "200 OK", "404 No", "500 Bad", "403 No", "301 There", "204 Nothing", "999 What"]);
    match dice.below(6) {
        0 => Reply::Raw(dice.bytes(300)),
        1 => {
            let mut bytes =
                format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n")
                    .into_bytes();
            for piece in body.chunks(1 + dice.below(50)) {
                bytes.extend(format!("{:x}\r\n", piece.len()).as_bytes());
                bytes.extend(piece);
                bytes.extend(b"\r\n");
            }
            bytes.extend(b"0\r\n\r\n");
            Reply::Raw(bytes)
        }
        2 => {
            let mut bytes =
                format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", dice.below(2000)).into_bytes();
            bytes.extend(body);
            Reply::Raw(bytes)
        }
        3 => Reply::http(
            status,
            &format!("content-encoding: {}\r\n", dice.of(&["gzip", "br", "zstd", "identity"])),
            &body,
        ),
        _ => Reply::http(status, &format!("content-type: {kind}\r\n"), &body),
    }
}

/// A proper answer with a few bytes changed, cut, doubled or moved.
fn mutated(dice: &Dice) -> Reply {
    let row = dice.of(catalogue::ALL);
    let envelope = match dice.below(3) {
        0 => json!({"ok": true, "ms": 3, "data": no_notes()}),
        1 => {
            json!({"ok": true, "ms": 3, "data": {"notes": {"columns": ["id"], "rows": [[5, "x", null, {"a": [1.5e300]}]]}}})
        }
        _ => json!({"ok": false, "ms": 3, "error": format!("{}x", row.beginning), "refusal": row.name}),
    };
    let body = envelope.to_string();
    let mut bytes = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes();
    let head = bytes.len() - body.len();
    for _ in 0..=dice.below(4) {
        // The body mostly, the head sometimes.
        let from = if dice.below(5) == 0 { 0 } else { head };
        let at = (from + dice.below(bytes.len().saturating_sub(from))).min(bytes.len().saturating_sub(1));
        match dice.below(5) {
            0 => bytes[at] = u8::try_from(dice.next() % 256).unwrap(),
            1 => bytes.truncate(at + 1),
            2 => bytes.insert(at, dice.of(b"{}[]\",:\\0\n\xff")),
            3 => {
                let piece = bytes[at..].to_vec();
                bytes.extend(piece);
            }
            _ => {
                bytes.remove(at);
            }
        }
    }
    Reply::Raw(bytes)
}

/// Whether a result is one that this server may give.
fn is_proper(called: &Called) -> bool {
    if !called.refused() {
        return called.data()["notes"]["columns"].is_array();
    }
    let text = called.text();
    let reasons = [
        "Unit not found: ",
        "Module not found! [",
        "Function not found! [",
        "Module Runtime Exception: ",
        "PHP Runtime Exception: ",
    ];
    catalogue::ALL.iter().any(|row| row.begins(text)) || reasons.iter().any(|reason| text.starts_with(reason))
}

async fn withstands(reply: impl Fn(&Dice) -> Reply + Send + Sync + 'static) {
    let engine = Engine::start().await;
    engine.answers(|_| Reply::done(no_notes()));
    let place = Place::new(&engine.url);
    let options = Options { timeout: Duration::from_secs(10), ..place.options() };
    let mut host = Host::open(options, "2025-11-25", "x").await;
    host.connect("t").await;
    let dice = Dice(Mutex::new(0x9E37_79B9_7F4A_7C15));
    engine.answers(move |_| reply(&dice));
    for _ in 0..EACH / AT_ONCE {
        let mut waiting = BTreeSet::new();
        for _ in 0..AT_ONCE {
            waiting.insert(host.request("tools/call", json!({"name": "memory_list"})).await);
        }
        while !waiting.is_empty() {
            let line = host.line().await;
            assert!(waiting.remove(&line["id"].as_u64().unwrap()));
            let called = Called(line["result"].clone());
            assert!(is_proper(&called), "{}", called.0);
        }
    }
    engine.answers(|_| Reply::done(no_notes()));
    assert!(!host.call("memory_list", json!({})).await.refused());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_answers_never_crash_or_hang_the_server() {
    withstands(random).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mutated_answers_never_crash_or_hang_the_server() {
    withstands(mutated).await;
}

#[tokio::test]
async fn any_input_is_survived() {
    let place = Place::new("http://127.0.0.1:9");
    let mut host = Host::open(place.options(), "2025-11-25", "x").await;
    let mut runner = TestRunner::deterministic();
    for _ in 0..2000 {
        let mut bytes =
            proptest::collection::vec(any::<u8>(), 0..200).new_tree(&mut runner).unwrap().current();
        bytes.retain(|byte| *byte != b'\n');
        bytes.push(b'\n');
        host.raw(&bytes).await;
    }
    let answer: Value = host.ask("ping", json!({})).await;
    assert_eq!(answer, json!({}));
}
