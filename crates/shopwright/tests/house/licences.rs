//! Licences of everything that is linked, against the list in `deny.toml`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::workspace::{metadata, root};

#[test]
fn every_dependency_has_an_allowed_licence() {
    let allowed = allowed();
    let mut wrong = Vec::new();
    for package in metadata()["packages"].as_array().unwrap() {
        let licence = package["license"].as_str().unwrap_or_default();
        if !fits(licence, &allowed) {
            wrong.push(format!("{} {}: `{licence}`", package["name"], package["version"]));
        }
    }
    assert!(wrong.is_empty(), "not in the list of deny.toml:\n{}", wrong.join("\n"));
}

/// The one list of licences: `cargo deny` reads it too.
fn allowed() -> BTreeSet<String> {
    let deny: Value = toml::from_str(&std::fs::read_to_string(root().join("deny.toml")).unwrap()).unwrap();
    let list = deny["licenses"]["allow"].as_array().unwrap();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether a licence expression can be met with allowed licences alone.
fn fits(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let met = any(&words, &mut at, allowed);
    met && at == words.len()
}

fn any(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all(words, at, allowed);
    }
    met
}

fn all(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if *word == "(" {
        let met = any(words, at, allowed);
        *at += 1;
        return met;
    }
    if words.get(*at) == Some(&"WITH") {
        let whole = format!("{word} WITH {}", words.get(*at + 1).unwrap_or(&""));
        *at += 2;
        return allowed.contains(&whole);
    }
    allowed.contains(*word)
}

#[test]
fn licence_expressions_are_read_right() {
    let allowed = ["MIT", "ISC"].map(str::to_owned).into();
    assert!(fits("MIT", &allowed));
    assert!(fits("GPL-3.0 OR MIT", &allowed));
    assert!(fits("(GPL-3.0 OR MIT) AND ISC", &allowed));
    assert!(fits("MIT/GPL-3.0", &allowed));
    assert!(!fits("MIT AND GPL-3.0", &allowed));
    assert!(!fits("MIT WITH odd-exception", &allowed));
    assert!(!fits("", &allowed));
}
