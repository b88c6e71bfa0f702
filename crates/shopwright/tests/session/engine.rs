//! The engine killed, by-passed, and changed under a running session.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Client, FaultyProxy, PATIENCE, Reply, TestStore, post, wait_for};

use crate::setup::{is_row, store};

/// A client over an engine that can be killed alone.
fn apart<'a>(store: &'a TestStore<'a>, login: &str) -> (testkit::Engine, testkit::Desk, Client) {
    let (engine, desk) = store.apart(login, false).unwrap();
    let mut client = Client::open(&mut store.mcp_command(), "2025-11-25").unwrap();
    client.connect("apart").unwrap();
    (engine, desk, client)
}

#[test]
fn an_engine_killed_in_mid_call_is_a_refusal_and_the_next_call_works_when_it_is_back() {
    let store = store();
    let (mut engine, _desk, mut client) = apart(&store, "irina");
    let asked: Vec<u64> = (0..20)
        .map(|_| client.ask("tools/call", json!({"name": "memory_list", "arguments": {}})).unwrap())
        .collect();
    engine.running.kill();
    let mut refused = 0;
    for id in asked {
        let answer = client.answer(id).unwrap();
        if answer["result"]["isError"] == json!(true) {
            refused += 1;
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert!(is_row(text, "no_connection"), "{text}");
        }
    }
    let text = client.refused("memory_list", json!({})).unwrap();
    assert!(is_row(&text, "no_connection"), "{text} ({refused} before)");
    let text = client.refused("memory_save", json!({"name": "lost?"})).unwrap();
    assert!(is_row(&text, "no_connection"), "{text}");
    let _engine = store.serve(engine.port).unwrap();
    client.done("memory_list", json!({})).unwrap();
    client.done("memory_save", json!({"name": "back"})).unwrap();
}

#[test]
fn an_answered_save_outlives_a_kill() {
    let store = store();
    let (mut engine, _desk, mut client) = apart(&store, "irina");
    for round in 0..5 {
        let name = format!("Round {round}");
        let saved = client.done("memory_save", json!({"name": name, "body": "<p>kept</p>"})).unwrap();
        engine.running.kill();
        let rows = store.query(&format!("select name, body from notes where id = {}", saved["id"])).unwrap();
        assert_eq!(rows, [[name, "<p>kept</p>".to_owned()]]);
        let journalled = store
            .cell(&format!(
                "select count(*) from journal_changes where table_name = 'notes' and row_id = {}",
                saved["id"]
            ))
            .unwrap();
        assert_eq!(journalled, "1", "the journal is of the same transaction");
        engine = store.serve(engine.port).unwrap();
    }
    client.done("memory_list", json!({})).unwrap();
}

#[test]
fn an_open_session_goes_on_after_the_engine_was_restarted() {
    let store = store();
    let (mut engine, _desk, mut client) = apart(&store, "irina");
    engine.running.stop(PATIENCE).unwrap();
    let _engine = store.serve(engine.port).unwrap();
    client.done("memory_list", json!({})).unwrap();
}

#[test]
fn a_right_withdrawn_in_mid_session_is_refused_bare_at_once() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    client.done("memory_list", json!({})).unwrap();
    store.store_command("revoke", &["--group", "MANAGER", "AGENT_MEMORY_LIST"]).unwrap();
    let text = client.refused("memory_list", json!({})).unwrap();
    assert!(is_row(&text, "access_denied_bare"), "{text}");
    assert_eq!(text.lines().next(), Some("ACCESS_DENIED"));
    client.done("session_connect", json!({"topic": "again"})).unwrap();
    let text = client.refused("memory_list", json!({})).unwrap();
    assert!(text.starts_with("ACCESS_DENIED: this user may not run AGENT_MEMORY_LIST."), "{text}");
    // A new grant shows after signing in again, and only then.
    store.store_command("grant", &["--group", "MANAGER", "AGENT_MEMORY_LIST"]).unwrap();
    client.refused("memory_list", json!({})).unwrap();
    client.connect("again").unwrap();
    client.done("memory_list", json!({})).unwrap();
}

/// A request as anybody could send it, without the MCP server.
fn request(command: &str, tool: &str, params: &Value, session: Option<&Value>) -> Value {
    let mut request = json!({
        "command": command, "params": params, "build": wire::BUILD, "time": now(),
        "origin": {"application": "by-pass", "topic": "x"},
    });
    if !tool.is_empty() {
        request["tool"] = json!(tool);
    }
    if let Some(session) = session {
        request["session"] = session.clone();
    }
    request
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}

