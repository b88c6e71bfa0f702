//! Cuts a statement into pieces the way PostgreSQL does, as far as it matters here.

/// A piece of a statement; all pieces together are the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A key word, a name or a number.
    Word(&'a str),
    /// A name in double quotes, with them.
    Quoted(&'a str),
    /// `:name`, without the colon.
    Parameter(&'a str),
    /// A string or a comment.
    Opaque(&'a str),
    /// White space.
    Space(&'a str),
    /// Anything else.
    Mark(&'a str),
}

/// The pieces of a statement.
pub(super) struct Pieces<'a> {
    rest: &'a str,
    /// Whether `E` stands right before, as a word of its own: then a backslash in a string is more than a letter.
    escapes: bool,
}

pub(super) fn pieces(sql: &str) -> Pieces<'_> {
    Pieces { rest: sql, escapes: false }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = self.rest;
        let first = rest.chars().next()?;
        let (make, length): (fn(&'a str) -> Piece<'a>, usize) = match first {
            '\'' => (Piece::Opaque, quoted(rest, '\'', self.escapes)),
            '"' => (Piece::Quoted, quoted(rest, '"', false)),
            '-' if rest.starts_with("--") => (Piece::Opaque, rest.find(['\n', '\r']).unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (Piece::Opaque, comment(rest)),
            '$' => dollar(rest),
            ':' if rest.starts_with("::") => (Piece::Mark, 2),
            ':' => match name(&rest[1..]) {
                0 => (Piece::Mark, 1),
                length => (|piece| Piece::Parameter(&piece[1..]), length + 1),
            },
            c if is_word(c) => (Piece::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len())),
            // What the server takes for white space; other such characters are letters to it.
            c if is_space(c) => (Piece::Space, rest.find(|c| !is_space(c)).unwrap_or(rest.len())),
            c => (Piece::Mark, c.len_utf8()),
        };
        let (piece, rest) = rest.split_at(length);
        self.rest = rest;
        self.escapes = piece.eq_ignore_ascii_case("e");
        Some(make(piece))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// Length of the name at the beginning of `text`; 0 where there is none.
fn name(text: &str) -> usize {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    if begins { end } else { 0 }
}

/// Length of the quoted piece that `text` begins with; a doubled quote is part of it.
fn quoted(text: &str, quote: char, escapes: bool) -> usize {
    let mut inside = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = inside.next() {
        if c == '\\' && escapes {
            inside.next();
        } else if c == quote && inside.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    text.len()
}

/// Length of the comment that `text` begins with; comments nest.
fn comment(text: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// `$tag$ … $tag$`, or only a dollar.
fn dollar<'a>(text: &'a str) -> (fn(&'a str) -> Piece<'a>, usize) {
    let only: (fn(&'a str) -> Piece<'a>, usize) = (Piece::Mark, 1);
    let Some(end) = text[1..].find('$') else { return only };
    let tag = &text[..end + 2];
    let word = &tag[1..tag.len() - 1];
    if word.starts_with(|c: char| c.is_ascii_digit()) || word.contains(|c| !is_word(c)) {
        return only;
    }
    (Piece::Opaque, text[tag.len()..].find(tag).map_or(text.len(), |at| tag.len() + at + tag.len()))
}
