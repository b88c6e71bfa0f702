//! Sessions: opening, the gate, rules, critical notes, folders.

use std::fs;
use std::path::Path;

use home::{DeskFile, ShopIni, StoreEntry};
use mcp::{Options, StorePin};
use serde_json::{Value, json};
use wire::catalogue;

use crate::engine::{Engine, Reply, no_notes, signed_in};
use crate::host::{Host, Place};

const VERSION: &str = "2025-11-25";

async fn opened(change: impl Fn(&mut Value) + Send + Sync + 'static) -> (Engine, Place, Host) {
    let engine = Engine::start().await;
    engine.answers_all(move |request| {
        if request["command"] == "AGENT_SESSION_CONNECT" {
            let mut answer = signed_in();
            change(&mut answer);
            return Reply::done(answer);
        }
        Reply::done(no_notes())
    });
    let place = Place::new(&engine.url);
    let host = Host::open(place.options(), VERSION, "claude-code").await;
    (engine, place, host)
}

#[tokio::test]
async fn every_field_of_the_data_is_there() {
    let (engine, place, mut host) = opened(|_| {}).await;
    let called = host.connect("prices-sept").await;
    assert_eq!(called.texts().len(), 2);
    let store = place.store().display().to_string();
    assert_eq!(
        called.data(),
        json!({
            "store": {"name": "shop.example.com", "url": engine.url, "folder": store, "pinned": false},
            "user": {"id": 5, "login": "irina", "name": "Irina", "options": {"LANG": "ru"}, "from": "settings"},
            "group": {"id": 2, "skey": "MANAGER", "name": "Managers", "options": {}},
            "princ": null,
            "event": null,
            "demo": false,
            "folder": place.store().join("mcp/claude-code/prices-sept").display().to_string(),
            "cache": {"topics": 1, "size": 0},
            "build": wire::BUILD,
            "memory": {"notes": 3, "critical": 0},
            "tools": 16,
            "tasks": {"waiting": [{"state": "kNew", "name": "New", "count": 2}], "given": []},
            "granted": [
                "session_init", "session_connect", "session_rules_accept", "session_clear",
                "memory_list", "memory_load", "memory_remove", "memory_save", "repo_list", "shop_agent", "shop_module",
                "shop_page", "engine_db_locks"
            ]
        })
    );
    let request = &engine.seen("AGENT_SESSION_CONNECT")[0];
    assert_eq!(request["params"], json!({"login": "irina", "password": "secret"}));
    assert_eq!(request["origin"], json!({"application": "claude-code", "topic": "prices-sept"}));
    assert!(request.get("session").is_none());
}

#[tokio::test]
async fn what_is_closed_to_the_person_is_null() {
    let (_engine, _place, mut host) = opened(|answer| {
        for field in ["group", "memory", "tools", "tasks"] {
            answer[field] = Value::Null;
        }
        answer["rights"]["granted"] = json!([]);
        answer["rights"]["closed"] =
            json!([{"command": "AGENT_MEMORY_LIST", "path": "ИИ -> Память -> Список"}]);
    })
    .await;
    let called = host.connect("t").await;
    let data = called.data();
    for field in ["group", "princ", "event", "memory", "tools", "tasks"] {
        assert!(data[field].is_null() && data.as_object().unwrap().contains_key(field), "{field}");
    }
    assert!(called.text().contains("ИИ -> Память -> Список"));
    let refused = host.call("memory_list", json!({})).await;
    assert!(refused.text().starts_with(
        "ACCESS_DENIED: this user may not run AGENT_MEMORY_LIST. The right is at: ИИ -> Память -> Список."
    ));
}

