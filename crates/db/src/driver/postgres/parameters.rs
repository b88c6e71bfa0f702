//! Turns `:name` into the `$1` that PostgreSQL takes.

use super::lex::{Piece, pieces};

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
    number_but(sql, |_| false)
}

/// Like [`number`], but writes `null` for the names that `is_nothing`: a place for nothing alone has no type.
pub(crate) fn number_but(sql: &str, is_nothing: impl Fn(&str) -> bool) -> Numbered {
    let mut numbered = Numbered { sql: String::with_capacity(sql.len()), names: Vec::new() };
    for piece in pieces(sql) {
        match piece {
            Piece::Parameter(name) if is_nothing(name) => numbered.sql.push_str("null"),
            Piece::Parameter(name) => push_number(&mut numbered, name),
            Piece::Word(text)
            | Piece::Quoted(text)
            | Piece::Opaque(text)
            | Piece::Space(text)
            | Piece::Mark(text) => numbered.sql.push_str(text),
        }
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

#[cfg(test)]
mod tests;
