//! Looks at an agent's statement before the server does.
//!
//! Nothing depends on it alone: the statement runs as a query inside a query,
//! under a login that can do nothing but read the views. This keeps out what
//! even such a login may do: call functions that have effects or take very
//! long, and look at the server's own tables.

use super::lex::{Piece, pieces};
use crate::agent_sql::answer::SelectError;
use crate::agent_sql::functions::is_allowed;

/// Words that stand before a bracket without being functions.
const BEFORE_BRACKETS: &[&str] = &[
    "all",
    "and",
    "any",
    "array",
    "as",
    "between",
    "bigint",
    "bit",
    "boolean",
    "by",
    "case",
    "char",
    "character",
    "decimal",
    "distinct",
    "else",
    "end",
    "except",
    "exists",
    "filter",
    "float",
    "from",
    "having",
    "ilike",
    "in",
    "int",
    "integer",
    "intersect",
    "interval",
    "is",
    "join",
    "lateral",
    "like",
    "limit",
    "materialized",
    "not",
    "numeric",
    "offset",
    "on",
    "or",
    "over",
    "partition",
    "real",
    "recursive",
    "row",
    "select",
    "similar",
    "smallint",
    "some",
    "text",
    "then",
    "time",
    "timestamp",
    "union",
    "using",
    "values",
    "varchar",
    "varying",
    "when",
    "where",
    "with",
    "within",
];

/// What is left of a statement to be asked of the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Guarded<'a> {
    /// The statement without a semicolon at its end.
    pub(super) sql: &'a str,
    /// Names before brackets that may be functions that are not allowed: only the server knows.
    pub(super) unknown: Vec<String>,
}

/// Refuses what can be seen to be refused, of a statement that reads.
pub(super) fn guard(sql: &str) -> Result<Guarded<'_>, SelectError> {
    guard_as(sql, &["select", "with", "values"])
}

/// Refuses what can be seen to be refused, of a statement that begins with one of these words.
pub(super) fn guard_as<'a>(sql: &'a str, first: &[&str]) -> Result<Guarded<'a>, SelectError> {
    let forbidden = |words: String| Err(SelectError::Forbidden(words));
    let mut unknown = Vec::new();
    let mut last: Option<String> = None;
    let (mut at, mut end, mut is_first, mut was_escape_mark) = (0, sql.len(), true, false);
    for piece in pieces(sql) {
        let begin = at;
        at += length(&piece);
        let is_after_escape_mark = std::mem::take(&mut was_escape_mark);
        match piece {
            Piece::Space(_) => continue,
            Piece::Opaque(text) if text.starts_with('-') || text.starts_with('/') => continue,
            _ if end < sql.len() => return forbidden("a second one follows".to_owned()),
            Piece::Opaque(_) | Piece::Quoted(_) if is_after_escape_mark => {
                return forbidden("a string or a name with escapes".to_owned());
            }
            Piece::Mark(";") => end = begin,
            Piece::Mark("(") => {
                let name =
                    last.take().filter(|name| !is_allowed(name) && !BEFORE_BRACKETS.contains(&name.as_str()));
                unknown.extend(name);
            }
            Piece::Mark("&") => was_escape_mark = last.take().is_some_and(|word| word == "u"),
            Piece::Word(_) | Piece::Quoted(_) => {
                let name = plain(&piece);
                if is_first && !first.contains(&name.as_str()) {
                    return forbidden("this one is of another kind".to_owned());
                }
                if name.starts_with("pg_") || name == "information_schema" {
                    return forbidden(format!("`{name}` is the server's own"));
                }
                was_escape_mark = name == "e";
                last = Some(name);
                is_first = false;
                continue;
            }
            Piece::Opaque(_) | Piece::Parameter(_) | Piece::Mark(_) => {}
        }
        is_first = is_first && piece == Piece::Mark("(");
        last = None;
    }
    Ok(Guarded { sql: &sql[..end], unknown })
}

fn length(piece: &Piece<'_>) -> usize {
    match piece {
        Piece::Parameter(name) => name.len() + 1,
        Piece::Word(text)
        | Piece::Quoted(text)
        | Piece::Opaque(text)
        | Piece::Space(text)
        | Piece::Mark(text) => text.len(),
    }
}

/// A name as the server knows it.
pub(super) fn plain(piece: &Piece<'_>) -> String {
    match piece {
        Piece::Quoted(text) => text.trim_matches('"').replace("\"\"", "\""),
        Piece::Word(text) => text.to_lowercase(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(sql: &str) -> Vec<String> {
        guard(sql).unwrap().unknown
    }

    #[test]
    fn what_computes_passes_and_what_may_be_a_function_is_asked_for() {
        assert!(
            unknown("select count(*), max (id) from users where id in (1, 2) and (blocked or not (id = 1))")
                .is_empty()
        );
        assert!(unknown("(values (1), (2))").is_empty());
        assert!(unknown("with recursive t as (select 1) select cast(a as numeric(10, 2)) from t").is_empty());
        assert_eq!(unknown("select lo_create (1), \"Odd\"(2), x./* : */y(3)"), ["lo_create", "Odd", "y"]);
        assert_eq!(unknown("with t(n) as (select 1) select n from t"), ["t"]);
        assert!(unknown("select ':a lo_create(', $$lo_create($$ -- lo_create(\n").is_empty());
    }

    #[test]
    fn a_semicolon_may_only_stand_at_the_end() {
        assert_eq!(guard("select 1 ; -- done\n").unwrap().sql, "select 1 ");
        assert_eq!(guard("select ';'").unwrap().sql, "select ';'");
        for sql in ["select 1; select 2", "select 1;;", "select 1; :a", "; select 1"] {
            assert!(matches!(guard(sql), Err(SelectError::Forbidden(_))), "{sql}");
        }
    }

    #[test]
    fn other_kinds_and_hidden_names_are_refused() {
        for sql in [
            "delete from users",
            "/* select */ commit",
            "explain select 1",
            "select * from pg_roles",
            "select * from \"pg_roles\"",
            "select * from Pg_Catalog.x",
            "select * from information_schema.tables",
            "select E'a'",
            "select e'a'\n'\\', pg_sleep(1), '",
            "select * from U&\"p\\0067_roles\"",
            "select u&'a'",
        ] {
            assert!(matches!(guard(sql), Err(SelectError::Forbidden(_))), "{sql}");
        }
    }

    #[test]
    fn a_bare_and_is_no_mark_of_escapes() {
        assert!(guard("select u & 'a'::bit(1) from (select 1 as u) t").is_ok());
        assert!(guard("select 'e' || 'a', e as \"e\" from t").is_ok());
    }
}
