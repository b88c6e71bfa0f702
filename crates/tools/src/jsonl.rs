//! Rows as lines of JSON: what goes into a file, and the head of it that stands in the answer.

use serde_json::Value;

/// Rows of a table that are shown.
const ROWS: usize = 3;
/// Characters of them.
const HEAD: usize = 300;

/// A line for each row.
pub(crate) fn lines(rows: &[Value]) -> Vec<String> {
    rows.iter().map(Value::to_string).collect()
}

/// The lines as a file holds them.
pub(crate) fn text(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// The first rows.
pub(crate) fn head(lines: &[String]) -> String {
    let first = lines.iter().take(ROWS).map(String::as_str).collect::<Vec<_>>().join("\n");
    first.chars().take(HEAD).collect()
}

/// Whether this can be part of a file's name everywhere.
pub(crate) fn is_bare(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
