//! Tests of keys of writes.

use serde_json::{Map, json};

use super::IdempotencyKeys;

fn params(text: &str) -> Map<String, serde_json::Value> {
    json!({"name": text}).as_object().cloned().unwrap()
}

#[test]
fn a_call_repeated_after_a_lost_answer_keeps_its_key() {
    let keys = IdempotencyKeys::default();
    let first = keys.of(&["s", "l", "t"], &params("a"));
    let text = first.text();
    drop(first);
    assert_ne!(keys.of(&["s", "l", "t"], &params("b")).text(), text);
    assert_ne!(keys.of(&["s", "other", "t"], &params("a")).text(), text);
    let second = keys.of(&["s", "l", "t"], &params("a"));
    assert_eq!(second.text(), text);
    // While it runs, an equal call is another call.
    assert_ne!(keys.of(&["s", "l", "t"], &params("a")).text(), text);
    second.settle();
}

#[test]
fn an_answered_call_gives_its_key_up() {
    let keys = IdempotencyKeys::default();
    let first = keys.of(&["s"], &params("a"));
    let text = first.text();
    first.settle();
    assert_ne!(keys.of(&["s"], &params("a")).text(), text);
}

#[test]
fn the_order_of_fields_makes_no_other_call() {
    let keys = IdempotencyKeys::default();
    let call = |text: &str| serde_json::from_str::<Map<String, serde_json::Value>>(text).unwrap();
    let first = keys.of(&["s"], &call(r#"{"name": "n", "body": "b"}"#));
    let text = first.text();
    drop(first);
    assert_eq!(keys.of(&["s"], &call(r#"{"body": "b", "name": "n"}"#)).text(), text);
}

#[test]
fn the_newest_keys_are_kept() {
    let keys = IdempotencyKeys::default();
    for number in 0..super::MOST + 10 {
        drop(keys.of(&["s"], &params(&number.to_string())));
    }
    let newest = keys.of(&["s"], &params(&(super::MOST + 9).to_string()));
    assert!(newest.was_sent());
    assert!(!keys.of(&["s"], &params("0")).was_sent());
}
