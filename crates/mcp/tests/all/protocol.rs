//! The protocol: versions, broken input, the end of the input.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::engine::{Engine, Reply, no_notes, signed_in};
use crate::host::{Host, Place};

const NOWHERE: &str = "http://127.0.0.1:9";

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "goose", "version": "1"}
    })
}

#[tokio::test]
async fn a_known_version_is_echoed_and_another_gets_the_newest_with_a_handshake() {
    let place = Place::new(NOWHERE);
    for (asked, got) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let mut host = Host::start(place.options());
        let answer = host.shake(asked, "x").await;
        assert_eq!(answer["protocolVersion"], got, "{asked}");
        assert_eq!(answer["serverInfo"]["name"], "shopwright");
        assert_eq!(answer["serverInfo"].get("title").is_some(), got >= "2025-06-18", "{asked}");
        assert!(answer["instructions"].as_str().unwrap().len() < 2048);
        assert!(host.close().await.is_empty());
    }
}

#[tokio::test]
async fn structured_content_comes_only_to_those_who_know_it() {
    let place = Place::new(NOWHERE);
    for (version, knows) in
        [("2024-11-05", false), ("2025-03-26", false), ("2025-06-18", true), ("2025-11-25", true)]
    {
        let mut host = Host::open(place.options(), version, "x").await;
        let called = host.call("session_init", json!({})).await;
        assert_eq!(called.0.get("structuredContent").is_some(), knows, "{version}");
        if knows {
            let mut structured = called.0["structuredContent"].clone();
            structured.as_object_mut().unwrap().remove("text");
            assert_eq!(structured, called.data());
        }
        assert!(called.0.get("resultType").is_none());
        let tools = host.ask("tools/list", json!({})).await;
        assert_eq!(tools["tools"][0].get("outputSchema").is_some(), knows);
        assert!(tools.get("ttlMs").is_none());
    }
}

#[tokio::test]
async fn hosts_get_the_text_inside_the_structured_object_unless_known_to_read_both() {
    let place = Place::new(NOWHERE);
    for (name, has_text) in [
        ("claude-code", true),
        ("codex-mcp-client", true),
        ("nobody-knows", true),
        ("opencode", false),
        ("gemini-cli-mcp-client", false),
        ("qwen-cli-mcp-client-shopwright", false),
    ] {
        let mut host = Host::open(place.options(), "2025-06-18", name).await;
        let called = host.call("session_init", json!({})).await;
        assert_eq!(called.texts().len(), 2);
        let mut structured = called.0["structuredContent"].clone();
        let text = structured.as_object_mut().unwrap().remove("text");
        assert_eq!(text, has_text.then(|| json!(called.text())), "{name}");
        assert_eq!(structured, called.data());
    }
}

#[tokio::test]
async fn parameters_that_hosts_add_are_dropped() {
    let place = Place::new(NOWHERE);
    let mut host = Host::open(place.options(), "2025-11-25", "gemini-cli-mcp-client").await;
    for added in ["wait_for_previous", "toolCallId", "tool_call_id", "sessionId", "chatInput"] {
        let called = host.call("session_init", json!({added: true})).await;
        assert!(!called.refused(), "{added}: {}", called.text());
    }
    let called = host.call("session_init", json!({"wait_for_next": true})).await;
    assert!(called.text().starts_with("Unknown parameter `wait_for_next`"), "{}", called.text());
}