#[tokio::test]
async fn a_bad_topic_is_refused_and_leaves_the_session_open() {
    let (engine, _place, mut host) = opened(|_| {}).await;
    host.connect("t").await;
    let big = "x".repeat(10 * 1024 * 1024);
    for (arguments, beginning) in [
        (json!({}), "topic is required"),
        (json!({"topic": null}), "topic is required"),
        (json!({"topic": ""}), "topic is required"),
        (json!({"topic": ".."}), "topic [..] is not one word"),
        (json!({"topic": "a/b"}), "topic [a/b] is not one word"),
        (json!({"topic": "A B"}), "topic [A B] is not one word"),
        (json!({"topic": "цены"}), "topic [цены] is not one word"),
        (json!({"topic": 5}), "topic [5] is not one word"),
        (json!({"topic": ["a"]}), "topic [a list] is not one word"),
        (
            json!({"topic": "x".repeat(65)}),
            "topic [xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…] is not one word",
        ),
        (json!({"topic": big}), "topic [xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…] is not one word"),
        (json!({"topic": "t", "login": "x"}), "Unknown parameter `login`. Known: `topic`."),
        (json!("t"), "Arguments must be an object"),
        (json!([1]), "Arguments must be an object of named parameters, got a list of 1."),
    ] {
        let called = host.call("session_connect", arguments).await;
        assert!(called.refused() && called.text().starts_with(beginning), "{beginning}: {}", called.text());
        assert!(!host.call("memory_list", json!({})).await.refused());
    }
    assert_eq!(engine.seen("AGENT_SESSION_CONNECT").len(), 1);
    for topic in ["a", &"x".repeat(64)] {
        host.connect(topic).await;
    }
    assert!(!host.call("session_connect", json!("{\"topic\": \"t\"}")).await.refused());
}

#[tokio::test]
async fn a_failed_sign_in_leaves_no_session() {
    let (engine, place, mut host) = opened(|_| {}).await;
    host.connect("t").await;
    engine.answers_all(|_| Reply::refused(&catalogue::wrong_password()));
    let called = host.call("session_connect", json!({"topic": "t"})).await;
    assert!(called.text().starts_with("WRONG_PASSWORD\n"), "{}", called.text());
    let not_connected = "Not connected. Call \"session_connect\" first.";
    for tool in ["memory_list", "session_clear", "session_rules_accept"] {
        assert_eq!(host.call(tool, json!({})).await.text(), not_connected, "{tool}");
    }
    assert!(place.store().join("mcp/claude-code/t").is_dir());
}

#[tokio::test]
async fn the_gate_says_the_first_of_several_causes() {
    let (_engine, place, mut host) = opened(|answer| {
        answer["memory"]["critical"] = json!([7, 9]);
        answer["rights"]["granted"] = json!(["AGENT_MEMORY_LOAD", "AGENT_MEMORY_LIST", "AGENT_REPO_LIST"]);
    })
    .await;
    let odd = json!({"x": 1});
    for (tool, beginning) in [("no_such", "Unknown tool: `no_such`."), ("repo_list", "Not connected.")] {
        assert!(host.call(tool, odd.clone()).await.text().starts_with(beginning), "{tool}");
    }
    host.connect("t").await;
    assert!(
        host.call("memory_save", odd.clone())
            .await
            .text()
            .starts_with("ACCESS_DENIED: this user may not run AGENT_MEMORY_SAVE.")
    );
    let unread = host.call("repo_list", odd.clone()).await;
    assert!(
        unread.text().starts_with("The store asks you to read its kCritical notes: 2 unread (ids 7, 9)."),
        "{}",
        unread.text()
    );
    assert!(host.call("memory_list", odd.clone()).await.text().starts_with("Unknown parameter `x`."));
    // The session's own tools work all the while.
    assert!(!host.call("session_clear", json!({})).await.refused());
    assert!(
        host.call("session_rules_accept", json!({"tool": "memory_list", "code": "0"}))
            .await
            .text()
            .starts_with("NO_RULES: memory_list has no rules")
    );
    place.home.save_stores(&home::StoreList::default()).unwrap();
    assert!(host.call("session_init", odd).await.text().starts_with("Unknown parameter `x`."));
}

