//! What comes back from the network, put into words.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Client, FaultyProxy, Reply, TestStore, Trying};

use crate::setup::{is_row, store};

/// A session over a proxy; `timeout` is how long it waits for an answer.
fn behind_proxy(store: &TestStore<'_>, timeout: &str) -> (Trying, FaultyProxy, Client) {
    let trying = store.start("irina").unwrap();
    let proxy = FaultyProxy::start(&trying.url()).unwrap();
    store.move_to("irina", &proxy.url).unwrap();
    let mut command = trying.mcp_command();
    command.env("SHOPWRIGHT_TIMEOUT", timeout);
    let mut client = Client::open(&mut command, "2025-11-25").unwrap();
    client.connect("proxy").unwrap();
    (trying, proxy, client)
}

fn page(status: &str) -> Reply {
    Reply::http(status, "text/html; charset=utf-8", "<!doctype html><html><body>Welcome</body></html>")
}

#[test]
fn every_answer_that_is_none_of_ours_is_put_into_words() {
    let store = store();
    let (_trying, proxy, mut client) = behind_proxy(&store, "2");
    let json_kind = "application/json";
    let gateway =
        |status: &str, headers: &str| Reply::http_with(status, "text/html", headers, b"<html>busy</html>");
    let cases: Vec<(&str, Reply, &str)> = vec![
        ("a page", page("200 OK"), "no_endpoint"),
        ("a page of 404", page("404 Not Found"), "no_endpoint"),
        ("a page without a type", Reply::http("200 OK", "", "  <HTML><body>x"), "no_endpoint"),
        ("413", page("413 Payload Too Large"), "too_large"),
        (
            "broken inside",
            Reply::http("200 OK", json_kind, "{\"ok\": true, \"ms\": 1, \"data\": {oops}}"),
            "not_json",
        ),
        ("plain text", Reply::http("200 OK", "text/plain", "It works!"), "unexpected_answer"),
        ("other JSON", Reply::http("200 OK", json_kind, "[1, 2, 3]"), "unexpected_answer"),
        ("empty", Reply::http("200 OK", json_kind, ""), "unexpected_answer"),
        ("no error text", Reply::http("200 OK", json_kind, "{\"ok\": false}"), "unexpected_answer"),
        ("bytes", Reply::http_with("200 OK", json_kind, "", &[0xff, 0xfe, 0, 1]), "not_json"),
        (
            "another form",
            Reply::http("200 OK", json_kind, "{\"ok\": true, \"ms\": 1, \"data\": {\"x\": 1}}"),
            "unexpected_answer",
        ),
        (
            "redirect",
            Reply::http_with("302 Found", "text/html", "location: http://other.example/\r\n", b""),
            "unexpected_answer",
        ),
        ("502", gateway("502 Bad Gateway", ""), "not_available"),
        ("503", gateway("503 Service Unavailable", "retry-after: 120\r\n"), "not_available"),
        ("429", gateway("429 Too Many Requests", "retry-after: 1\r\n"), "not_available"),
        ("504", gateway("504 Gateway Timeout", ""), "not_available"),
        ("cut off", Reply::PassAndCut(120), "no_connection"),
        ("closed", Reply::Close, "no_connection"),
        ("not HTTP", Reply::Raw(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()), "no_connection"),
        ("silent", Reply::Hang(Duration::from_secs(5)), "no_connection"),
    ];
    for (what, reply, row) in cases {
        // Reads are repeated by themselves, so the same comes every time.
        proxy.plan(std::iter::repeat_n(reply.clone(), 6));
        let since = Instant::now();
        let text = client.refused("memory_list", json!({})).unwrap();
        assert!(is_row(&text, row), "{what}: wanted {row}, got {text}");
        assert!(since.elapsed() < Duration::from_secs(12), "{what}: {:?}", since.elapsed());
        proxy.plan([]);
        client.done("memory_list", json!({})).unwrap();
    }
}

