//! What a Rust file names of other files: its `use` declarations and the paths in its code.
//!
//! A reader of words, not a compiler: comments, texts and test modules are
//! dropped first, and what remains is read as a row of tokens.

use std::collections::BTreeSet;

/// What one file declares and names.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    /// Every `use`: the whole path, the name it gets here (`*` for all), and whether others see it.
    pub(crate) uses: Vec<Use>,
    /// Paths in the code, with the inline modules around them.
    pub(crate) paths: Vec<(Vec<String>, Vec<String>)>,
    /// Single words in the code.
    pub(crate) words: BTreeSet<String>,
    /// Names that the file defines.
    pub(crate) defined: BTreeSet<String>,
    /// Modules that exist only in tests.
    pub(crate) test_modules: BTreeSet<String>,
}

/// One name that a `use` brings.
#[derive(Debug)]
pub(crate) struct Use {
    /// The inline modules around it.
    pub(crate) within: Vec<String>,
    /// Where it leads.
    pub(crate) path: Vec<String>,
    /// What it is called here.
    pub(crate) name: String,
    /// Whether it is handed on.
    pub(crate) is_public: bool,
}

impl Imports {
    /// Reads a file.
    pub(crate) fn read(text: &str) -> Self {
        let mut reader = Reader { tokens: tokens(text), at: 0, inside: Vec::new(), found: Self::default() };
        reader.read();
        reader.found
    }
}

struct Reader {
    tokens: Vec<String>,
    at: usize,
    /// Inline modules that are open, each with the depth of its braces.
    inside: Vec<(String, usize)>,
    found: Imports,
}

impl Reader {
    fn token(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", String::as_str)
    }

    fn within(&self) -> Vec<String> {
        self.inside.iter().map(|(name, _)| name.clone()).collect()
    }

    fn read(&mut self) {
        let mut depth = 0;
        let (mut is_test, mut is_public) = (false, false);
        while self.at < self.tokens.len() {
            match self.token(0) {
                "#" => {
                    is_test |= self.attribute();
                    continue;
                }
                "pub" => {
                    is_public = true;
                    self.visibility();
                    continue;
                }
                "mod" if is_word(self.token(1)) => {
                    let (name, opens) = (self.token(1).to_owned(), self.token(2) == "{");
                    self.at += 2;
                    match (opens, is_test) {
                        (true, true) => self.skip_block(),
                        (true, false) => self.inside.push((name, depth)),
                        (false, true) => _ = self.found.test_modules.insert(name),
                        (false, false) => {}
                    }
                }
                "use" => self.declaration(is_public),
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union"
                    if is_word(self.token(1)) =>
                {
                    let name = self.token(1).to_owned();
                    self.found.defined.insert(name);
                    self.at += 2;
                }
                "macro_rules" => {
                    let name = self.token(2).to_owned();
                    self.found.defined.insert(name);
                    self.at += 3;
                }
                "{" => {
                    depth += 1;
                    self.at += 1;
                }
                "}" => {
                    depth -= 1;
                    self.inside.pop_if(|(_, at)| *at == depth);
                    self.at += 1;
                }
                word if is_word(word) => self.path(),
                _ => self.at += 1,
            }
            (is_test, is_public) = (false, false);
        }
    }

    /// Passes over an attribute; tells whether it is `cfg(test)`.
    fn attribute(&mut self) -> bool {
        let start = self.at;
        self.at += if self.token(1) == "!" { 2 } else { 1 };
        let mut depth = 0;
        while self.at < self.tokens.len() {
            match self.token(0) {
                "[" => depth += 1,
                "]" => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
        let words: Vec<&str> = self.tokens[start..self.at].iter().map(String::as_str).collect();
        words.windows(4).any(|four| four == ["cfg", "(", "test", ")"])
    }

    /// Passes over `pub` with what stands behind it in brackets.
    fn visibility(&mut self) {
        self.at += 1;
        if self.token(0) == "(" && matches!(self.token(1), "crate" | "super" | "in" | "self") {
            while !matches!(self.token(0), ")" | "") {
                self.at += 1;
            }
            self.at += 1;
        }
    }

    /// Passes over a block that begins here.
    fn skip_block(&mut self) {
        let mut depth = 0;
        while self.at < self.tokens.len() {
            match self.token(0) {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
    }

    fn declaration(&mut self, is_public: bool) {
        self.at += 1;
        if self.token(0) == "::" || self.token(0) == "<" {
            return;
        }
        self.tree(&mut Vec::new(), is_public);
    }

    /// One branch of a `use`.
    fn tree(&mut self, before: &mut Vec<String>, is_public: bool) {
        let length = before.len();
        loop {
            match self.token(0) {
                "{" => {
                    self.at += 1;
                    while !matches!(self.token(0), "}" | "") {
                        self.tree(before, is_public);
                        if self.token(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    break;
                }
                "$" | "::" => self.at += 1,
                word if is_word(word) || word == "*" => {
                    let word = word.to_owned();
                    self.at += 1;
                    if word != "self" || before.is_empty() {
                        before.push(word);
                    }
                    if self.token(0) != "::" {
                        let name = self.alias().or_else(|| before.last().cloned()).unwrap_or_default();
                        let (within, path) = (self.within(), before.clone());
                        self.found.uses.push(Use { within, path, name, is_public });
                        break;
                    }
                }
                _ => {
                    self.at += 1;
                    break;
                }
            }
        }
        before.truncate(length);
    }

    fn alias(&mut self) -> Option<String> {
        (self.token(0) == "as").then(|| {
            self.at += 2;
            self.tokens[self.at - 1].clone()
        })
    }

    /// A path in the code, or a single word.
    fn path(&mut self) {
        let mut path = vec![self.token(0).to_owned()];
        self.at += 1;
        while self.token(0) == "::" && is_word(self.token(1)) {
            path.push(self.token(1).to_owned());
            self.at += 2;
        }
        match path.len() {
            1 => self.found.words.extend(path),
            _ => self.found.paths.push((self.within(), path)),
        }
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Words, `::` and single marks; no comments, no texts.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if let Some(length) = literal(rest) {
            length
        } else if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// Length of the text, character or lifetime that begins here.
fn literal(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        rest.strip_prefix(prefix).is_some_and(|rest| {
            rest.starts_with('"') || (prefix.ends_with('r') && rest.starts_with("#") && is_raw(rest))
        })
    });
    if let Some(prefix) = prefix {
        let body = &rest[prefix.len()..];
        if prefix.ends_with('r') {
            let hashes = body.len() - body.trim_start_matches('#').len();
            let end = format!("\"{}", "#".repeat(hashes));
            let from = hashes + 1;
            return Some(prefix.len() + from + body[from..].find(&end)? + end.len());
        }
        return Some(prefix.len() + quoted(body, '"'));
    }
    let character = rest.strip_prefix("b").filter(|rest| rest.starts_with('\'')).unwrap_or(rest);
    if !character.starts_with('\'') {
        return None;
    }
    let skipped = rest.len() - character.len();
    let mut inside = character[1..].chars();
    match (inside.next(), inside.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => Some(skipped + quoted(character, '\'')),
        // A lifetime.
        _ => Some(1),
    }
}

fn is_raw(rest: &str) -> bool {
    rest.trim_start_matches('#').starts_with('"')
}

fn quoted(text: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == mark => return at + 1,
            _ => {}
        }
    }
    text.len()
}
