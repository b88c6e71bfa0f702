//! Tests of named parameters for PostgreSQL.

use proptest::prelude::*;

use super::*;

fn numbered(sql: &str) -> (String, Vec<String>) {
    let Numbered { sql, names } = number(sql);
    (sql, names)
}

#[test]
fn a_name_keeps_its_number_wherever_it_stands() {
    assert_eq!(
        numbered("select * from t where a = :a and (b = :b or c = :a)"),
        (
            "select * from t where a = $1 and (b = $2 or c = $1)".to_owned(),
            vec!["a".to_owned(), "b".to_owned()]
        )
    );
}

#[test]
fn what_only_looks_like_a_name_stays() {
    for same in [
        "select ':a', 'it''s :a', \":a\", \"x\"\":a\" from t",
        "select 1::bigint, a::text",
        "select 1 -- :a\n, 2",
        "select /* :a /* :b */ :c */ 1",
        "select $$ :a $$, $tag$ :a $$ :b $tag$",
        "select E'it\\':a' , e'\\\\'",
        "select a[1:2], ' : ', : , '",
        "select ':a",
        "select /* :a",
        "select $x$ :a",
        "select цена$:1$",
    ] {
        assert_eq!(numbered(same), (same.to_owned(), Vec::new()));
    }
}

#[test]
fn a_string_ends_where_the_server_ends_it() {
    // Without the mark a backslash is a letter like any other, so the string ends before `:a`.
    assert_eq!(numbered("select 'x\\', :a").0, "select 'x\\', $1");
    assert_eq!(numbered("select name'x\\', :a").0, "select name'x\\', $1");
    assert_eq!(numbered("select $1a$ :a").0, "select $1a$ $1");
}

proptest! {
    #[test]
    fn any_text_is_taken_without_a_crash(sql in "[ -~\\n\u{430}\u{1F600}]{0,80}") {
        number(&sql);
    }

    #[test]
    fn pieces_are_numbered_each_by_its_kind(pieces in proptest::collection::vec(piece(), 0..12)) {
        let sql: Vec<_> = pieces.iter().map(|(sql, _)| sql.as_str()).collect();
        let mut names: Vec<String> = Vec::new();
        let wanted: Vec<_> = pieces.iter().map(|(sql, name)| match name {
            None => sql.clone(),
            Some(name) => {
                if !names.contains(name) {
                    names.push(name.clone());
                }
                format!("${}", names.iter().position(|known| known == name).unwrap() + 1)
            }
        }).collect();
        prop_assert_eq!(numbered(&sql.join(" ")), (wanted.join(" "), names));
    }
}

/// A piece of a statement, and the name where it is one.
fn piece() -> impl Strategy<Value = (String, Option<String>)> {
    prop_oneof![
        "[a-z_][a-z0-9_]{0,4}".prop_map(|name| (format!(":{name}"), Some(name))),
        "[a-z ,=<>()*+0-9]{0,6}".prop_map(|text| (text, None)),
        "[a-z:'\n]{0,6}".prop_map(|text| (format!("'{}'", text.replace('\'', "''")), None)),
        "[a-z:\"]{0,6}".prop_map(|text| (format!("\"{}\"", text.replace('"', "\"\"")), None)),
        "[a-z:']{0,6}".prop_map(|text| (format!("--{text}\n"), None)),
        "[a-z:']{0,6}".prop_map(|text| (format!("/*{text}*/"), None)),
        "[a-z:']{0,6}".prop_map(|text| (format!("$t${text}$t$"), None)),
        Just(("a::text".to_owned(), None)),
    ]
}
