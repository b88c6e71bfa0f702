//! Versions of the protocol, with and without a handshake.

use serde_json::{Value, json};
use testkit::Client;

use crate::setup::store;

#[test]
fn every_version_with_a_handshake_is_spoken() {
    let store = store();
    let trying = store.start("irina").unwrap();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::open(&mut trying.mcp_command(), version).unwrap();
        assert_eq!(client.protocol(), version);
        let answer = client.call("session_connect", json!({"topic": "v"})).unwrap();
        assert_eq!(answer.texts().len(), 2, "two blocks, data first");
        let structured = answer.result.get("structuredContent");
        let modern = version >= "2025-06-18";
        assert_eq!(structured.is_some(), modern, "{version}");
        if modern {
            // Of a host that nobody knows the text stands inside it too.
            let mut structured = structured.cloned().unwrap();
            let text = structured.as_object_mut().unwrap().remove("text");
            assert_eq!((structured, text), (answer.data(), Some(json!(answer.texts()[1]))));
        }
        let tools = client.request("tools/list", json!({})).unwrap();
        for tool in tools["tools"].as_array().unwrap() {
            assert_eq!(
                tool.get("outputSchema").is_some(),
                modern && tool["name"] != "session_rules_accept",
                "{version} {}",
                tool["name"]
            );
            assert!(tool["description"].as_str().unwrap().len() < 2048);
            let schema = &tool["inputSchema"];
            assert_eq!(schema["type"], "object");
            for word in ["oneOf", "anyOf", "allOf"] {
                assert!(schema.get(word).is_none(), "{} has {word} at the top", tool["name"]);
            }
        }
    }
}

#[test]
fn an_unknown_version_gets_the_newest_with_a_handshake() {
    let store = store();
    let trying = store.start("irina").unwrap();
    for version in ["1999-01-01", "2999-01-01", ""] {
        let client = Client::open(&mut trying.mcp_command(), version).unwrap();
        assert_eq!(client.protocol(), "2025-11-25");
    }
}

#[test]
fn a_client_without_a_handshake_works_through_a_session() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = Client::open_stateless(&mut trying.mcp_command()).unwrap();
    let discovered = client.request("server/discover", json!({})).unwrap();
    assert!(
        discovered["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")),
        "{discovered}"
    );
    let list = client.request("tools/list", json!({})).unwrap();
    assert!(list["ttlMs"].is_number() && list["cacheScope"].is_string(), "{list}");
    assert_eq!(list["resultType"], "complete", "{list}");
    let data = client.connect("stateless").unwrap();
    assert_eq!(data["user"]["login"], "irina");
    let answer = client.call("memory_list", json!({})).unwrap();
    assert_eq!(answer.result.get("structuredContent"), Some(&answer.data()));
    let text = client.refused("memory_lst", json!({})).unwrap();
    assert!(text.starts_with("Unknown tool:"), "{text}");
}

#[test]
fn a_throw_away_discover_beside_a_running_server_disturbs_nobody() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut running = trying.connected().unwrap();
    for _ in 0..5 {
        let mut probe = Client::open_stateless(&mut trying.mcp_command()).unwrap();
        probe.request("server/discover", json!({})).unwrap();
        probe.server().close_stdin();
        let status = probe.server().wait(testkit::PATIENCE).unwrap();
        assert!(status.success());
    }
    running.done("memory_list", json!({})).unwrap();
}

#[test]
fn claude_code_finds_the_text_in_the_structured_content() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = Client::start(&mut trying.mcp_command()).unwrap();
    client.initialize("2025-11-25", "claude-code").unwrap();
    let answer = client.call("session_connect", json!({"topic": "cc"})).unwrap();
    let structured = &answer.result["structuredContent"];
    assert_eq!(structured["text"], json!(answer.texts()[1]));
    assert_eq!(structured["user"], answer.data()["user"]);
    let refused = client.call("memory_save", json!({"name": "x"})).unwrap();
    assert!(refused.refused() && refused.result.get("structuredContent").is_none());
    let folder = answer.data()["folder"].as_str().unwrap().to_owned();
    assert!(folder.ends_with("/mcp/claude-code/cc"), "{folder}");
}

#[test]
fn the_list_of_tools_does_not_depend_on_the_person() {
    let store = store();
    let list = |login: &str| -> Value {
        let trying = store.start(login).unwrap();
        let mut client = trying.connected().unwrap_or_else(|_| trying.client().unwrap());
        client.request("tools/list", json!({})).unwrap()["tools"].clone()
    };
    let (admin, oleg) = (list("admin"), list("oleg"));
    assert_eq!(admin, oleg);
    let bytes = admin.to_string().len();
    let each = bytes / 4 / admin.as_array().unwrap().len();
    assert!(each <= 250, "{each} tokens a tool");
}

#[test]
fn what_every_session_reads_is_short() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = Client::start(&mut trying.mcp_command()).unwrap();
    let hello = client.initialize("2025-11-25", "testkit").unwrap();
    assert!(hello["instructions"].as_str().unwrap().len() < 2048);
    let answer = client.call("session_connect", json!({"topic": "short"})).unwrap();
    let tokens = answer.texts()[1].len() / 4;
    assert!(tokens < 900, "{tokens} tokens of session rules");
}
