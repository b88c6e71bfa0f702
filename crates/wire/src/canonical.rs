//! One form of bytes for equal JSON values: what names a call may not depend on the order its fields came in.

use serde_json::Value;

/// JSON without blanks, the keys of every object sorted.
///
/// Numbers stay as they were written: `1` and `1.0` are two values.
pub fn bytes(mut value: Value) -> Vec<u8> {
    value.sort_all_objects();
    // To memory, and all keys are texts: it cannot fail.
    serde_json::to_vec(&value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        String::from_utf8(bytes(serde_json::from_str(text).unwrap())).unwrap()
    }

    #[test]
    fn the_order_of_fields_and_blanks_do_not_matter_and_everything_else_does() {
        let one = of(r#"{"b": {"z": [1, {"d": null, "c": "x"}], "a": true}, "a": 1.5}"#);
        assert_eq!(one, r#"{"a":1.5,"b":{"a":true,"z":[1,{"c":"x","d":null}]}}"#);
        assert_eq!(one, of(r#"{"a":1.5,"b":{"a":true,"z":[1,{"c":"x","d":null}]}}"#));
        for (one, other) in [
            ("[1,2]", "[2,1]"),
            (r#"{"a":"1"}"#, r#"{"a":1}"#),
            (r#"["a\",\"b"]"#, r#"["a","b"]"#),
            (r#"["a\\","b"]"#, r#"["a\\\",\"b"]"#),
            ("{}", "[]"),
        ] {
            assert_ne!(of(one), of(other), "{one} {other}");
        }
    }
}