#[tokio::test]
async fn critical_notes_are_read_one_by_one() {
    let engine = Engine::start().await;
    engine.answers_all(|request| match request["command"].as_str() {
        Some("AGENT_SESSION_CONNECT") => {
            let mut answer = signed_in();
            answer["memory"]["critical"] = json!([7, 9]);
            Reply::done(answer)
        }
        Some("AGENT_MEMORY_LOAD") => {
            let note = |id: &Value| json!({
                "id": id, "name": "n", "kind_key": "kCritical", "level": "all", "group": null, "category": "",
                "info": "", "size": 3, "edit_time": "2026-11-30T10:00:00Z", "body": "<p>b</p>"
            });
            let ids = request["params"]["ids"].as_array().cloned().unwrap_or_default();
            let (found, missed): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| *id == json!(7));
            Reply::done(json!({"notes": found.iter().map(note).collect::<Vec<_>>(), "missed": missed}))
        }
        _ => Reply::done(no_notes()),
    });
    let place = Place::new(&engine.url);
    let mut host = Host::open(place.options(), VERSION, "x").await;
    host.connect("t").await;
    let loaded = host.call("memory_load", json!({"ids": [7]})).await;
    assert!(!loaded.refused(), "{}", loaded.text());
    assert!(host.call("repo_list", json!({})).await.text().contains("1 unread (ids 9)"));
    // A note that is gone asks for nothing any more.
    assert!(!host.call("memory_load", json!({"ids": [9]})).await.refused());
    assert!(host.call("repo_list", json!({})).await.text().starts_with("RULES_REQUIRED:"));
    // A new session starts from nothing.
    host.connect("t").await;
    assert!(host.call("repo_list", json!({})).await.text().contains("2 unread (ids 7, 9)"));
}

fn code(refusal: &str) -> String {
    let at = refusal.find("code `").unwrap() + 6;
    refusal[at..at + 6].to_owned()
}

#[tokio::test]
async fn rules_are_accepted_once_for_the_family_and_to_the_end_of_the_session() {
    let (_engine, place, mut host) = opened(|answer| {
        answer["rights"]["granted"] =
            json!(["AGENT_REPO_LIST", "AGENT_ENGINE_DB_LOCKS", "AGENT_ENGINE_DB_UNLOCKS"]);
    })
    .await;
    host.connect("t").await;
    let refused = host.call("engine_db_locks", json!({})).await;
    assert!(refused.text().starts_with("RULES_REQUIRED: engine_db_locks was not carried out"));
    assert!(refused.text().contains("# Rules for working on the engine"));
    let first = code(refused.text());
    let accept = |code: &str| json!({"tool": "engine_db_locks", "code": code});
    let wrong = host.call("session_rules_accept", accept("zzzzzz")).await;
    assert!(wrong.refused() && wrong.text().starts_with("RULES_REQUIRED:") && code(wrong.text()) == first);
    // An edited text has another code at once.
    fs::create_dir_all(place.home.path().join("rules")).unwrap();
    fs::write(place.home.path().join("rules/engine.md"), "Only Irina.").unwrap();
    let old = host.call("session_rules_accept", accept(&first)).await;
    assert!(old.text().contains("Only Irina.") && code(old.text()) != first);
    let accepted = host.call("session_rules_accept", accept(&code(old.text()).to_uppercase())).await;
    assert_eq!(accepted.texts(), ["accepted: engine.md - repeat the refused call."]);
    assert!(!host.call("engine_db_locks", json!({})).await.refused());
    let unlocks = host.call("engine_db_unlocks", json!({"tables": ["x"]})).await;
    assert!(!unlocks.text().starts_with("RULES_REQUIRED:"), "{}", unlocks.text());
    assert!(host.call("repo_list", json!({})).await.text().starts_with("RULES_REQUIRED:"));
    // A new session has accepted nothing, and its codes are its own.
    host.connect("t").await;
    let again = host.call("engine_db_locks", json!({})).await;
    assert!(again.text().starts_with("RULES_REQUIRED:"));
    assert_ne!(code(again.text()), code(old.text()));
}

#[tokio::test]
async fn null_is_a_parameter_that_is_not_named() {
    let (engine, _place, mut host) = opened(|_| {}).await;
    host.connect("t").await;
    assert!(!host.call("memory_list", json!({"find": null})).await.refused());
    assert_eq!(engine.seen("AGENT_MEMORY_LIST")[0]["params"], json!({}));
    assert!(!host.call("session_clear", json!({"topics": null})).await.refused());
}