#[test]
fn a_write_whose_answer_was_replaced_is_not_done_twice() {
    let store = store();
    let (_trying, proxy, mut client) = behind_proxy(&store, "5");
    client.read_critical_notes().unwrap();
    let json = |body: &str| Reply::http("200 OK", "application/json", body);
    let replies = [
        page("200 OK"),
        page("500 Internal Server Error"),
        page("401 Unauthorized"),
        page("413 Content Too Large"),
        page("429 Too Many Requests"),
        json(""),
        json("{\"ok\":tr"),
        json("{\"ok\":true,\"data\":{}}"),
        json("{\"ok\":false,\"error\":\"STRANGE\"}"),
        Reply::http_with("302 Found", "text/html", "location: http://127.0.0.2/\r\n", b""),
        Reply::http("302 Found", "text/html", ""),
    ];
    for (at, reply) in replies.into_iter().enumerate() {
        let note = json!({"name": format!("Once {at}"), "body": "<p>once</p>"});
        // A repeat by itself meets the same answer; where it is not repeated the rest of the plan is taken back.
        proxy.plan(std::iter::repeat_n(reply.clone().after_the_engine(), 3));
        let text = client.refused("memory_save", note.clone()).unwrap();
        proxy.plan([]);
        let tells = text.contains("not done twice") || text.contains("413");
        assert!(tells, "{reply:?}: {text}");
        client.done("memory_save", note).unwrap();
        let count = store.cell(&format!("select count(*) from notes where name = 'Once {at}'")).unwrap();
        assert_eq!(count, "1", "{reply:?}");
    }
}

#[test]
fn a_read_is_repeated_by_itself() {
    let store = store();
    let (_trying, proxy, mut client) = behind_proxy(&store, "5");
    for reply in
        [Reply::Close, Reply::PassAndCut(60), Reply::http("503 Service Unavailable", "text/html", "<html>")]
    {
        proxy.plan([reply.clone()]);
        let before = proxy.count();
        let answer = client.call("memory_list", json!({})).unwrap();
        assert!(!answer.refused(), "{reply:?}: {}", answer.text());
        assert_eq!(proxy.count() - before, 2, "{reply:?}");
    }
}

#[test]
fn addresses_that_lead_nowhere_are_told() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let plain = trying.url();
    for (what, url, row) in [
        ("refused", format!("http://{free}"), "no_connection"),
        ("no such name", "https://no-such-host.invalid".to_owned(), "no_connection"),
        ("no TLS there", plain.replace("http://", "https://"), "no_connection"),
        ("plain http outside", "http://shop.example.com".to_owned(), "plain_http"),
    ] {
        store.move_to("irina", &url).unwrap();
        let mut client = trying.client().unwrap();
        let text = client.refused("session_connect", json!({"topic": "x"})).unwrap();
        assert!(is_row(&text, row), "{what}: {text}");
        assert!(!text.contains(trying.people()["irina"].as_str()));
    }
}

#[test]
fn plain_http_to_elsewhere_needs_the_word_of_the_person() {
    let store = store();
    let trying = store.start("irina").unwrap();
    store.move_to("irina", "http://no-such-host.invalid").unwrap();
    let mut command = trying.mcp_command();
    command.env("SHOPWRIGHT_ALLOW_PLAIN_HTTP", "1");
    let mut client = Client::open(&mut command, "2025-11-25").unwrap();
    let text = client.refused("session_connect", json!({"topic": "x"})).unwrap();
    assert!(is_row(&text, "no_connection"), "{text}");
}

#[test]
fn random_and_mutated_answers_always_end_in_words() {
    // The whole run of five thousand each: SHOPWRIGHT_TEST_ANSWERS=5000.
    let each: u64 =
        std::env::var("SHOPWRIGHT_TEST_ANSWERS").ok().and_then(|text| text.parse().ok()).unwrap_or(80);
    let store = store();
    let trying = store.start("irina").unwrap();
    let whole = {
        let asked = json!({
            "command": "AGENT_SESSION_CONNECT", "build": wire::BUILD, "time": jiff::Timestamp::now().to_string(),
            "params": {"login": "irina", "password": trying.people()["irina"]},
        });
        testkit::post(&format!("{}/core/mcp.php", trying.url()), &asked).unwrap().text()
    };
    // Most of a round is waiting before a repeat, so several agents share the rounds.
    let agents = 8;
    std::thread::scope(|scope| {
        for agent in 0..agents {
            let (store, url, whole) = (&store, trying.url(), whole.as_str());
            scope.spawn(move || odd_answers(store, &url, whole, agent, 2 * each / agents));
        }
    });
}

