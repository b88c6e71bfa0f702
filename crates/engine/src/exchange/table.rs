//! Rows of a CSV file on their way out.

use std::io::{self, Write};

/// A cell.
pub(super) enum Cell {
    /// Words of anybody. What a spreadsheet would take for a formula gets a `'` before it.
    Text(String),
    /// A number or a code of this program.
    Plain(String),
    /// Nothing.
    Empty,
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn plain(value: impl ToString) -> Self {
        Self::Plain(value.to_string())
    }

    pub(super) fn maybe<T: ToString>(value: Option<T>) -> Self {
        value.map_or(Self::Empty, |value| Self::Plain(value.to_string()))
    }
}

/// Writes a row, as RFC 4180 says.
pub(super) fn row(out: &mut dyn Write, cells: &[Cell]) -> io::Result<()> {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        match cell {
            Cell::Text(text) => out.write_all(quoted(&harmless(text)).as_bytes())?,
            Cell::Plain(text) => out.write_all(quoted(text).as_bytes())?,
            Cell::Empty => {}
        }
    }
    out.write_all(b"\r\n")
}

fn harmless(text: &str) -> String {
    let bare = text.trim_start_matches('\'');
    match bare.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    let is_plain = !text.contains([',', '"', '\n', '\r', ';', '\t']) && text.trim() == text;
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::{Cell, row};

    #[test]
    fn cells_are_quoted_and_no_formulas() {
        let mut out = Vec::new();
        let cells = [
            Cell::text("a \"b\", c\nd"),
            Cell::text("=HYPERLINK(\"x\")"),
            Cell::text("-5 °C"),
            Cell::plain(-5),
            Cell::Empty,
            Cell::text("'@x"),
        ];
        row(&mut out, &cells).unwrap();
        let wanted = "\"a \"\"b\"\", c\nd\",\"'=HYPERLINK(\"\"x\"\")\",'-5 °C,-5,,''@x\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }
}