#[tokio::test]
async fn arguments_of_the_wrong_kind_are_refused_before_anything_is_asked() {
    let (engine, _place, mut host) = opened(|_| {}).await;
    host.connect("t").await;
    for (tool, arguments, beginning) in [
        ("memory_list", json!({"find": 5}), "Wrong value for parameter `find`"),
        ("memory_remove", json!({}), "id is required."),
        ("memory_remove", json!({"id": 1.5}), "Wrong value for parameter `id`"),
        ("memory_list", json!({"fin": "x"}), "Unknown parameter `fin`. Known: `find`."),
        ("memory_list", json!("x"), "Arguments must be an object of named parameters, got the text `x`."),
        ("session_clear", json!({"topics": [5]}), "Wrong value for parameter `topics[0]`"),
    ] {
        let called = host.call(tool, arguments).await;
        assert!(called.refused() && called.text().starts_with(beginning), "{}", called.text());
    }
    let big = json!({"name": "n", "body": "x".repeat(15 * 1024 * 1024), "x": 1});
    assert!(host.call("memory_save", big).await.text().starts_with("Unknown parameter `x`."));
    assert!(engine.seen("AGENT_MEMORY_LIST").is_empty() && engine.seen("AGENT_MEMORY_SAVE").is_empty());
}

#[tokio::test]
async fn conversation_folders_are_listed_and_removed() {
    let (_engine, place, mut host) = opened(|_| {}).await;
    let elsewhere = place.store().join("treasure");
    fs::write(&elsewhere, "x").unwrap();
    host.connect("old").await;
    let old = place.store().join("mcp/claude-code/old");
    fs::write(old.join("a.txt"), "12345").unwrap();
    std::os::unix::fs::symlink(&elsewhere, old.join("link")).unwrap();
    let called = host.connect("new").await;
    assert_eq!(called.data()["cache"], json!({"topics": 2, "size": 5}));
    let listed = host.call("session_clear", json!({})).await.data();
    assert_eq!(listed["current"], "new");
    assert_eq!(listed["size"], 5);
    let topics: Vec<&str> =
        listed["topics"].as_array().unwrap().iter().map(|topic| topic["topic"].as_str().unwrap()).collect();
    assert_eq!(topics, ["new", "old"]);
    let refused = host.call("session_clear", json!({"topics": ["old", "../old"]})).await;
    assert!(refused.text().starts_with("Not a topic: [../old]. Nothing was removed."));
    assert!(old.exists());
    let removed = host.call("session_clear", json!({"topics": ["old", "never", "old"]})).await;
    assert_eq!(removed.data(), json!({"removed": ["old"], "missing": ["never"]}));
    assert!(!old.exists() && elsewhere.exists());
    assert_eq!(
        host.call("session_clear", json!({"topics": "[\"never\"]"})).await.data()["missing"],
        json!(["never"])
    );
    assert_eq!(
        host.call("session_clear", json!({"topics": []})).await.data(),
        json!({"removed": [], "missing": []})
    );
}

#[tokio::test]
async fn a_gigabyte_of_conversations_is_worth_a_word() {
    let (_engine, place, mut host) = opened(|_| {}).await;
    host.connect("big").await;
    let file = fs::File::create(place.store().join("mcp/claude-code/big/hole")).unwrap();
    file.set_len(1_200_000_000).unwrap();
    let called = host.connect("big").await;
    assert_eq!(called.data()["cache"]["size"], 1_200_000_000_u64);
    assert!(called.text().starts_with("The conversation folders take 1.2 GB."), "{}", called.text());
}

#[tokio::test]
async fn a_second_sign_in_keeps_the_folder() {
    let (_engine, place, mut host) = opened(|_| {}).await;
    host.connect("t").await;
    fs::write(place.store().join("mcp/claude-code/t/a.txt"), "x").unwrap();
    host.connect("t").await;
    assert!(place.store().join("mcp/claude-code/t/a.txt").exists());
}

#[tokio::test]
async fn a_session_of_an_event_gets_its_folder_from_the_server() {
    let engine = Engine::start().await;
    engine.answers_all(|request| {
        assert_eq!(request["params"]["event"], 17);
        let mut answer = signed_in();
        answer["event"] = json!({"id": 17, "user_id": null, "key": "kOrder", "state": "kTaken", "time": "2026-11-30T23:59:59Z", "data": {"order": 5}});
        answer["princ"] = json!({"id": 1, "login": "admin", "name": "Owner", "group": null});
        Reply::done(answer)
    });
    let place = Place::new(&engine.url);
    let mut host = Host::open(Options { event: Some(17), ..place.options() }, VERSION, "codex").await;
    for arguments in [json!({}), json!({"topic": "whatever"}), json!({"topic": 5})] {
        let data = host.call("session_connect", arguments).await.data();
        let folder = place.store().join("mcp/codex/event/2026-11-30/17");
        assert_eq!(data["folder"], folder.display().to_string());
        assert!(folder.is_dir());
        assert_eq!(data["event"]["data"], json!({"order": 5}));
        assert_eq!(data["princ"]["login"], "admin");
    }
    let listed = host.call("session_clear", json!({})).await.data();
    assert_eq!(listed["current"], "event/2026-11-30/17");
    assert_eq!(listed["topics"][0]["topic"], "event/2026-11-30/17");
}