/// One agent behind a proxy of its own, for so many rounds.
fn odd_answers(store: &TestStore<'_>, url: &str, whole: &str, agent: u64, rounds: u64) {
    let proxy = FaultyProxy::start(url).unwrap();
    let mut command = store.mcp_command();
    command.env("SHOPWRIGHT_TIMEOUT", "5");
    let mut client = Client::open(&mut command, "2025-11-25").unwrap();
    let connect = |client: &mut Client| {
        proxy.plan([]);
        // The file is read at signing in, and the agents share it.
        let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        store.move_to("irina", &proxy.url).unwrap();
        client.connect("proxy").unwrap();
    };
    connect(&mut client);
    let mut dice = Dice(0x2545_f491_4f6c_dd1d ^ (agent << 32));
    for round in 0..rounds {
        let raw = if round % 2 == 0 { random_answer(&mut dice) } else { mutated_answer(&mut dice, whole) };
        proxy.plan(std::iter::repeat_n(Reply::Raw(raw.clone()), 8));
        let (tool, arguments) = match round % 4 {
            0 => ("memory_load", json!({"ids": [1]})),
            1 => ("memory_save", json!({"name": "Odd"})),
            2 => ("memory_remove", json!({"id": 999})),
            _ => ("memory_list", json!({})),
        };
        let answer = client.call(tool, arguments).unwrap();
        if answer.refused() {
            let text = answer.text();
            let known = testkit::transcript::refusal_name(&text).is_some() && !text.starts_with("ERROR:");
            assert!(known, "agent {agent}, round {round}: {text}\n{}", raw.escape_ascii());
        }
        if round % 16 == 15 {
            connect(&mut client);
        }
    }
    connect(&mut client);
}

/// Whose proxy `Shop.ini` names.
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// A small generator, so that a failing round comes again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        let count = self.roll(most + 1);
        (0..count).map(|_| u8::try_from(self.roll(256)).unwrap()).collect()
    }
}

fn head(dice: &mut Dice, length: usize) -> Vec<u8> {
    let kinds =
        ["application/json", "text/html", "application/octet-stream", "", "application/json; charset=utf-16"];
    let lengths =
        [length, length, length, length + dice.roll(50), length.saturating_sub(dice.roll(50)), usize::MAX];
    let mut head = format!(
        "HTTP/1.1 {} X\r\ncontent-type: {}\r\n",
        [200, 200, 200, 204, 301, 400, 404, 500][dice.roll(8)],
        kinds[dice.roll(kinds.len())]
    );
    match dice.roll(4) {
        0 => {}
        1 => head.push_str("transfer-encoding: chunked\r\n"),
        2 => head.push_str("content-encoding: gzip\r\n"),
        _ => head.push_str(&format!("content-length: {}\r\n", lengths[dice.roll(lengths.len())])),
    }
    head.push_str("connection: close\r\n\r\n");
    head.into_bytes()
}

fn random_answer(dice: &mut Dice) -> Vec<u8> {
    let body = dice.bytes(2000);
    if dice.roll(3) == 0 {
        return body;
    }
    let mut whole = head(dice, body.len());
    whole.extend(body);
    whole
}

fn mutated_answer(dice: &mut Dice, whole: &str) -> Vec<u8> {
    let mut body = whole.as_bytes().to_vec();
    for _ in 0..=dice.roll(6) {
        if body.is_empty() {
            break;
        }
        let at = dice.roll(body.len());
        match dice.roll(5) {
            0 => body[at] = u8::try_from(dice.roll(256)).unwrap(),
            1 => body.truncate(at),
            2 => {
                body.remove(at);
            }
            3 => {
                let extra = dice.bytes(20);
                body.splice(at..at, extra);
            }
            _ => {
                let to = at + dice.roll(body.len() - at).min(200);
                let part = body[at..to].to_vec();
                body.splice(at..at, part);
            }
        }
    }
    let mut answer = head(dice, body.len());
    answer.extend(body);
    answer
}
