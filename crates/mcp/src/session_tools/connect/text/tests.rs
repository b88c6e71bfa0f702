//! Tests of the session's text.

use std::collections::BTreeMap;

use wire::{Closed, Person, Rights, SignedIn};

use super::{RULES, text};

fn signed_in() -> SignedIn {
    SignedIn {
        ticket: String::new(),
        licensed: false,
        language: "en".to_owned(),
        user: Person { id: 1, login: "irina".to_owned(), name: "Irina".to_owned(), options: BTreeMap::new() },
        group: None,
        princ: None,
        event: None,
        demo: false,
        memory: Some(wire::MemoryCount { notes: 0, critical: Vec::new() }),
        tools: Some(3),
        tasks: None,
        rights: Rights { components_path: "AI components -> Tools".to_owned(), ..Rights::default() },
    }
}

#[test]
fn an_ordinary_case_is_told_the_rules_and_nothing_else() {
    assert_eq!(text(&signed_in(), 0), RULES.trim());
    assert_eq!(text(&signed_in(), 1_000_000_000), RULES.trim());
}

#[test]
fn demo_mode_is_the_first_thing_said() {
    let said = text(&SignedIn { demo: true, ..signed_in() }, 0);
    assert!(said.starts_with("DEMO MODE"));
}

#[test]
fn what_is_closed_is_told_with_the_place_where_it_is_granted() {
    let closed = |command: &str, path: &str| Closed { command: command.to_owned(), path: path.to_owned() };
    let rights = Rights {
        closed: vec![
            closed("AGENT_MEMORY_LIST", "ИИ-помощник -> Память -> Получить список"),
            closed("AGENT_TOOL_LIST", "ИИ-помощник -> Инструменты -> Получить список"),
        ],
        ..Rights::default()
    };
    let said = text(&SignedIn { memory: None, tools: None, rights, ..signed_in() }, 0);
    assert!(said.contains("ИИ-помощник -> Память -> Получить список"));
    assert!(said.contains("ИИ-помощник -> Инструменты -> Получить список"));
    assert!(text(&SignedIn { tools: Some(0), ..signed_in() }, 0).contains("AI components -> Tools"));
}

#[test]
fn the_text_is_cheap_whatever_the_case() {
    let path = "AI Assistant -> A rather long folder -> Another rather long folder -> Get list";
    let closed = |command: &str| Closed { command: command.to_owned(), path: path.to_owned() };
    let rights =
        Rights { closed: vec![closed("AGENT_MEMORY_LIST"), closed("AGENT_TOOL_LIST")], ..Rights::default() };
    let worst = SignedIn { demo: true, memory: None, tools: None, rights, ..signed_in() };
    let said = text(&worst, 5_000_000_000);
    assert!(said.contains("5.0 GB"));
    // 900 tokens of four bytes.
    assert!(said.len() <= 3600, "{} bytes", said.len());
}