#[tokio::test]
async fn a_stateless_list_says_how_long_it_keeps() {
    let place = Place::new(NOWHERE);
    let mut host = Host::start(place.options());
    let found = host.ask("server/discover", json!({"_meta": meta("2026-07-28")})).await;
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    assert!(found["ttlMs"].is_u64() && found["cacheScope"].is_string(), "{found}");
    let list = host.ask("tools/list", json!({"_meta": meta("2026-07-28")})).await;
    assert!(list["ttlMs"].is_u64() && list["cacheScope"].is_string());
    assert_eq!(list["resultType"], "complete");
    assert_eq!(list["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "shopwright");
    let again = host.ask("tools/list", json!({"_meta": meta("2026-07-28")})).await;
    assert_eq!(list, again);
}

#[tokio::test]
async fn a_stateless_host_shares_the_one_session_of_the_process() {
    let engine = Engine::start().await;
    engine.answers(|_| Reply::done(no_notes()));
    let place = Place::new(&engine.url);
    let mut host = Host::start(place.options());
    let call = |tool: &str, arguments: Value| json!({"name": tool, "arguments": arguments, "_meta": meta("2026-07-28")});
    let connected = host.ask("tools/call", call("session_connect", json!({"topic": "t"}))).await;
    assert_eq!(connected["isError"], false, "{connected}");
    assert_eq!(connected["resultType"], "complete");
    assert_eq!(connected["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "shopwright");
    assert!(place.store().join("mcp/goose/t").is_dir());
    let listed = host.ask("tools/call", call("memory_list", json!({}))).await;
    assert_eq!(listed["isError"], false, "{listed}");
    // A handshake on the same process works too, and finds the session open.
    host.shake("2025-11-25", "x").await;
    assert!(!host.call("memory_list", json!({})).await.refused());
}

#[tokio::test]
async fn broken_requests_of_the_stateless_era_get_errors() {
    let place = Place::new(NOWHERE);
    let mut host = Host::start(place.options());
    assert_eq!(host.ask("server/discover", json!({})).await["code"], -32602);
    assert_eq!(host.ask("tools/list", json!({})).await["code"], -32600);
    assert_eq!(host.ask("tools/call", json!({"name": "session_init"})).await["code"], -32600);
    let unknown = host.ask("tools/list", json!({"_meta": meta("2031-01-01")})).await;
    assert!(unknown["code"].is_i64(), "{unknown}");
    assert!(host.ask("tools/list", json!({"_meta": meta("2026-07-28")})).await["tools"].is_array());
}

#[tokio::test]
async fn ids_come_back_as_they_were_sent() {
    let place = Place::new(NOWHERE);
    let mut host = Host::open(place.options(), "2025-11-25", "opencode").await;
    for id in ["0", "-1", "\"a\"", "\"\"", "\"0\"", "9007199254740993", "18446744073709551615", "7.0"] {
        host.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}")).await;
        assert_eq!(
            host.line().await,
            serde_json::from_str::<Value>(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}"))
                .unwrap()
        );
    }
}

#[tokio::test]
async fn the_same_id_twice_is_answered_twice() {
    let place = Place::new(NOWHERE);
    let mut host = Host::open(place.options(), "2025-11-25", "x").await;
    let line = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"session_init"}}"#;
    host.raw(format!("{line}\n{line}\n").as_bytes()).await;
    assert_eq!(host.line().await["id"], 5);
    assert_eq!(host.line().await["id"], 5);
}

#[tokio::test]
async fn after_any_broken_line_the_next_call_works() {
    let place = Place::new(NOWHERE);
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":4,"method":"ping","params":{{"a":{}{}}}}}"#,
        "[".repeat(300),
        "]".repeat(300)
    );
    let rows: Vec<(Vec<u8>, Value, i64)> = vec![
        (b"garbage".to_vec(), Value::Null, -32700),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\\udc00\"}}".to_vec(),
            json!(1),
            -32700,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":{\"a\":\"\xc3\x28\"}}".to_vec(),
            json!(2),
            -32700,
        ),
        (deep.into_bytes(), json!(4), -32700),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":[]}}".to_vec(),
            json!(3),
            -32602,
        ),
        (b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":7}".to_vec(), json!(3), -32602),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"nope\"}".to_vec(), json!("x"), -32601),
        (b"{\"jsonrpc\":\"2.0\",\"id\":9}".to_vec(), json!(9), -32600),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}]".to_vec(), Value::Null, -32600),
        (b"\xff\xfe\x00".to_vec(), Value::Null, -32700),
    ];
    let mut host = Host::start(place.options());
    for shaken in [false, true] {
        if shaken {
            host.shake("2025-11-25", "x").await;
        }
        for (line, id, code) in &rows {
            host.raw(line).await;
            host.raw(b"\r\n").await;
            let answer = host.line().await;
            assert_eq!((&answer["id"], &answer["error"]["code"]), (id, &json!(code)), "{answer}");
            assert_eq!(host.ask("ping", json!({})).await, json!({}));
        }
    }
}

