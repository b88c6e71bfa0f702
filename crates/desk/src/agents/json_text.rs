//! Changing a few values of a JSON text: every other byte of it stays.
//!
//! Comments and commas before a closing bracket are let be, since several
//! applications accept them in their files.

use std::ops::Range;

use serde_json::Value;

/// Deepest nesting that is read.
const DEEPEST: usize = 100;

/// A JSON text whose values can be changed one by one.
pub(super) struct JsonText {
    text: String,
}

/// A value with its place in the text.
struct Node {
    span: Range<usize>,
    kind: Kind,
}

enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    /// Text, number, true, false, null.
    Scalar(Value),
}

struct Member {
    key: String,
    /// Where its key begins.
    start: usize,
    value: Node,
}

impl JsonText {
    /// Reads a text; an empty one is an empty object, and `None` is no object.
    pub(super) fn read(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mark = &text[..text.len() - bare.len()];
        let text = if bare.trim().is_empty() { format!("{mark}{{}}\n") } else { text.to_owned() };
        let read = Self { text };
        matches!(read.root()?.kind, Kind::Object(_)).then_some(read)
    }

    /// The text as it is now.
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// The value at this path.
    pub(super) fn get(&self, path: &[&str]) -> Option<Value> {
        Some(value(find(&self.root()?, path)?))
    }

    /// Whether there are no members at all.
    pub(super) fn is_empty(&self) -> bool {
        self.root().is_some_and(|root| matches!(root.kind, Kind::Object(members) if members.is_empty()))
    }

    /// Sets a value; objects on the way to it are made. `None` where something else than an object is in the way.
    pub(super) fn set(&mut self, path: &[&str], to: &Value) -> Option<()> {
        let root = self.root()?;
        if let Some(node) = find(&root, path) {
            if value(node) != *to {
                let indent = self.indent_at(node.span.start);
                let written = self.written(to, &indent, true);
                self.text.replace_range(node.span.clone(), &written);
            }
            return Some(());
        }
        let mut deepest = 0;
        while deepest + 1 < path.len() && find(&root, &path[..=deepest]).is_some() {
            deepest += 1;
        }
        let parent = find(&root, &path[..deepest])?;
        let Kind::Object(members) = &parent.kind else { return None };
        // What is missing on the way is written at once.
        let missing = path[deepest + 1..].iter().rev();
        let whole = missing.fold(to.clone(), |inner, key| serde_json::json!({ *key: inner }));
        let last = members.last().map(|member| (member.start, member.value.span.end));
        self.insert(&parent.span, last, Some(path[deepest]), &whole);
        Some(())
    }

    /// Adds to the end of the list at this path, which is made where it is missing; what is in it already stays.
    pub(super) fn push(&mut self, path: &[&str], item: &Value) -> Option<()> {
        let root = self.root()?;
        let Some(node) = find(&root, path) else {
            return self.set(path, &Value::Array(vec![item.clone()]));
        };
        let Kind::Array(items) = &node.kind else { return None };
        if !items.iter().any(|one| value(one) == *item) {
            let last = items.last().map(|one| (one.span.start, one.span.end));
            self.insert(&node.span, last, None, item);
        }
        Some(())
    }

    /// Removes the member at this path.
    pub(super) fn remove(&mut self, path: &[&str]) -> Option<()> {
        let root = self.root()?;
        let (key, parent) = path.split_last()?;
        let Some(parent) = find(&root, parent) else { return Some(()) };
        let Kind::Object(members) = &parent.kind else { return Some(()) };
        let places: Vec<(usize, usize)> =
            members.iter().map(|member| (member.start, member.value.span.end)).collect();
        if let Some(at) = members.iter().rposition(|member| member.key == *key) {
            self.cut(&parent.span, &places, at);
        }
        Some(())
    }