async fn refusal(options: Options) -> String {
    let mut host = Host::open(options, VERSION, "x").await;
    let called = host.call("session_connect", json!({"topic": "t"})).await;
    assert!(called.refused());
    called.text().to_owned()
}

#[tokio::test]
async fn what_stands_in_the_way_of_a_sign_in_is_named() {
    let place = Place::new("http://127.0.0.1:9");
    let none = Options { store: Some(StorePin::NoFolder), ..place.options() };
    assert!(refusal(none).await.starts_with("NO_SUCH_STORE: no folder is given after `--store`."));
    let wrong = refusal(place.pinned(Path::new("/no/such"))).await;
    assert!(
        wrong.starts_with("NO_SUCH_STORE: `/no/such` is not in the program's list of stores."),
        "{wrong}"
    );
    let connection = ShopIni::read(&place.store()).unwrap();
    ShopIni { login: "oleg".to_owned(), ..connection }.write(&place.store()).unwrap();
    let unsaved = refusal(place.options()).await;
    assert!(unsaved.starts_with("NO_SETTINGS: there is no source for the password: the program is not running, and no password is saved"), "{unsaved}");
    fs::write(place.store().join("Shop.ini"), "[Store]\nUrl=http://shop.example.com\nLogin=irina\n").unwrap();
    place.save_password(&place.store());
    let plain = refusal(place.options()).await;
    assert!(
        plain.starts_with("PLAIN_HTTP: the store's address `http://shop.example.com` is plain http"),
        "{plain}"
    );
    fs::write(place.store().join("Shop.ini"), "nothing").unwrap();
    let broken = refusal(place.options()).await;
    assert!(
        broken.starts_with(&format!(
            "NO_SHOP_INI: `{}` cannot be read",
            place.store().join("Shop.ini").display()
        )),
        "{broken}"
    );
    place.home.save_stores(&home::StoreList::default()).unwrap();
    assert!(refusal(place.options()).await.starts_with("NO_STORE: no store was ever opened"));
    fs::write(place.home.path().join("stores.toml"), "= broken").unwrap();
    assert!(refusal(place.options()).await.starts_with("ERROR: the list of stores cannot be read"));
}

#[tokio::test]
async fn a_look_around_always_answers() {
    let place = Place::new("http://127.0.0.1:9");
    let folder = place.store().display().to_string();
    let mut host = Host::open(place.pinned(&place.store()), VERSION, "x").await;
    let called = host.call("session_init", json!({})).await;
    assert_eq!(
        called.data(),
        json!({
            "stores": [{"name": "shop.example.com", "folder": folder}],
            "store": folder, "pinned": true, "program": {"state": "closed", "store": ""}, "connect": true
        })
    );
    assert!(called.text().contains("will sign in as `irina` with the saved password"));
    home::passwords::forget(&place.home, &place.account(&place.store()), None).unwrap();
    assert!(host.call("session_init", json!({})).await.text().contains("no password is saved"));
    fs::remove_file(place.store().join("Shop.ini")).unwrap();
    assert!(host.call("session_init", json!({})).await.text().contains("NO_SHOP_INI:"));
    fs::write(place.home.path().join("stores.toml"), "= broken").unwrap();
    let called = host.call("session_init", json!({})).await;
    assert!(!called.refused() && called.data()["connect"] == false && called.data()["stores"] == json!([]));
    assert!(called.text().contains("cannot be read"), "{}", called.text());
}

