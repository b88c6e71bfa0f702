//! Tests of conversation folders.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::{application, is_conversation, is_topic, list, open, remove};

fn store() -> TempDir {
    TempDir::new().unwrap()
}

fn put(store: &Path, path: &str, text: &str) {
    let path = store.join("mcp/claude").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn topics(store: &Path) -> Vec<(String, u64)> {
    list(store, "claude").into_iter().map(|topic| (topic.topic, topic.size)).collect()
}

#[test]
fn a_topic_is_one_word() {
    for topic in ["a", "prices-sept", "A_1", &"x".repeat(64)] {
        assert!(is_topic(topic), "{topic}");
    }
    for topic in ["", " ", "a b", "..", ".", "a/b", "a\\b", "тема", "a.b", "a\0", &"x".repeat(65)] {
        assert!(!is_topic(topic), "{topic}");
    }
    assert!(is_conversation("event/2026-11-30/17"));
    for topic in [
        "event/2026-11-30",
        "event/2026-11-30/",
        "event/2026-13-30/17",
        "event/2026-11-30/17/x",
        "event/../x",
        "x/2026-11-30/17",
    ] {
        assert!(!is_conversation(topic), "{topic}");
    }
}

#[test]
fn the_name_of_an_application_becomes_one_folder() {
    for (name, folder) in [
        ("claude-code", "claude-code"),
        ("Visual Studio Code", "Visual_Studio_Code"),
        ("../../etc", "______etc"),
        ("", "agent"),
        ("..", "agent"),
        ("Клод", "agent"),
        ("con", "con_"),
        ("a\0b\n", "a_b"),
    ] {
        assert_eq!(application(name), folder, "{name:?}");
    }
    assert_eq!(application(&"x".repeat(10_000)).len(), 64);
}

#[test]
fn a_folder_is_made_and_found_again() {
    let store = store();
    let folder = open(store.path(), "claude", "prices").unwrap();
    assert_eq!(folder, store.path().join("mcp/claude/prices"));
    fs::write(folder.join("x"), "12345").unwrap();
    assert_eq!(open(store.path(), "claude", "prices").unwrap(), folder);
    assert_eq!(topics(store.path()), [("prices".to_owned(), 5)]);
    assert!(open(store.path(), "claude", "event/2026-11-30/17").unwrap().is_dir());
}

#[test]
fn no_folder_is_made_through_a_link() {
    let (store, elsewhere) = (store(), store());
    symlink(elsewhere.path(), store.path().join("mcp")).unwrap();
    let refusal = open(store.path(), "claude", "prices").unwrap_err();
    assert_eq!(refusal.name(), "folder_not_made");
    assert!(refusal.text().contains("it is a link"));
    assert!(fs::read_dir(elsewhere.path()).unwrap().next().is_none());
    fs::remove_file(store.path().join("mcp")).unwrap();
    fs::create_dir_all(store.path().join("mcp/claude")).unwrap();
    symlink(elsewhere.path(), store.path().join("mcp/claude/prices")).unwrap();
    assert!(open(store.path(), "claude", "prices").is_err());
    fs::write(store.path().join("mcp/claude/file"), "").unwrap();
    assert!(open(store.path(), "claude", "file").unwrap_err().text().contains("not a folder"));
}

#[test]
fn links_are_neither_measured_nor_followed() {
    let (store, elsewhere) = (store(), store());
    fs::write(elsewhere.path().join("treasure"), "x".repeat(1000)).unwrap();
    put(store.path(), "prices/deep/deeper/x", "12345");
    symlink(elsewhere.path(), store.path().join("mcp/claude/prices/deep/link")).unwrap();
    symlink(elsewhere.path().join("treasure"), store.path().join("mcp/claude/prices/file-link")).unwrap();
    symlink(elsewhere.path(), store.path().join("mcp/claude/linked")).unwrap();
    assert_eq!(topics(store.path()), [("linked".to_owned(), 0), ("prices".to_owned(), 5)]);
    assert_eq!(remove(store.path(), "claude", "prices"), Ok(true));
    assert_eq!(remove(store.path(), "claude", "linked"), Ok(true));
    assert!(topics(store.path()).is_empty());
    assert!(elsewhere.path().join("treasure").exists());
}

#[test]
fn nothing_is_removed_where_the_folder_of_topics_is_a_link() {
    let (store, elsewhere) = (store(), store());
    put(elsewhere.path(), "prices/x", "12345");
    fs::create_dir(store.path().join("mcp")).unwrap();
    symlink(elsewhere.path().join("mcp/claude"), store.path().join("mcp/claude")).unwrap();
    assert!(topics(store.path()).is_empty());
    let (path, why) = remove(store.path(), "claude", "prices").unwrap_err();
    assert_eq!(path, store.path().join("mcp/claude"));
    assert!(why.contains("link"));
    assert!(elsewhere.path().join("mcp/claude/prices/x").exists());
}

#[test]
fn a_link_among_the_days_of_events_is_not_followed() {
    let (store, elsewhere) = (store(), store());
    fs::create_dir(elsewhere.path().join("17")).unwrap();
    put(store.path(), "event/2026-11-30/17/x", "123");
    symlink(elsewhere.path(), store.path().join("mcp/claude/event/2026-12-01")).unwrap();
    assert_eq!(topics(store.path()), [("event/2026-11-30/17".to_owned(), 3)]);
    assert!(remove(store.path(), "claude", "event/2026-12-01/17").is_err());
    assert!(elsewhere.path().join("17").exists());
}

#[test]
fn sessions_of_events_are_conversations_of_their_own() {
    let store = store();
    put(store.path(), "event/2026-11-30/17/x", "123");
    put(store.path(), "event/2026-11-30/18/x", "1");
    assert_eq!(
        topics(store.path()),
        [("event/2026-11-30/17".to_owned(), 3), ("event/2026-11-30/18".to_owned(), 1)]
    );
    assert_eq!(remove(store.path(), "claude", "event/2026-11-30/17"), Ok(true));
    assert_eq!(remove(store.path(), "claude", "event/2026-11-30/17"), Ok(false));
    // Somebody's topic of that word leaves the events alone.
    put(store.path(), "event/mine", "12");
    assert!(topics(store.path()).iter().any(|(topic, _)| topic == "event"));
    assert_eq!(remove(store.path(), "claude", "event"), Ok(true));
    assert_eq!(topics(store.path()), [("event/2026-11-30/18".to_owned(), 1)]);
}

#[test]
fn what_is_not_there_or_no_folder_is_missing() {
    let store = store();
    assert_eq!(remove(store.path(), "claude", "prices"), Ok(false));
    assert!(topics(store.path()).is_empty());
    put(store.path(), "file", "x");
    assert_eq!(remove(store.path(), "claude", "file"), Ok(false));
    assert!(topics(store.path()).is_empty());
}

#[test]
fn a_deep_folder_is_measured_and_removed() {
    let store = store();
    let mut path = store.path().join("mcp/claude/deep");
    fs::create_dir_all(&path).unwrap();
    for _ in 0..800 {
        path.push("d");
        fs::create_dir(&path).unwrap();
    }
    assert_eq!(topics(store.path()), [("deep".to_owned(), 0)]);
    assert_eq!(remove(store.path(), "claude", "deep"), Ok(true));
    assert!(!store.path().join("mcp/claude/deep").exists());
}

#[test]
fn the_last_change_of_anything_inside_counts() {
    let store = store();
    put(store.path(), "prices/x", "1");
    let changed = list(store.path(), "claude")[0].changed.clone();
    let changed: jiff::Timestamp = changed.parse().unwrap();
    assert!((jiff::Timestamp::now().as_second() - changed.as_second()).abs() < 60);
}

proptest! {
    #[test]
    fn an_application_is_always_one_safe_name(name in any::<String>()) {
        let folder = application(&name);
        prop_assert!(!folder.is_empty() && folder.len() <= 65);
        prop_assert!(folder.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
    }

    #[test]
    fn a_conversation_never_leads_out_of_its_folder(topic in any::<String>()) {
        if is_conversation(&topic) {
            prop_assert!(!topic.contains("..") && !topic.starts_with('/') && !topic.contains('\\'));
        }
    }
}
