//! What `session_connect` tells, for people of every sort.

use serde_json::{Value, json};
use testkit::{Client, TestStore, Trying};

use crate::setup::{is_row, store};

/// Signs in and gives the data block.
fn data(trying: &Trying) -> Value {
    trying.client().unwrap().done("session_connect", json!({"topic": "who"})).unwrap()
}

fn signed_in(store: &TestStore<'_>, login: &str) -> Value {
    data(&store.start(login).unwrap())
}

#[test]
fn every_field_is_there_in_the_order_of_the_seed() {
    let store = store();
    let data = signed_in(&store, "irina");
    let fields: Vec<&String> = data.as_object().unwrap().keys().collect();
    let wanted = [
        "store", "user", "group", "princ", "event", "demo", "folder", "cache", "build", "memory", "tools",
        "tasks", "granted",
    ];
    assert_eq!(fields, wanted);
    let keys = |field: &str| data[field].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys("store"), ["name", "url", "folder", "pinned"]);
    assert_eq!(keys("user"), ["id", "login", "name", "options", "from"]);
    assert_eq!(keys("group"), ["id", "skey", "name", "options"]);
    assert_eq!(keys("cache"), ["topics", "size"]);
    assert_eq!(keys("memory"), ["notes", "critical"]);
    assert_eq!(keys("tasks"), ["waiting", "given"]);
    assert_eq!(data["princ"], Value::Null);
    assert_eq!(data["event"], Value::Null);
    assert_eq!(data["demo"], json!(false));
    assert_eq!(data["build"], json!(wire::BUILD));
    assert!(data["memory"]["critical"].is_u64() && data["tools"].is_u64());
}

#[test]
fn options_come_by_key_by_name_and_as_text() {
    let store = store();
    let data = signed_in(&store, "irina");
    // LANG is a list value with a key, SHIFT one without, SIGNATURE free text; Locker has no key, PHONE is empty.
    let wanted = json!({"LANG": "ru", "SHIFT": "Evening", "SIGNATURE": "Irina, ext. 12"});
    assert_eq!(data["user"]["options"], wanted);
    assert_eq!(data["group"]["options"], json!({"REGION": "baltic", "DISCOUNT_LIMIT": "15"}));
    store.sql("delete from user_options").unwrap();
    assert_eq!(signed_in(&store, "irina")["user"]["options"], json!({}));
}

#[test]
fn a_person_without_a_group_has_none() {
    let store = store();
    store.sql("update users set main_group = null where login = 'irina'").unwrap();
    store.sql("delete from user_groups").unwrap();
    let data = signed_in(&store, "irina");
    assert_eq!(data["group"], Value::Null);
    assert_eq!(data["memory"], Value::Null, "the rights were the group's");
    assert!(data["granted"].as_array().unwrap().contains(&json!("engine_db_locks")), "{}", data["granted"]);
}

#[test]
fn a_group_without_a_key_has_null_there() {
    let store = store();
    store
        .sql("update users set main_group = (select id from groups where skey is null) where login = 'irina'")
        .unwrap();
    let data = signed_in(&store, "irina");
    assert_eq!(data["group"]["skey"], Value::Null);
    assert_eq!(data["group"]["name"], "Evening shift");
}

#[test]
fn without_a_right_the_field_is_null() {
    let store = store();
    let data = signed_in(&store, "oleg");
    for field in ["memory", "tools", "tasks"] {
        assert_eq!(data[field], Value::Null, "{field}");
    }
    let session = ["session_init", "session_connect", "session_rules_accept", "session_clear"];
    let shop = ["shop_agent", "shop_module", "shop_page"];
    assert_eq!(data["granted"], json!([&session[..], &shop[..]].concat()));
    for (command, field) in
        [("AGENT_MEMORY_LIST", "memory"), ("AGENT_TOOL_LIST", "tools"), ("SCHEDULER", "tasks")]
    {
        store.store_command("revoke", &["--group", "MANAGER", command]).unwrap();
        let data = signed_in(&store, "irina");
        assert_eq!(data[field], Value::Null, "{command}");
        store.store_command("grant", &["--group", "MANAGER", command]).unwrap();
        assert_ne!(signed_in(&store, "irina")[field], Value::Null, "{command}");
    }
}

#[test]
fn rights_are_the_sum_over_the_person_and_all_groups() {
    let store = store();
    store
        .sql(
            "insert into grants (operation_id, group_id) select o.id, g.id from operations o, groups g
        where o.command = 'AGENT_ENGINE_DB_UNLOCKS' and g.skey is null",
        )
        .unwrap();
    let data = signed_in(&store, "irina");
    let granted = data["granted"].as_array().unwrap();
    for tool in ["memory_list", "engine_db_locks", "engine_db_unlocks"] {
        assert!(granted.contains(&json!(tool)), "{tool}: main group, own grant, additional group");
    }
}