#[tokio::test]
async fn notifications_and_blank_lines_before_the_handshake_are_no_matter() {
    let place = Place::new(NOWHERE);
    let mut host = Host::start(place.options());
    host.raw(b"\xEF\xBB\xBF\n\n  \n").await;
    host.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    host.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    host.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    assert_eq!(host.shake("2025-11-25", "x").await["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn a_batch_is_taken_from_those_whose_version_has_batches() {
    let place = Place::new(NOWHERE);
    let mut host = Host::open(place.options(), "2025-03-26", "x").await;
    host.send(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"nope"},5]"#).await;
    let answer = host.line().await;
    let answers = answer.as_array().unwrap();
    assert_eq!(answers.len(), 3, "{answer}");
    assert!(answers.iter().any(|one| one["id"] == 1 && one["result"] == json!({})));
    assert!(answers.iter().any(|one| one["id"] == 2 && one["error"]["code"] == -32601));
    assert!(answers.iter().any(|one| one["id"].is_null() && one["error"]["code"] == -32600));
}

#[tokio::test]
async fn a_line_of_many_megabytes_is_read_and_a_longer_one_refused() {
    let place = Place::new(NOWHERE);
    let mut host = Host::open(place.options(), "2025-11-25", "x").await;
    let topic = "x".repeat(15 * 1024 * 1024);
    let called = host.call("session_connect", json!({"topic": topic})).await;
    assert!(called.text().starts_with("topic [xxxx") && called.text().len() < 400);
    let mut line = br#"{"jsonrpc":"2.0","id":77,"method":"ping","params":{"a":""#.to_vec();
    line.resize(65 * 1024 * 1024, b'x');
    line.extend_from_slice(b"\"}}\n");
    host.raw(&line).await;
    let answer = host.line().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(77), &json!(-32600)));
    assert_eq!(host.ask("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn two_hundred_calls_at_once_are_all_answered() {
    let engine = Engine::start().await;
    engine.answers(|_| Reply::done(no_notes()));
    let place = Place::new(&engine.url);
    let mut host = Host::open(place.options(), "2025-11-25", "x").await;
    host.connect("t").await;
    let mut waiting = std::collections::BTreeSet::new();
    for _ in 0..200 {
        waiting.insert(host.request("tools/call", json!({"name": "memory_list", "arguments": {}})).await);
    }
    while !waiting.is_empty() {
        let line = host.line().await;
        assert_eq!(line["result"]["isError"], false, "{line}");
        assert!(waiting.remove(&line["id"].as_u64().unwrap()));
    }
}

#[tokio::test]
async fn calls_sent_right_after_a_sign_in_wait_for_it() {
    let engine = Engine::start().await;
    engine.answers(|_| Reply::done(no_notes()));
    let place = Place::new(&engine.url);
    let mut host = Host::open(place.options(), "2025-11-25", "x").await;
    let connect =
        host.request("tools/call", json!({"name": "session_connect", "arguments": {"topic": "t"}})).await;
    let list = host.request("tools/call", json!({"name": "memory_list"})).await;
    for _ in 0..2 {
        let line = host.line().await;
        assert!(line["id"] == connect || line["id"] == list);
        assert_eq!(line["result"]["isError"], false, "{line}");
    }
}

#[tokio::test]
async fn a_cancelled_call_is_not_answered_and_the_next_one_works() {
    let engine = Engine::start().await;
    engine.answers(|request| {
        if request["params"]["find"] == "slow" { Reply::Silence } else { Reply::done(no_notes()) }
    });
    let place = Place::new(&engine.url);
    let mut host = Host::open(place.options(), "2025-11-25", "x").await;
    host.connect("t").await;
    let slow =
        host.request("tools/call", json!({"name": "memory_list", "arguments": {"find": "slow"}})).await;
    while engine.seen("AGENT_MEMORY_LIST").is_empty() {
        tokio::task::yield_now().await;
    }
    host.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}})
            .to_string(),
    )
    .await;
    assert!(!host.call("memory_list", json!({})).await.refused());
    let said = host.close().await;
    assert!(said.is_empty(), "{said:?}");
}

#[tokio::test]
async fn the_end_of_the_input_ends_the_server_and_running_calls_may_still_answer() {
    let engine = Engine::start().await;
    engine.answers_all(|request| {
        if request["command"] == "AGENT_SESSION_CONNECT" { Reply::done(signed_in()) } else { Reply::Silence }
    });
    let place = Place::new(&engine.url);
    let mut host = Host::open(place.options(), "2025-11-25", "x").await;
    host.connect("t").await;
    let list = host.request("tools/call", json!({"name": "memory_list"})).await;
    let init = host.request("tools/call", json!({"name": "session_init"})).await;
    let since = Instant::now();
    let said = host.close().await;
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
    assert_eq!((&said[0]["id"], &said[0]["result"]["isError"]), (&json!(init), &json!(false)));
    assert_eq!((&said[1]["id"], &said[1]["error"]["code"]), (&json!(list), &json!(-32603)));
    assert_eq!(said.len(), 2);
}

#[tokio::test]
async fn input_that_ends_in_mid_line_is_answered() {
    let place = Place::new(NOWHERE);
    let mut host = Host::open(place.options(), "2025-11-25", "x").await;
    host.raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi").await;
    let said = host.close().await;
    assert_eq!((said.len(), &said[0]["error"]["code"]), (1, &json!(-32700)));
    let mut host = Host::open(place.options(), "2025-11-25", "x").await;
    host.raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}").await;
    assert_eq!(host.close().await, [json!({"jsonrpc": "2.0", "id": 1, "result": {}})]);
}

#[tokio::test]
async fn the_input_may_end_before_anything_was_said() {
    let place = Place::new(NOWHERE);
    assert!(Host::start(place.options()).close().await.is_empty());
    let mut host = Host::start(place.options());
    host.ask("server/discover", json!({"_meta": meta("2026-07-28")})).await;
    assert!(host.close().await.is_empty());
}