#[test]
fn the_engine_refuses_by_itself_when_the_server_is_by_passed() {
    let store = store();
    let trying = store.start("admin").unwrap();
    let url = format!("{}/core/mcp.php", trying.url());
    let sign_in = |login: &str| {
        let params = json!({"login": login, "password": trying.people()[login]});
        post(&url, &request("AGENT_SESSION_CONNECT", "", &params, None)).unwrap().json()
    };
    let signed_in = sign_in("oleg");
    assert_eq!(signed_in["ok"], json!(true), "{signed_in}");
    let ticket = &signed_in["data"]["ticket"];
    let before = store.dump(&["tickets", "attempts"]).unwrap();
    for (command, tool, params) in [
        ("AGENT_MEMORY_LIST", "memory_list", json!({})),
        ("AGENT_MEMORY_SAVE", "memory_save", json!({"name": "by-passed"})),
        ("AGENT_MEMORY_REMOVE", "memory_remove", json!({"id": 1})),
        ("AGENT_REPO_LIST", "repo_list", json!({})),
    ] {
        let mut asked = request(command, tool, &params, Some(ticket));
        asked["key"] = json!("3f0a3cde-3f3a-4d8e-9b35-0d2e7e3f8a10");
        let answer = post(&url, &asked).unwrap();
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["error"], "ACCESS_DENIED", "{command}: {}", answer.text());
    }
    // A tool under the command of another, a made-up ticket, none at all, somebody else's rights.
    let irina = sign_in("irina")["data"]["ticket"].clone();
    let stolen = request("AGENT_MEMORY_LIST", "engine_db_unlocks", &json!({}), Some(&irina));
    assert_eq!(post(&url, &stolen).unwrap().json()["ok"], json!(false));
    for session in [json!("AAAA"), json!(""), json!("x".repeat(10_000))] {
        let answer =
            post(&url, &request("AGENT_MEMORY_LIST", "memory_list", &json!({}), Some(&session))).unwrap();
        assert_eq!(answer.json()["ok"], json!(false), "{}", answer.text());
    }
    let answer = post(&url, &request("AGENT_MEMORY_LIST", "memory_list", &json!({}), None)).unwrap();
    assert_eq!(answer.json()["ok"], json!(false), "{}", answer.text());
    assert_eq!(store.dump(&["tickets", "attempts"]).unwrap(), before, "nothing changed");
}

#[test]
fn notes_of_others_cannot_be_reached_past_the_server() {
    let store = store();
    let trying = store.start("admin").unwrap();
    let url = format!("{}/core/mcp.php", trying.url());
    let params = json!({"login": "irina", "password": trying.people()["irina"]});
    let ticket =
        post(&url, &request("AGENT_SESSION_CONNECT", "", &params, None)).unwrap().json()["data"]["ticket"]
            .clone();
    let id: i64 = store
        .cell("select n.id from notes n join users u on u.id = n.user_id where u.login = 'admin'")
        .unwrap()
        .parse()
        .unwrap();
    let loaded =
        post(&url, &request("AGENT_MEMORY_LOAD", "memory_load", &json!({"ids": [id]}), Some(&ticket)))
            .unwrap()
            .json();
    assert_eq!(loaded["data"]["notes"], json!([]), "{loaded}");
    assert_eq!(loaded["data"]["missed"], json!([id]));
    let mut removing = request("AGENT_MEMORY_REMOVE", "memory_remove", &json!({"id": id}), Some(&ticket));
    removing["key"] = json!("5d8f2f3e-8a75-4c57-a0cc-9a6f0f1d2b44");
    let _ = post(&url, &removing).unwrap();
    assert_eq!(store.cell(&format!("select count(*) from notes where id = {id}")).unwrap(), "1");
}

#[test]
fn a_write_whose_answer_was_lost_is_not_done_twice() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let proxy = FaultyProxy::start(&trying.url()).unwrap();
    store.move_to("irina", &proxy.url).unwrap();
    let mut client = trying.client().unwrap();
    client.connect("lost").unwrap();
    for (count, reply) in
        [Reply::PassAndLose, Reply::PassAndCut(40), Reply::PassAndCut(200)].into_iter().enumerate()
    {
        let name = format!("Once {count}");
        proxy.plan([reply]);
        let answer = client.call("memory_save", json!({"name": name})).unwrap();
        if answer.refused() {
            let text = answer.text();
            assert!(is_row(&text, "no_connection"), "{text}");
        }
        let rows = store.cell(&format!("select count(*) from notes where name = '{name}'")).unwrap();
        assert_eq!(rows, "1", "{}", answer.text());
        let seen = proxy.seen();
        let keys: std::collections::BTreeSet<String> = seen
            .iter()
            .filter(|request| request["params"]["name"] == json!(name))
            .map(|request| request["key"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(keys.len(), 1, "one key over all repeats");
    }
}

#[test]
fn health_and_readiness_are_told() {
    let store = store();
    let engine = store.serve(0).unwrap();
    for path in ["/core/health", "/core/ready"] {
        let answer = wait_for(path, Duration::from_secs(5), || {
            testkit::get(&format!("{}{path}", engine.url)).ok().filter(|answer| answer.status == 200)
        });
        answer.unwrap();
    }
    let metrics = testkit::get(&format!("{}/core/metrics", engine.url)).unwrap();
    assert_eq!(metrics.status, 200);
    assert!(metrics.text().contains("# TYPE"), "{}", metrics.text());
    let home = testkit::get(&format!("{}/", engine.url)).unwrap();
    assert!(home.text().contains("Copper Kettle"), "{}", home.text());
    let lost = testkit::get(&format!("{}/no/such/page", engine.url)).unwrap();
    assert_eq!(lost.status, 404);
    assert!(lost.header("content-type")[0].starts_with("text/html"));
}