#[test]
fn a_blocked_person_gets_the_bare_refusal() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    store.store_command("block", &["--login", "irina"]).unwrap();
    let text = client.refused("memory_list", json!({})).unwrap();
    assert!(is_row(&text, "access_denied_bare"), "{text}");
    assert_eq!(text.lines().next(), Some("ACCESS_DENIED"));
    let text = client.refused("session_connect", json!({"topic": "again"})).unwrap();
    assert!(is_row(&text, "access_denied_bare"), "{text}");
    let text = client.refused("memory_list", json!({})).unwrap();
    assert!(is_row(&text, "not_connected"), "{text}");
    store.store_command("unblock", &["--login", "irina"]).unwrap();
    client.connect("again").unwrap();
}

#[test]
fn the_saved_password_is_the_second_source() {
    let store = store();
    let (_engine, mut desk) = store.apart("irina", true).unwrap();
    let mut client = Client::open(&mut store.mcp_command(), "2025-11-25").unwrap();
    let data = client.done("session_connect", json!({"topic": "from"})).unwrap();
    assert_eq!(data["user"]["from"], "program");
    desk.running.kill();
    let answer = client.call("session_connect", json!({"topic": "from"})).unwrap();
    assert_eq!(answer.data()["user"]["from"], "settings", "{}", answer.text());
    assert_eq!(answer.data()["user"]["login"], "irina");
    // The agent is told beforehand.
    let around = client.call("session_init", json!({})).unwrap();
    assert_eq!(around.data()["program"]["state"], "closed");
    assert!(around.texts()[1].contains("saved password"), "{:?}", around.texts());
    for entry in walk(&store.home()) {
        let text = std::fs::read(&entry).unwrap_or_default();
        let password = store.people().unwrap()["irina"].clone();
        let plain = text.windows(password.len()).any(|part| part == password.as_bytes());
        assert!(!plain, "{} holds the password in the open", entry.display());
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

#[test]
fn an_event_names_its_author_and_its_principal() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let connect = |event: &str| {
        let mut command = trying.mcp_command();
        command.env("SHOPWRIGHT_EVENT", event);
        let mut client = Client::open(&mut command, "2025-11-25").unwrap();
        client.call("session_connect", json!({"topic": "ignored"})).unwrap()
    };
    let from_store = connect("1").data();
    assert_eq!(from_store["event"]["user_id"], Value::Null);
    assert_eq!(from_store["event"]["key"], "kOrderNew");
    assert_eq!(from_store["event"]["data"]["order"], json!(1057));
    assert_eq!(from_store["princ"], Value::Null);
    let with_principal = connect("2").data();
    assert_eq!(with_principal["event"]["id"], json!(2));
    assert_eq!(with_principal["princ"]["login"], "admin");
    assert_eq!(with_principal["princ"]["group"]["skey"], "ADMIN");
    let folder = with_principal["folder"].as_str().unwrap();
    assert!(folder.contains("/mcp/testkit/event/") && folder.ends_with("/2"), "{folder}");
    store.store_command("block", &["--login", "admin"]).unwrap();
    assert_eq!(connect("2").data()["princ"], Value::Null, "a blocked principal is none");
}

#[test]
fn names_come_in_the_language_of_the_store() {
    let store = store();
    store
        .config(|config| {
            config.insert("language".to_owned(), json!("ru"));
        })
        .unwrap();
    let data = signed_in(&store, "irina");
    assert_eq!(data["group"]["name"], "Менеджеры");
    let states: Vec<&str> =
        data["tasks"]["waiting"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(states.contains(&"Новая") || states.iter().all(|name| !name.is_ascii()), "{states:?}");
    let trying = store.start("oleg").unwrap();
    let mut client = trying.client().unwrap();
    client.done("session_connect", json!({"topic": "ru"})).unwrap();
    let text = client.refused("memory_list", json!({})).unwrap();
    assert!(text.starts_with("ACCESS_DENIED: this user may not run AGENT_MEMORY_LIST."), "{text}");
    assert!(text.contains("->") && text.contains("амят"), "the path is in Russian: {text}");
}

#[test]
fn the_cache_counts_every_conversation_of_this_application() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.client().unwrap();
    let first = client.done("session_connect", json!({"topic": "one"})).unwrap();
    std::fs::write(std::path::Path::new(first["folder"].as_str().unwrap()).join("a.bin"), vec![0; 1000])
        .unwrap();
    let second = client.done("session_connect", json!({"topic": "two"})).unwrap();
    assert_eq!(second["cache"], json!({"topics": 2, "size": 1000}));
    let mut other = Client::start(&mut trying.mcp_command()).unwrap();
    other.initialize("2025-11-25", "another-app").unwrap();
    let other = other.done("session_connect", json!({"topic": "one"})).unwrap();
    assert_eq!(other["cache"], json!({"topics": 1, "size": 0}), "another application has folders of its own");
}
