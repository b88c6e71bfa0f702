//! Tests of finding ids in broken messages.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{of_broken, of_ends};

#[test]
fn the_id_of_a_closed_but_unreadable_message_is_found() {
    let deep = format!(r#"{{"id":7,"params":{}{}}}"#, "[".repeat(500), "]".repeat(500));
    for (line, id) in [
        (r#"{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":"\ud800"}}"#, json!(5)),
        (r#"{"id":"a\"b","x":"\ud800"}"#, json!("a\"b")),
        (r#" { "x" : {"id":1} , "id" : 2 , } "#, json!(2)),
        (r#"{"id":3,"x":NaN}"#, json!(3)),
        (r#"{"id":0,"x":'y'}"#, json!(0)),
        (deep.as_str(), json!(7)),
    ] {
        assert_eq!(of_broken(line.as_bytes()), Some(id), "{line}");
    }
    assert_eq!(of_broken(b"{\"id\":4,\"x\":\"\xff\xfe\"}"), Some(json!(4)));
}

#[test]
fn of_a_torn_message_nothing_is_guessed() {
    for line in [
        r#"{"jsonrpc":"2.0","id":5,"method":"x""#,
        r#"{"id":5}}"#,
        r#"{"id":5} x"#,
        r#"{"id":null,"x":"\ud800"}"#,
        r#"{"id":{"id":1},"x":"\ud800"}"#,
        r#"{"params":{"id":9},"x":"\ud800"}"#,
        r#""id":5"#,
        "",
        "{",
        "{\"",
        "{\"id\"",
        "{\"id\":",
        "{\"id\":\"\\",
    ] {
        assert_eq!(of_broken(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn the_id_of_a_dropped_line_is_found_at_either_end() {
    let found = |head: &str, tail: &str| of_ends(head.as_bytes(), tail.as_bytes());
    assert_eq!(found(r#"{"jsonrpc":"2.0","id":1,"params":{"x":"aaaa"#, "aaa\"}}"), Some(json!(1)));
    assert_eq!(found(r#"{"params":{"x":"aaaa"#, r#"aaa"},"jsonrpc":"2.0","id":"n"}"#), Some(json!("n")));
    assert_eq!(found(r#"{"params":{"x":"aaaa"#, r#"aaa"},"id":2,"jsonrpc":"2.0"}"#), Some(json!(2)));
    // An id inside the parameters is not the message's.
    assert_eq!(found(r#"{"params":{"x":"aaaa"#, r#"aaa","id":3}}"#), None);
    assert_eq!(found(r#"{"params":{"id":3,"x":"aaaa"#, "aaa\"}}"), None);
}

proptest! {
    #[test]
    fn any_bytes_are_survived(line in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = of_broken(&line);
        let _ = of_ends(&line, &line);
    }

    #[test]
    fn what_can_be_read_has_the_same_id(id in any::<i64>(), text in "[ -~]{0,20}", other in "[ -~]{0,20}") {
        let message = json!({"a": {"id": text, "deep": [1, {"x": other}]}, "id": id, "z": text});
        prop_assert_eq!(of_broken(message.to_string().as_bytes()), Some(Value::from(id)));
    }
}
