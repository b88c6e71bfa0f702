//! The two streams: stdout for data, stderr for people.

use std::io::{IsTerminal, Write};

/// Writes a line of data. A reader that has gone away is no error.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Writes what went wrong.
pub(crate) fn problem(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "shopwright: {text}");
}

/// Writes a note for people that is no data.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Whether stdout may be coloured: a terminal, and nobody asked for none.
pub(crate) fn colours() -> bool {
    std::io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && !is_dumb()
}

/// Whether the terminal says that it can do nothing but show lines.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Asks a person something; the answer is typed behind it.
pub(crate) fn prompt(question: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "{question}");
    let _ = stderr.flush();
}

/// An error with its causes, outermost first. Libraries often repeat the cause in their own words.
pub(crate) fn error_chain(error: &anyhow::Error) -> String {
    let mut words = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if words.ends_with(&cause) {
            continue;
        }
        if !words.is_empty() {
            words.push_str(": ");
        }
        words.push_str(&cause);
    }
    words
}
