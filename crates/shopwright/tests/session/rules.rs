//! The gates of rules and of critical notes.

use serde_json::json;
use testkit::Client;

use crate::setup::{is_row, store};

/// The code that the refusal of `repo_list` names.
fn code(client: &mut Client) -> String {
    let text = client.refused("repo_list", json!({})).unwrap();
    assert!(is_row(&text, "rules_required"), "{text}");
    let (_, after) = text.split_once("and code `").unwrap();
    let code = after.split('`').next().unwrap().to_owned();
    assert!(code.len() == 6 && code.chars().all(|letter| letter.is_ascii_hexdigit()), "{code}");
    code
}

#[test]
fn a_code_works_in_its_own_session_only() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let (mut one, mut other) = (trying.connected().unwrap(), trying.connected().unwrap());
    let (code_one, code_other) = (code(&mut one), code(&mut other));
    assert_ne!(code_one, code_other);
    for wrong in [code_other.as_str(), "000000", "", "zzzzzz"] {
        let text = one.refused("session_rules_accept", json!({"tool": "repo_list", "code": wrong})).unwrap();
        assert!(is_row(&text, "rules_required"), "{wrong}: {text}");
        assert!(text.contains(&code_one), "the right code is told again");
    }
    one.done("session_rules_accept", json!({"tool": "repo_list", "code": code_one})).unwrap();
    one.done("repo_list", json!({})).unwrap();
    other.refused("repo_list", json!({})).unwrap();
}

#[test]
fn a_new_session_asks_for_the_rules_again_with_another_code() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    let first = code(&mut client);
    client.done("session_rules_accept", json!({"tool": "repo_list", "code": first})).unwrap();
    client.done("repo_list", json!({})).unwrap();
    let folder = client.done("session_connect", json!({"topic": "test"})).unwrap()["folder"].clone();
    std::fs::write(std::path::Path::new(folder.as_str().unwrap()).join("mine.txt"), "kept").unwrap();
    let again = client.connect("test").unwrap();
    assert_eq!(again["folder"], folder);
    assert!(std::path::Path::new(folder.as_str().unwrap()).join("mine.txt").exists());
    let text = client.refused("session_rules_accept", json!({"tool": "repo_list", "code": first})).unwrap();
    assert!(is_row(&text, "rules_required"), "{text}");
}

#[test]
fn an_edited_text_changes_the_code_at_once() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    let built_in = code(&mut client);
    let folder = store.home().join("rules");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("repo.md"), "Rules of {STORE_DIR} for {AGENT}.\n").unwrap();
    let text =
        client.refused("session_rules_accept", json!({"tool": "repo_list", "code": built_in})).unwrap();
    assert!(is_row(&text, "rules_required"), "{text}");
    assert!(text.contains("Rules of /"), "the text of the home replaces the built-in one: {text}");
    assert!(!text.contains("{AGENT}") && !text.contains("{STORE_DIR}"), "marks are filled in: {text}");
    let edited = code(&mut client);
    assert_ne!(edited, built_in);
    client.done("session_rules_accept", json!({"tool": "repo_list", "code": edited})).unwrap();
    client.done("repo_list", json!({})).unwrap();
}

#[test]
fn rules_are_accepted_once_for_their_whole_family() {
    let store = store();
    store.store_command("grant", &["--login", "irina", "AGENT_ENGINE_DB_UNLOCKS"]).unwrap();
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    let text = client.refused("engine_db_locks", json!({})).unwrap();
    assert!(is_row(&text, "rules_required"), "{text}");
    client.accept_rules("engine_db_locks", json!({})).unwrap();
    client.done("engine_db_locks", json!({})).unwrap();
    client.done("engine_db_unlocks", json!({})).unwrap();
}

#[test]
fn rules_are_found_by_name_even_before_there_is_the_tool() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    let accept = |client: &mut Client, tool: &str| {
        client.refused("session_rules_accept", json!({"tool": tool, "code": "000000"})).unwrap()
    };
    assert!(is_row(&accept(&mut client, "engine_db_execute"), "rules_required"));
    for tool in ["nothing", "../../rules/engine", "", "ENGINE"] {
        assert!(is_row(&accept(&mut client, tool), "no_rules"), "{tool}");
    }
}

#[test]
fn until_critical_notes_are_read_only_reading_them_works() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.client().unwrap();
    client.done("session_connect", json!({"topic": "notes"})).unwrap();
    for (tool, arguments) in [
        ("memory_save", json!({"name": "x"})),
        ("memory_remove", json!({"id": 1})),
        ("repo_list", json!({})),
        ("engine_db_locks", json!({})),
    ] {
        let text = client.refused(tool, arguments).unwrap();
        assert!(is_row(&text, "notes_unread"), "{tool}: {text}");
    }
    client.done("session_init", json!({})).unwrap();
    client.done("session_clear", json!({})).unwrap();
    let rows = client.done("memory_list", json!({})).unwrap()["notes"]["rows"].clone();
    let critical: Vec<_> = rows.as_array().unwrap().iter().filter(|row| row[2] == "kCritical").collect();
    assert!(critical.len() >= 2, "the sample has critical notes of two levels");
    // One of them is not enough.
    client.done("memory_load", json!({"id": critical[0][0]})).unwrap();
    let text = client.refused("memory_save", json!({"name": "x"})).unwrap();
    assert!(is_row(&text, "notes_unread") && text.contains("1 unread"), "{text}");
    client.read_critical_notes().unwrap();
    client.done("memory_save", json!({"name": "x"})).unwrap();
}

#[test]
fn a_critical_note_of_somebody_else_does_not_lock_a_running_session() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    store
        .sql(
            "insert into notes (level, kind_key, name, edit_time)
             values ('all', 'kCritical', 'Late', '2026-11-30T10:00:00Z')",
        )
        .unwrap();
    client.done("memory_save", json!({"name": "Still free"})).unwrap();
    // The next session has to read it.
    let data = client.done("session_connect", json!({"topic": "next"})).unwrap();
    assert_eq!(data["memory"]["critical"], json!(3));
    let text = client.refused("memory_save", json!({"name": "x"})).unwrap();
    assert!(is_row(&text, "notes_unread") && text.contains("3 unread"), "{text}");
}
