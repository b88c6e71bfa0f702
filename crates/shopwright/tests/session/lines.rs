//! What may come over stdin: odd bytes, odd messages, many at once, the end in the middle.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Client, PATIENCE};

use crate::setup::{is_row, store};

/// A client whose session is open.
fn ready(store: &testkit::TestStore<'_>) -> (testkit::Trying, Client) {
    let trying = store.start("irina").unwrap();
    let client = trying.connected().unwrap();
    (trying, client)
}

/// After whatever was sent, the next call works.
fn still_works(client: &mut Client) {
    client.done("memory_list", json!({})).unwrap();
}

#[test]
fn what_is_no_request_gets_the_error_of_the_protocol() {
    let store = store();
    let (_trying, mut client) = ready(&store);
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"ping\",\"params\":{}1{}}}",
        "[".repeat(400),
        "]".repeat(400)
    );
    // Bytes, code, and the id where it can be told.
    let cases: Vec<(Vec<u8>, i64, Value)> = vec![
        (b"{oops".to_vec(), -32700, Value::Null),
        (b"\"text\"".to_vec(), -32600, Value::Null),
        (b"42".to_vec(), -32600, Value::Null),
        (b"[]".to_vec(), -32600, Value::Null),
        (b"{}".to_vec(), -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":71}"#.to_vec(), -32600, json!(71)),
        (br#"{"jsonrpc":"1.0","id":72,"method":"ping"}"#.to_vec(), -32600, json!(72)),
        (br#"{"jsonrpc":"2.0","id":"seven","method":"no/such"}"#.to_vec(), -32601, json!("seven")),
        (
            br#"{"jsonrpc":"2.0","id":73,"method":"tools/call","params":{"name":7}}"#.to_vec(),
            -32602,
            json!(73),
        ),
        (br#"{"jsonrpc":"2.0","id":74,"method":"tools/call"}"#.to_vec(), -32602, json!(74)),
        (br#"{"jsonrpc":"2.0","id":75,"method":"ping","params":{"a":"\ud800"}}"#.to_vec(), -32700, json!(75)),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":76,\"method\":\"ping\",\"params\":{\"a\":\"\xff\xfe\"}}".to_vec(),
            -32700,
            json!(76),
        ),
        (deep.into_bytes(), -32700, json!(77)),
    ];
    for (mut bytes, code, id) in cases {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(120)]).into_owned();
        bytes.push(b'\n');
        client.send_raw(&bytes).unwrap();
        let answer = client.message(PATIENCE).unwrap();
        assert_eq!(answer["error"]["code"], json!(code), "{shown}: {answer}");
        assert_eq!(answer["id"], id, "{shown}: {answer}");
        still_works(&mut client);
    }
}

#[test]
fn harmless_oddities_are_understood() {
    let store = store();
    let (_trying, mut client) = ready(&store);
    let ping = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
    for (id, bytes) in [
        (501, format!("\u{feff}{}\n", ping(501))),
        (502, format!("{}\r\n", ping(502))),
        (503, format!("\n\n   \n{}\n", ping(503))),
        (504, format!("  {}  \n", ping(504))),
    ] {
        client.send_raw(bytes.as_bytes()).unwrap();
        let answer = client.answer(id).unwrap();
        assert!(answer.get("result").is_some(), "{answer}");
    }
    client.notify("notifications/nobody-knows-this", json!({"x": 1})).unwrap();
    client.notify("notifications/cancelled", json!({"requestId": 424_242})).unwrap();
    client.send(&json!({"jsonrpc": "2.0", "id": 9999, "result": {"nobody": "asked"}})).unwrap();
    still_works(&mut client);
}

#[test]
fn a_notification_before_the_handshake_does_not_end_the_server() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = Client::start(&mut trying.mcp_command()).unwrap();
    client.notify("notifications/initialized", json!({})).unwrap();
    client.notify("notifications/roots/list_changed", json!({})).unwrap();
    client.initialize("2025-11-25", "testkit").unwrap();
    client.connect("test").unwrap();
}

#[test]
fn odd_handshakes_are_accepted_where_they_can_be_understood() {
    let store = store();
    let trying = store.start("irina").unwrap();
    for params in [
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "no-version"}}),
        json!({"protocolVersion": "2025-06-18", "capabilities": null, "clientInfo": {"name": "x", "version": "1"}}),
        json!({"protocolVersion": "2025-06-18", "clientInfo": {"name": "x", "version": "1", "extra": [1]}}),
        json!({"protocolVersion": "2025-06-18", "capabilities": {"experimental": {"a": {}}}}),
    ] {
        let mut client = Client::start(&mut trying.mcp_command()).unwrap();
        let hello = client.request("initialize", params.clone()).unwrap();
        assert_eq!(hello["protocolVersion"], "2025-06-18", "{params}");
        client.notify("notifications/initialized", json!({})).unwrap();
        client.done("session_init", json!({})).unwrap();
    }
}

#[test]
fn arguments_of_the_wrong_form_are_refused_in_words() {
    let store = store();
    let (_trying, mut client) = ready(&store);
    let cases = [
        ("memory_list", json!("text"), "arguments_not_object"),
        ("memory_list", json!([1, 2]), "arguments_not_object"),
        ("memory_list", json!(7), "arguments_not_object"),
        ("memory_list", json!({"colour": "green"}), "unknown_parameter"),
        ("memory_load", json!({"ids": {"a": 1}}), "wrong_parameter"),
        ("memory_load", json!({"ids": "one"}), "wrong_parameter"),
        ("memory_remove", json!({}), "missing_parameter"),
        ("memory_remove", json!({"id": null}), "missing_parameter"),
        ("memory_remove", json!({"id": "x"}), "wrong_parameter"),
        ("memory_remove", json!({"id": 1.5}), "wrong_parameter"),
        ("memory_lst", json!({}), "unknown_tool"),
        ("", json!({}), "unknown_tool"),
    ];
    for (tool, arguments, row) in cases {
        let text = client.refused(tool, arguments.clone()).unwrap();
        assert!(is_row(&text, row), "{tool} {arguments}: {text}");
        still_works(&mut client);
    }
}