#[tokio::test]
async fn a_pinned_server_goes_to_its_own_store() {
    let (engine, other) = (Engine::start().await, Engine::start().await);
    for engine in [&engine, &other] {
        engine.answers(|_| Reply::done(no_notes()));
    }
    let place = Place::new(&engine.url);
    let folder = place.store().with_file_name("other");
    fs::create_dir(&folder).unwrap();
    ShopIni { login: "irina".to_owned(), ..ShopIni::new("other", &other.url) }.write(&folder).unwrap();
    place.save_password(&folder);
    let mut list = place.home.stores().unwrap();
    list.put(StoreEntry { name: "other".to_owned(), folder: folder.clone() });
    place.home.save_stores(&list).unwrap();
    let mut host = Host::open(place.pinned(&folder.join(".")), VERSION, "x").await;
    let data = host.connect("t").await.data();
    assert_eq!((&data["store"]["name"], &data["store"]["pinned"]), (&json!("other"), &json!(true)));
    assert!(engine.seen("AGENT_SESSION_CONNECT").is_empty());
}

#[tokio::test]
async fn another_store_in_the_program_stops_an_unpinned_session_until_it_is_back() {
    let (_engine, place, mut host) = opened(|_| {}).await;
    let mut pinned = Host::open(place.pinned(&place.store()), VERSION, "x").await;
    let other = place.store().with_file_name("other");
    fs::create_dir(&other).unwrap();
    let mut list = place.home.stores().unwrap();
    list.put(StoreEntry { name: "Other".to_owned(), folder: other.clone() });
    place.home.save_stores(&list).unwrap();
    host.connect("t").await;
    pinned.connect("t").await;
    let socket = place.home.path().join("socket");
    let _program = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let desk = |store: &Path| DeskFile {
        pid: i32::try_from(std::process::id()).unwrap(),
        store: Some(store.to_owned()),
        socket: socket.clone(),
        build: "9.9".to_owned(),
        console: None,
    };
    desk(&other).write(&place.home).unwrap();
    let refused = host.call("memory_list", json!({"x": 1})).await;
    assert!(refused.text().starts_with(&format!("STORE_SWITCHED: this session works in `shop.example.com, {}`, but the program now has `Other, {}` open.", place.store().display(), other.display())), "{}", refused.text());
    assert!(!host.call("session_clear", json!({})).await.refused());
    assert!(!pinned.call("memory_list", json!({})).await.refused());
    desk(&place.store()).write(&place.home).unwrap();
    assert!(!host.call("memory_list", json!({})).await.refused());
    // A listening socket that answers nothing is a program that is silent.
    assert_eq!(host.call("session_init", json!({})).await.data()["program"]["state"], "silent");
    assert_eq!(host.connect("t").await.data()["build"], "9.9");
}

#[tokio::test]
async fn a_licensed_store_needs_the_token_of_the_day_at_every_request() {
    let (engine, place, mut host) = opened(|answer| answer["licensed"] = json!(true)).await;
    let connection = ShopIni::read(&place.store()).unwrap();
    ShopIni { licensed: true, ..connection }.write(&place.store()).unwrap();
    let day = jiff::tz::TimeZone::UTC.to_datetime(jiff::Timestamp::now()).date().to_string();
    let file = place.store().join("tokens").join(format!("irina-{day}.lic"));
    let called = host.call("session_connect", json!({"topic": "t"})).await;
    assert!(
        called.text().starts_with(&format!(
            "LICENCE_NONE: this store is licensed, and `{}` holds no token in a file `irina-{day}.lic`.",
            place.store().join("tokens").display()
        )),
        "{}",
        called.text()
    );
    fs::create_dir(place.store().join("tokens")).unwrap();
    fs::write(&file, "v4.public.token\n").unwrap();
    host.connect("t").await;
    assert!(!host.call("memory_list", json!({})).await.refused());
    assert_eq!(engine.seen("AGENT_MEMORY_LIST")[0]["licence"], "v4.public.token");
    fs::remove_file(&file).unwrap();
    assert!(host.call("memory_list", json!({})).await.text().starts_with("LICENCE_NONE:"));
    fs::write(&file, "v4.public.token").unwrap();
    assert!(!host.call("memory_list", json!({})).await.refused());
    // Arguments are looked at before the licence.
    fs::remove_file(&file).unwrap();
    assert!(host.call("memory_list", json!({"x": 1})).await.text().starts_with("Unknown parameter"));
}

