//! Turns `:name` into the `$1` that PostgreSQL takes.

/// A statement in the server's form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    /// The statement.
    pub(crate) sql: String,
    /// Which name stands at which number, from `$1`.
    pub(crate) names: Vec<String>,
}

/// Numbers the names of a statement; strings, quoted names, comments and `::` stay as they are.
pub(crate) fn number(sql: &str) -> Numbered {
    let mut numbered = Numbered { sql: String::with_capacity(sql.len()), names: Vec::new() };
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let escapes = first == '\'' && ends_with_escape_mark(&numbered.sql);
        let length = match first {
            '\'' => quoted(rest, '\'', escapes),
            '"' => quoted(rest, '"', false),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => comment(rest),
            '$' if !ends_with_word(&numbered.sql) => dollar_quoted(rest),
            ':' if rest.starts_with("::") => 2,
            ':' => match name(&rest[1..]) {
                "" => 1,
                name => {
                    push_number(&mut numbered, name);
                    rest = &rest[1 + name.len()..];
                    continue;
                }
            },
            other => other.len_utf8(),
        };
        numbered.sql.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    numbered
}

fn push_number(numbered: &mut Numbered, name: &str) {
    let at = numbered.names.iter().position(|known| known == name).unwrap_or_else(|| {
        numbered.names.push(name.to_owned());
        numbered.names.len() - 1
    });
    numbered.sql.push('$');
    numbered.sql.push_str(&(at + 1).to_string());
}

/// The name at the beginning of `text`; empty where there is none.
fn name(text: &str) -> &str {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    if begins { &text[..end] } else { "" }
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

/// Length of the `$tag$ … $tag$` that `text` begins with; 1 where it is only a dollar.
fn dollar_quoted(text: &str) -> usize {
    let Some(end) = text[1..].find('$') else { return 1 };
    let tag = &text[..end + 2];
    let word = &tag[1..tag.len() - 1];
    if word.starts_with(|c: char| c.is_ascii_digit())
        || word.contains(|c: char| !c.is_alphanumeric() && c != '_')
    {
        return 1;
    }
    text[tag.len()..].find(tag).map_or(text.len(), |at| tag.len() + at + tag.len())
}

fn ends_with_word(text: &str) -> bool {
    text.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
}

/// Whether `E` stands right before a string, as a word of its own.
fn ends_with_escape_mark(text: &str) -> bool {
    text.strip_suffix(['e', 'E']).is_some_and(|before| !ends_with_word(before))
}

#[cfg(test)]
mod tests;