    /// Removes an item from the list at this path.
    pub(super) fn take_out(&mut self, path: &[&str], item: &Value) -> Option<()> {
        let root = self.root()?;
        let Some(node) = find(&root, path) else { return Some(()) };
        let Kind::Array(items) = &node.kind else { return Some(()) };
        let places: Vec<(usize, usize)> = items.iter().map(|one| (one.span.start, one.span.end)).collect();
        if let Some(at) = items.iter().position(|one| value(one) == *item) {
            self.cut(&node.span, &places, at);
        }
        Some(())
    }

    fn root(&self) -> Option<Node> {
        let start = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut reader = Reader { text: &self.text, at: start };
        let root = reader.value(0)?;
        reader.space()?;
        (reader.at == self.text.len()).then_some(root)
    }

    /// Writes a value behind the last one of an object or list.
    fn insert(
        &mut self,
        holder: &Range<usize>,
        last: Option<(usize, usize)>,
        key: Option<&str>,
        item: &Value,
    ) {
        let is_open = last.map_or_else(
            || !self.text[holder.clone()].contains(|c: char| !"{}[]".contains(c)) && self.is_laid_out(),
            |(start, _)| self.text[holder.start..start].contains('\n'),
        );
        let outer = self.indent_at(holder.start);
        let indent = match last {
            Some((start, _)) if is_open => self.indent_at(start),
            _ => format!("{outer}{}", self.unit()),
        };
        let key = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
        let item = format!("{key}{}", self.written(item, &indent, is_open));
        let (line, at) = (self.line_end(), last.map_or(holder.start + 1, |(_, end)| end));
        // A comma before the closing bracket, where the file has such, serves the new one too.
        let comma = self.comma_after(at).filter(|_| last.is_some());
        let written = match (last, is_open) {
            (Some(_), true) => format!("{}{line}{indent}{item}", if comma.is_some() { "" } else { "," }),
            (Some(_), false) => format!("{} {item}", if comma.is_some() { "" } else { "," }),
            (None, true) => format!("{line}{indent}{item}{line}{outer}"),
            (None, false) => item,
        };
        self.text.insert_str(comma.unwrap_or(at), &written);
    }

    /// Cuts one of several values out, with one comma; comments around it stay.
    fn cut(&mut self, holder: &Range<usize>, places: &[(usize, usize)], at: usize) {
        let (start, end) = places[at];
        let comma = self.comma_after(end);
        let before = self.text[..start].trim_end_matches([' ', '\t', '\r', '\n']).len();
        if places.len() == 1 {
            let inner = &self.text[holder.start + 1..holder.end - 1];
            let ours = &self.text[start..comma.unwrap_or(end)];
            let is_alone = inner.trim() == ours;
            let range =
                if is_alone { holder.start + 1..holder.end - 1 } else { before..comma.unwrap_or(end) };
            return self.text.replace_range(range, "");
        }
        match (comma, at + 1 == places.len()) {
            (Some(comma), false) => {
                let rest = &self.text[comma..];
                let space = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
                self.text.replace_range(start..comma + space, "");
            }
            (Some(comma), true) => self.text.replace_range(before..comma, ""),
            (None, _) => {
                self.text.replace_range(before..end, "");
                if let Some(comma) = at.checked_sub(1).and_then(|last| self.comma_after(places[last].1)) {
                    self.text.replace_range(comma - 1..comma, "");
                }
            }
        }
    }

    /// Where the comma behind this place ends, if the next thing is one.
    fn comma_after(&self, at: usize) -> Option<usize> {
        let mut reader = Reader { text: &self.text, at };
        reader.space()?;
        reader.takes(',').then_some(reader.at)
    }

