//! The topic of a conversation.

use serde_json::{Value, json};

use crate::setup::{is_row, store};

#[test]
fn topics_are_one_word_of_latin_letters() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.client().unwrap();
    let long = "x".repeat(64);
    for good in [long.as_str(), "a", "prices-sept", "A_1", "-", "0"] {
        let data = client.done("session_connect", json!({"topic": good})).unwrap();
        let folder = data["folder"].as_str().unwrap();
        assert!(folder.ends_with(&format!("/mcp/testkit/{good}")), "{folder}");
        assert!(std::path::Path::new(folder).is_dir());
    }
    let too_long = "x".repeat(65);
    let bad =
        [too_long.as_str(), "..", ".", "a/b", "a\\b", "A B", "цены", "", "a\u{0}b", "a\n", " a", "a.b", "é"];
    for topic in bad {
        let text = client.refused("session_connect", json!({"topic": topic})).unwrap();
        let row = if topic.is_empty() { "topic_missing" } else { "topic_not_a_word" };
        assert!(is_row(&text, row), "{topic:?}: {text}");
        // The session that is open stays open.
        client.done("memory_list", json!({})).unwrap();
    }
}

#[test]
fn a_topic_of_another_kind_is_refused_and_the_server_lives() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.client().unwrap();
    let huge = "ы".repeat(5 * 1024 * 1024);
    let cases: [(Value, &str); 7] = [
        (json!({}), "topic_missing"),
        (json!({"topic": null}), "topic_missing"),
        (json!({"topic": 7}), "topic_not_a_word"),
        (json!({"topic": ["a"]}), "topic_not_a_word"),
        (json!({"topic": {"a": 1}}), "topic_not_a_word"),
        (json!({"topic": huge}), "topic_not_a_word"),
        (json!({"topic": "x", "colour": "green"}), "unknown_parameter"),
    ];
    for (arguments, row) in cases {
        let text = client.refused("session_connect", arguments).unwrap();
        assert!(is_row(&text, row), "{row}: {}", &text[..text.len().min(300)]);
        assert!(text.len() < 1000, "a refusal does not carry the whole value back");
        let after = client.refused("memory_list", json!({})).unwrap();
        assert!(is_row(&after, "not_connected"), "{after}");
    }
    client.connect("fine").unwrap();
}
