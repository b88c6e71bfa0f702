//! What differs from run to run, put as marks; and JSON in a form that people read.

use serde_json::Value;

/// Longest line of a JSON value that stays on one line.
const WIDTH: usize = 110;

/// Fields that hold durations.
const DURATIONS: [&str; 8] = ["time", "compile", "sql_time", "server", "module", "trip", "sql_ms", "ms"];

/// Replaces folders, ports, times, builds, codes and incident numbers by marks.
pub(super) fn redact(text: &str, folder: &str, port: &str) -> String {
    let text = text.replace(folder, "[FOLDER]").replace(&format!(":{port}"), ":[PORT]");
    let text = text.replace(wire::BUILD, "[BUILD]");
    let text = by_shape(&text, "0000-00-00T00:00:00", "[TIME]");
    let text = by_shape(&text, "0000-00-00", "[DAY]");
    let text = after(&text, "and code `", 6, "[CODE]");
    let text = DURATIONS.iter().fold(text, |text, lead| number(&text, &format!("\"{lead}\": ")));
    after(&text, "(incident ", 0, "[INCIDENT]")
}

/// Replaces what has the shape of `shape`, where `0` stands for any digit; a fraction and a zone go along.
fn by_shape(text: &str, shape: &str, mark: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut from, mut at) = (String::new(), 0, 0);
    while at + shape.len() <= bytes.len() {
        let fits = shape
            .bytes()
            .zip(&bytes[at..])
            .all(|(wanted, got)| if wanted == b'0' { got.is_ascii_digit() } else { *got == wanted });
        if !fits {
            at += 1;
            continue;
        }
        out.push_str(&text[from..at]);
        out.push_str(mark);
        at += shape.len();
        if shape.contains('T') {
            while bytes.get(at).is_some_and(|byte| byte.is_ascii_digit() || b".Z".contains(byte)) {
                at += 1;
            }
        }
        from = at;
    }
    out.push_str(&text[from..]);
    out
}

/// Replaces every number behind `lead`: a duration.
fn number(text: &str, lead: &str) -> String {
    let mut parts = text.split(lead);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_digit() || "e.-".contains(letter));
        let took = if rest.len() < part.len() { "[TOOK]" } else { "" };
        out.push_str(&format!("{lead}{took}{rest}"));
    }
    out
}

/// Replaces the word behind every `lead`: `length` bytes, or up to `)` where it is 0.
fn after(text: &str, lead: &str, length: usize, mark: &str) -> String {
    let mut parts = text.split(lead);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = if length == 0 { part.find(')').unwrap_or(0) } else { length.min(part.len()) };
        out.push_str(lead);
        out.push_str(mark);
        out.push_str(part.get(end..).unwrap_or_default());
    }
    out
}

/// JSON for people: on one line what fits, else one entry a line.
pub fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, 0, &mut out);
    out
}

fn write(value: &Value, depth: usize, used: usize, out: &mut String) {
    let short = one_line(value);
    if depth * 2 + used + short.len() <= WIDTH || is_flat(value) {
        out.push_str(&short);
        return;
    }
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    let pad = "  ".repeat(depth + 1);
    let entries: Vec<(String, &Value)> = match value {
        Value::Array(list) => list.iter().map(|entry| (String::new(), entry)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, entry)| (format!("{}: ", Value::from(key.as_str())), entry)).collect()
        }
        _ => Vec::new(),
    };
    out.push(open);
    for (count, (key, entry)) in entries.iter().enumerate() {
        out.push_str(if count == 0 { "\n" } else { ",\n" });
        out.push_str(&pad);
        out.push_str(key);
        write(entry, depth + 1, key.len(), out);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(close);
}

/// A value, or a row of a table: never broken over lines.
fn is_flat(value: &Value) -> bool {
    let simple = |value: &Value| !value.is_array() && !value.is_object();
    simple(value) || value.as_array().is_some_and(|list| list.iter().any(simple))
}

fn one_line(value: &Value) -> String {
    match value {
        Value::Array(list) => format!("[{}]", list.iter().map(one_line).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let entries =
                map.iter().map(|(key, entry)| format!("{}: {}", Value::from(key.as_str()), one_line(entry)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{pretty, redact};

    #[test]
    fn what_changes_becomes_marks() {
        let text = "/x/y/store at http://127.0.0.1:4711/ since 2026-11-30T10:00:00.123456Z with code `abc123`, t-2026-11-30.lic";
        let text = text.replace("with code", "and code");
        assert_eq!(
            redact(&text, "/x/y", "4711"),
            "[FOLDER]/store at http://127.0.0.1:[PORT]/ since [TIME] and code `[CODE]`, t-[DAY].lic"
        );
    }

    #[test]
    fn short_json_stays_on_a_line() {
        assert_eq!(pretty(&json!({"a": [1, 2], "b": null})), r#"{"a": [1, 2], "b": null}"#);
        let long = json!({"rows": [["x".repeat(80), 1], ["y".repeat(80), 2]]});
        assert_eq!(pretty(&long).lines().count(), 6);
    }
}