#[tokio::test]
async fn a_stale_ticket_is_replaced_without_a_word() {
    let engine = Engine::start().await;
    engine.answers_all(|request| match (request["command"].as_str(), request["session"].as_str()) {
        (Some("AGENT_SESSION_CONNECT"), _) => {
            let mut answer = signed_in();
            answer["ticket"] = json!(format!("ticket-{}", jiff::Timestamp::now().as_nanosecond()));
            Reply::done(answer)
        }
        _ => Reply::done(no_notes()),
    });
    let place = Place::new(&engine.url);
    let mut host = Host::open(place.options(), VERSION, "x").await;
    host.connect("t").await;
    let first = engine.seen("AGENT_SESSION_CONNECT").len();
    let stale = std::sync::Arc::new(std::sync::Mutex::new(None::<Value>));
    let (seen, log) = (std::sync::Arc::clone(&stale), jiff::Timestamp::now().as_nanosecond());
    engine.answers_all(move |request| {
        if request["command"] == "AGENT_SESSION_CONNECT" {
            let mut answer = signed_in();
            answer["ticket"] = json!("fresh");
            return Reply::done(answer);
        }
        let _ = log;
        seen.lock().unwrap().get_or_insert(request["session"].clone());
        if request["session"] == "fresh" {
            Reply::done(no_notes())
        } else {
            Reply::refused(&catalogue::ticket_unknown())
        }
    });
    // Many calls find it stale at once; one of them signs in.
    let mut waiting = 20;
    for _ in 0..waiting {
        host.request("tools/call", json!({"name": "memory_list"})).await;
    }
    while waiting > 0 {
        assert_eq!(host.line().await["result"]["isError"], false);
        waiting -= 1;
    }
    assert_eq!(engine.seen("AGENT_SESSION_CONNECT").len(), first + 1);
    // Where signing in does not help, the refusal is said once and no loop begins.
    engine.answers(|_| Reply::refused(&catalogue::ticket_unknown()));
    assert!(host.call("memory_list", json!({})).await.text().starts_with("SESSION_EXPIRED\n"));
}

#[tokio::test]
async fn check_names_what_is_wrong_and_who_mends_it() {
    let place = Place::new("http://127.0.0.1:9");
    let steps = mcp::check(&place.home, Some(&place.store())).await;
    let names: Vec<(&str, bool)> = steps.iter().map(|step| (step.name.as_str(), step.ok)).collect();
    assert_eq!(
        names,
        [
            ("list of stores", true),
            ("store", true),
            ("Shop.ini", true),
            ("program", true),
            ("password", true),
            ("licence", true),
            ("engine", false)
        ]
    );
    assert!(steps.last().unwrap().said.contains("connection refused"), "{steps:?}");
    assert!(steps.last().unwrap().said.contains("Mended by: whoever keeps the server."));
    let engine = Engine::start().await;
    engine.answers(|_| Reply::done(json!({})));
    let place = Place::new(&engine.url);
    let steps = mcp::check(&place.home, None).await;
    assert!(steps.iter().all(|step| step.ok), "{steps:?}");
    let closed = steps.last().unwrap().said.split_once("not granted: ").unwrap().1;
    assert!(closed.split(", ").any(|tool| tool == "engine_db_unlocks"), "{closed}");
    engine.answers_all(|request| {
        if request.is_null() { Reply::done(json!({})) } else { Reply::refused(&catalogue::ip_blocked()) }
    });
    let steps = mcp::check(&place.home, None).await;
    let last = steps.last().unwrap();
    assert!(!last.ok && last.name == "sign-in" && last.said.starts_with("IP_BLOCKED"), "{steps:?}");
    assert!(last.said.contains("Mended by: the store's owner."));
}

#[tokio::test]
async fn without_a_home_the_server_says_so_over_the_protocol() {
    let engine = Engine::start().await;
    let options = Options { home: home::Home::nowhere(), ..Place::new(&engine.url).options() };
    let mut host = Host::open(options, VERSION, "claude-code").await;
    let called = host.call("session_init", json!({})).await;
    assert!(!called.refused() && called.text().contains("NO_HOME:"), "{}", called.text());
    assert_eq!(called.data()["connect"], false);
    let called = host.call("session_connect", json!({"topic": "prices"})).await;
    assert!(called.refused() && called.text().starts_with("NO_HOME:"), "{}", called.text());
}