    /// A value as it is written at this depth.
    fn written(&self, value: &Value, indent: &str, is_open: bool) -> String {
        match value {
            Value::Object(members) if !members.is_empty() => {
                let inner = format!("{indent}{}", self.unit());
                let line = self.line_end();
                let members = members.iter().map(|(key, value)| {
                    format!("{}: {}", Value::from(key.as_str()), self.written(value, &inner, is_open))
                });
                let members: Vec<String> = members.collect();
                match is_open {
                    true => {
                        let members = members.join(&format!(",{line}{inner}"));
                        format!("{{{line}{inner}{members}{line}{indent}}}")
                    }
                    false => format!("{{{}}}", members.join(", ")),
                }
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.written(item, indent, false)).collect();
                format!("[{}]", items.join(", "))
            }
            scalar => scalar.to_string(),
        }
    }

    /// Whether the text has its values on lines of their own; a text of one line keeps to it.
    fn is_laid_out(&self) -> bool {
        let text = self.text.trim();
        text.contains('\n') || text.trim_start_matches('\u{feff}') == "{}"
    }

    fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// What one step of indentation is here.
    fn unit(&self) -> String {
        let first = self.root().and_then(|root| match root.kind {
            Kind::Object(members) => members.first().map(|member| self.indent_at(member.start)),
            _ => None,
        });
        first.filter(|unit| !unit.is_empty()).unwrap_or_else(|| "  ".to_owned())
    }

    /// The space at the beginning of the line of this place.
    fn indent_at(&self, at: usize) -> String {
        let line = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        self.text[line..at].chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
    }
}

/// The value at this path; of members with one key the last counts, as in every parser.
fn find<'a>(node: &'a Node, path: &[&str]) -> Option<&'a Node> {
    let Some((first, rest)) = path.split_first() else { return Some(node) };
    let Kind::Object(members) = &node.kind else { return None };
    find(&members.iter().rfind(|member| member.key == *first)?.value, rest)
}

fn value(node: &Node) -> Value {
    match &node.kind {
        Kind::Object(members) => {
            Value::Object(members.iter().map(|member| (member.key.clone(), value(&member.value))).collect())
        }
        Kind::Array(items) => Value::Array(items.iter().map(value).collect()),
        Kind::Scalar(scalar) => scalar.clone(),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn takes(&mut self, mark: char) -> bool {
        let is_there = self.rest().starts_with(mark);
        self.at += if is_there { mark.len_utf8() } else { 0 };
        is_there
    }

    /// Passes over space and comments; `None` in a comment that does not end.
    fn space(&mut self) -> Option<()> {
        loop {
            let rest = self.rest();
            let space = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let comment = match &rest[space..] {
                inner if inner.starts_with("//") => inner.find('\n').unwrap_or(inner.len()),
                inner if inner.starts_with("/*") => inner.find("*/")? + 2,
                _ => 0,
            };
            self.at += space + comment;
            if comment == 0 {
                return Some(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        self.space()?;
        let start = self.at;
        let kind = match self.rest().chars().next()? {
            _ if depth > DEEPEST => return None,
            '{' => Kind::Object(self.members(depth)?),
            '[' => Kind::Array(self.items(depth)?),
            _ => Kind::Scalar(self.scalar()?),
        };
        Some(Node { span: start..self.at, kind })
    }

    fn members(&mut self, depth: usize) -> Option<Vec<Member>> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.space()?;
            if self.takes('}') {
                return Some(members);
            }
            let start = self.at;
            let Value::String(key) = self.scalar()? else { return None };
            self.space()?;
            if !self.takes(':') {
                return None;
            }
            members.push(Member { key, start, value: self.value(depth + 1)? });
            self.space()?;
            if !self.takes(',') && !self.rest().starts_with('}') {
                return None;
            }
        }
    }

    fn items(&mut self, depth: usize) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.space()?;
            if self.takes(']') {
                return Some(items);
            }
            items.push(self.value(depth + 1)?);
            self.space()?;
            if !self.takes(',') && !self.rest().starts_with(']') {
                return None;
            }
        }
    }

    /// A text, a number, or one of the three words.
    fn scalar(&mut self) -> Option<Value> {
        let rest = self.rest();
        let length = if rest.starts_with('"') {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find(|(_, c)| {
                let ends = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            end?.0 + 1
        } else {
            rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len())
        };
        let word = &rest[..length];
        // A number of any size stays as it is written: only its form is looked at.
        let read =
            serde_json::from_str::<Value>(word).ok().or_else(|| is_number(word).then_some(Value::Null))?;
        self.at += length;
        Some(read)
    }
}

/// Whether this is a number that is only too large to be read.
fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c))
}
