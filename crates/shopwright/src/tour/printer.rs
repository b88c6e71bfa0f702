//! How the tour is printed: plain lines, coloured on a terminal.

use std::time::Duration;

use serde_json::Value;

use super::agent::Answer;
use crate::output;

/// Longest line that stays whole.
const WIDTH: usize = 108;
/// Most lines of one block.
const LINES: usize = 24;

/// The printer.
pub(super) struct Printer {
    coloured: bool,
}

/// What a colour means here.
enum Ink {
    Title,
    Call,
    Done,
    Refused,
    Quiet,
}

impl Printer {
    /// A printer that knows whether colours are wanted.
    pub(super) fn new() -> Self {
        Self { coloured: output::colours() }
    }

    fn ink(&self, ink: &Ink, text: &str) -> String {
        let code = match ink {
            Ink::Title => "1",
            Ink::Call => "36",
            Ink::Done => "32",
            Ink::Refused => "33",
            Ink::Quiet => "2",
        };
        if self.coloured { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// A heading.
    pub(super) fn chapter(&self, title: &str) {
        output::line(&format!("\n{}", self.ink(&Ink::Title, &format!("# {title}"))));
    }

    /// A plain line.
    pub(super) fn line(&self, text: &str) {
        output::line(&format!("  {text}"));
    }

    /// A long text, cut after a few lines.
    pub(super) fn quote(&self, text: &str) {
        self.block(text, "  | ");
    }

    /// A name with what it means.
    pub(super) fn item(&self, name: &str, about: &str) {
        let about = about.split(". ").next().unwrap_or_default();
        output::line(&format!("    {name:<22} {}", self.ink(&Ink::Quiet, &cut(about, WIDTH - 26))));
    }

    /// A call.
    pub(super) fn call(&self, step: usize, tool: &str, arguments: &Value) {
        let call = self.ink(&Ink::Call, &format!("{tool} {}", cut(&arguments.to_string(), WIDTH)));
        output::line(&format!("\n  {step:>2}. {call}"));
    }

    /// Its answer.
    pub(super) fn answer(&self, answer: &Answer, took: Duration) {
        let time = self.ink(&Ink::Quiet, &format!("{:.1} ms", took.as_secs_f64() * 1000.0));
        if answer.refused {
            output::line(&format!("      {} {time}", self.ink(&Ink::Refused, "refused")));
        } else {
            output::line(&format!("      {} {time}", self.ink(&Ink::Done, "done")));
        }
        if let Value::Object(fields) = &answer.data {
            for (name, value) in fields {
                self.field(name, value);
            }
        }
        for text in &answer.texts {
            self.block(text, "      | ");
        }
    }

    fn field(&self, name: &str, value: &Value) {
        match value {
            Value::Array(rows) if rows.iter().any(|row| row.is_array() || row.is_object()) => {
                output::line(&format!("      {name}:"));
                for row in rows.iter().take(LINES) {
                    output::line(&format!("        {}", cut(&row.to_string(), WIDTH)));
                }
            }
            _ => output::line(&format!("      {name}: {}", cut(&value.to_string(), WIDTH))),
        }
    }

    fn block(&self, text: &str, lead: &str) {
        let lines: Vec<String> = text.lines().flat_map(wrapped).collect();
        for line in lines.iter().take(LINES) {
            output::line(&format!("{lead}{line}"));
        }
        if lines.len() > LINES {
            let rest = format!("… {} lines more", lines.len() - LINES);
            output::line(&format!("{lead}{}", self.ink(&Ink::Quiet, &rest)));
        }
    }

    /// The last line.
    pub(super) fn end(&self, steps: usize) {
        let words = format!("{steps} calls, every answer as expected.");
        output::line(&format!("\n{}", self.ink(&Ink::Done, &words)));
    }
}

/// A line in parts that fit, broken between words.
fn wrapped(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for word in line.split(' ') {
        let last = parts.len() - 1;
        let long = parts[last].chars().count() + 1 + word.chars().count() > WIDTH;
        if long && !parts[last].is_empty() {
            parts.push(cut(word, WIDTH));
        } else {
            if !parts[last].is_empty() {
                parts[last].push(' ');
            }
            parts[last].push_str(&cut(word, WIDTH));
        }
    }
    parts
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let short: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{short}…")
}