#[test]
fn what_hosts_send_as_text_is_read_as_what_it_is() {
    let store = store();
    let (_trying, mut client) = ready(&store);
    let rows = client.done("memory_list", json!({})).unwrap()["notes"]["rows"].clone();
    let id = rows[0][0].clone();
    let loaded = client.done("memory_load", json!({"ids": format!("[{id}]")})).unwrap();
    assert_eq!(loaded["notes"][0]["id"], id);
    // Some hosts send the arguments as a whole as text.
    let answer = client.call("memory_load", json!(format!("{{\"ids\": [{id}]}}"))).unwrap();
    assert!(!answer.refused() || is_row(&answer.text(), "arguments_not_object"), "{}", answer.text());
    // null is not named, and absent arguments are none.
    client.done("memory_list", json!({"find": null})).unwrap();
    let result = client.request("tools/call", json!({"name": "memory_list"})).unwrap();
    assert_ne!(result["isError"], json!(true));
}

#[test]
fn fifteen_megabytes_in_an_argument_do_no_harm() {
    let store = store();
    let (_trying, mut client) = ready(&store);
    let huge = "я".repeat(7_500_000);
    for (tool, arguments) in [
        ("memory_list", json!({"find": huge})),
        ("memory_save", json!({"name": huge})),
        ("memory_load", json!({"ids": huge})),
        ("memory_list", json!({huge.as_str(): 1})),
    ] {
        let id = client.ask("tools/call", json!({"name": tool, "arguments": arguments})).unwrap();
        // An unoptimised build on a busy machine takes its time over so much text.
        let answer = client.answer_within(id, Duration::from_secs(120)).unwrap();
        assert!(answer.to_string().len() < 100_000, "the value does not come back whole");
        still_works(&mut client);
    }
}

#[test]
fn two_hundred_calls_at_once_are_all_answered() {
    let store = store();
    let (_trying, mut client) = ready(&store);
    let asked: Vec<u64> = (0..200)
        .map(|count| {
            let (tool, arguments) = match count % 4 {
                0 => ("memory_list", json!({})),
                1 => ("memory_list", json!({"find": "tea"})),
                2 => ("session_init", json!({})),
                _ => ("memory_lst", json!({})),
            };
            client.ask("tools/call", json!({"name": tool, "arguments": arguments})).unwrap()
        })
        .collect();
    for (count, id) in asked.into_iter().enumerate() {
        let answer = client.answer(id).unwrap();
        let refused = answer["result"]["isError"] == json!(true);
        assert_eq!(refused, count % 4 == 3, "{answer}");
    }
    still_works(&mut client);
}

#[test]
fn a_cancelled_call_does_not_stop_the_others() {
    let store = store();
    let (_trying, mut client) = ready(&store);
    let cancelled = client.ask("tools/call", json!({"name": "memory_list", "arguments": {}})).unwrap();
    client.notify("notifications/cancelled", json!({"requestId": cancelled, "reason": "test"})).unwrap();
    let after = client.ask("tools/call", json!({"name": "memory_list", "arguments": {}})).unwrap();
    let answer = client.answer(after).unwrap();
    assert_ne!(answer["result"]["isError"], json!(true), "{answer}");
    still_works(&mut client);
}

#[test]
fn a_cancelled_call_is_in_the_log() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = Client::open(trying.mcp_command().env("SHOPWRIGHT_LOG", "info"), "2025-11-25").unwrap();
    client.connect("t").unwrap();
    let words = "the host cancelled it";
    // An answer may be faster than the word that it is not wanted.
    let is_told = (0..200).any(|_| {
        let call = client.ask("tools/call", json!({"name": "memory_list", "arguments": {}})).unwrap();
        client.notify("notifications/cancelled", json!({"requestId": call})).unwrap();
        client.call("session_init", json!({})).unwrap();
        client.server().errors().lines().any(|line| line.contains(words) && line.contains("memory_list"))
    });
    assert!(is_told, "{}", client.server().errors());
}

#[test]
fn the_end_of_stdin_ends_the_server_within_a_second() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let half: &[u8] = br#"{"jsonrpc":"2.0","id":1,"meth"#;
    let discover: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientInfo\":{\"name\":\"x\",\"version\":\"1\"},\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n";
    for (what, bytes) in [("at once", b"".as_slice()), ("in mid-line", half), ("after discover", discover)] {
        let mut client = Client::start(&mut trying.mcp_command()).unwrap();
        client.send_raw(bytes).unwrap();
        let since = Instant::now();
        client.server().close_stdin();
        let status = client.server().wait(PATIENCE).unwrap();
        assert_eq!(status.code(), Some(0), "{what}: {}", client.server().errors());
        assert!(since.elapsed() < Duration::from_secs(1), "{what}: {:?}", since.elapsed());
    }
    // With an open session, and with a call under way.
    let mut client = trying.connected().unwrap();
    client.ask("tools/call", json!({"name": "memory_list", "arguments": {}})).unwrap();
    let since = Instant::now();
    client.server().close_stdin();
    let status = client.server().wait(PATIENCE).unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
}

#[test]
fn the_last_line_without_its_end_is_answered() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.client().unwrap();
    client.send_raw(br#"{"jsonrpc":"2.0","id":31,"method":"ping"}"#).unwrap();
    client.server().close_stdin();
    let answer = client.answer(31).unwrap();
    assert!(answer.get("result").is_some(), "{answer}");
}
