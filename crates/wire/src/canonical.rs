//! One form of bytes for equal JSON values: what names a call may not depend on the order its fields came in.

use serde_json::{Map, Value};

/// JSON without blanks, the keys of every object sorted.
///
/// Numbers stay as they were written: `1` and `1.0` are two values.
pub fn bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

/// The same of a call's parameters.
pub fn object(fields: &Map<String, Value>) -> Vec<u8> {
    let mut out = Vec::new();
    write_object(fields, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(fields) => write_object(fields, out),
        Value::String(words) => text(words, out),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            out.extend_from_slice(value.to_string().as_bytes())
        }
    }
}

fn write_object(fields: &Map<String, Value>, out: &mut Vec<u8>) {
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|(name, _)| *name);
    out.push(b'{');
    for (index, (name, field)) in fields.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        text(name, out);
        out.push(b':');
        write(field, out);
    }
    out.push(b'}');
}

/// Quotes and backslashes are all that has to be escaped to keep two texts apart.
fn text(words: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in words.bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        String::from_utf8(bytes(&serde_json::from_str(text).unwrap())).unwrap()
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
