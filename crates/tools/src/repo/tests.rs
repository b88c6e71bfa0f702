//! Tests of the repository's list.

use std::fs;

use db::repo::{self, NewSection, Whom};
use serde_json::{Value, json};

use crate::test_store::{TestStore, objects, on_both};

#[test]
fn only_sections_with_a_flag_are_listed_with_what_is_allowed() {
    on_both(|store| {
        let empty = store.call(&store.oleg, "repo_list", json!({})).unwrap();
        assert_eq!(empty.data.unwrap()["repos"]["rows"], json!([]));
        assert!(empty.text.unwrap().starts_with("No section of the repository is open to you"));

        let section = |name: &str, parent| NewSection {
            parent,
            skey: None,
            name: name.to_owned(),
            descr: format!("About {name}"),
            kind_key: "kShared".to_owned(),
        };
        store
            .db
            .write(|tx| {
                let top = repo::create_section(tx, &section("Top", None))?;
                let low = repo::create_section(tx, &section("Low", Some(top)))?;
                repo::create_section(tx, &section("Hidden", None))?;
                repo::set_flags(tx, low, Whom::Group(store.managers), &["topic_list"])?;
                repo::set_flags(tx, low, Whom::User(store.irina.id), &["store_read"])
            })
            .unwrap();
        let list = store.data(&store.irina, "repo_list", json!({}));
        assert_eq!(
            objects(&list),
            [
                json!({"id": 2, "skey": null, "path": "Top -> Low", "descr": "About Low", "kind_key": "kShared", "topics": 0,
            "may": ["topic_list", "store_read"]})
            ]
        );
    });
}

/// A section in which managers may do everything, and Oleg, who is none, read.
fn study(store: &TestStore) -> i64 {
    let section = NewSection {
        parent: None,
        skey: None,
        name: "Study".to_owned(),
        descr: String::new(),
        kind_key: "kShared".to_owned(),
    };
    let flags = ["topic_list", "topic_create", "topic_update", "topic_remove", "store_read", "store_write"];
    let work = |tx: &mut db::Tx| {
        let id = repo::create_section(tx, &section)?;
        repo::set_flags(tx, id, Whom::Group(store.managers), &flags)?;
        repo::set_flags(tx, id, Whom::User(store.oleg.id), &["store_read"])?;
        Ok::<_, db::DbError>(id)
    };
    store.db.write(work).unwrap()
}

fn made(store: &TestStore, section: i64, name: &str) -> i64 {
    let call = json!({"action": "topic_create", "repo": section, "name": name});
    store.data(&store.irina, "repo_write", call)["topic"].as_i64().unwrap()
}

fn written(store: &TestStore, topic: i64, body: &str) -> i64 {
    let call = json!({"action": "store_write", "topic": topic, "author": "Claude", "body": body});
    store.data(&store.irina, "repo_write", call)["record"].as_i64().unwrap()
}

#[test]
fn a_name_is_the_only_one_of_its_section_in_latin_and_cyrillic() {
    on_both(|store| {
        let (one, other) = (study(&store), study(&store));
        for (name, again) in [("Tea", "TEA"), ("Чай Ёлка", "чАЙ ёЛКА"), ("straße", "STRASSE"), ("İ", "i̇")]
        {
            let id = made(&store, one, name);
            let call = json!({"action": "topic_create", "repo": one, "name": again});
            let (refusal, text) = store.refused(&store.irina, "repo_write", call);
            assert_eq!(refusal, "topic_name_taken", "{again}");
            assert!(text.starts_with(&format!("The section has topic [{name}] already, id {id}.")), "{text}");
            made(&store, other, again);
            // Its own name in other capitals is a change like any other.
            let call = json!({"action": "topic_update", "topic": id, "name": again});
            assert_eq!(store.data(&store.irina, "repo_write", call)["name"], json!(again));
        }
    });
}

#[test]
fn writers_at_once_make_one_topic_of_a_name_and_lose_no_record() {
    on_both(|store| {
        let section = study(&store);
        let store = &store;
        let made = std::thread::scope(|scope| {
            let make = |n: usize| {
                let name = if n.is_multiple_of(2) { "Tea" } else { "TEA" };
                let call = json!({"action": "topic_create", "repo": section, "name": name});
                store.call(&store.irina, "repo_write", call).is_ok()
            };
            let threads: Vec<_> = (0..6).map(|n| scope.spawn(move || make(n))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).filter(|is_made| *is_made).count()
        });
        assert_eq!(made, 1);
        let topic =
            store.data(&store.irina, "repo_read", json!({"action": "topic_list", "repo": section}))["topics"]
                ["rows"][0][0]
                .as_i64()
                .unwrap();
        std::thread::scope(|scope| {
            for n in 0..6 {
                scope.spawn(move || written(store, topic, &format!("record {n}")));
            }
        });
        let list = store.data(&store.irina, "repo_read", json!({"action": "store_list", "topic": topic}));
        assert_eq!((list["total"].as_i64(), list["records"]["rows"].as_array().unwrap().len()), (Some(6), 6));
    });
}

#[test]
fn pages_have_a_hundred_rows_the_newest_first() {
    on_both(|store| {
        let section = study(&store);
        let topic = made(&store, section, "Many");
        let empty = made(&store, section, "Empty");
        let records: Vec<i64> = (0..103).map(|n| written(&store, topic, &format!("{n}"))).collect();
        let page = |offset: usize| {
            let call = json!({"action": "store_list", "topic": topic, "offset": offset});
            let answer = store.data(&store.irina, "repo_read", call);
            assert_eq!((&answer["total"], &answer["offset"]), (&json!(103), &json!(offset)));
            let rows = answer["records"]["rows"].as_array().unwrap().clone();
            rows.iter().map(|row| row[0].as_i64().unwrap()).collect::<Vec<_>>()
        };
        let newest: Vec<i64> = records.iter().rev().copied().collect();
        assert_eq!((page(0), page(100), page(103)), (newest[..100].to_vec(), newest[100..].to_vec(), vec![]));
        let topics = store.data(&store.irina, "repo_read", json!({"action": "topic_list", "repo": section}));
        let order: Vec<&Value> =
            topics["topics"]["rows"].as_array().unwrap().iter().map(|row| &row[0]).collect();
        assert_eq!(order, [&json!(topic), &json!(empty)]);
    });
}

#[test]
fn a_long_record_is_in_a_file_with_its_head_in_the_answer() {
    on_both(|store| {
        let section = study(&store);
        let topic = made(&store, section, "Long");
        let body = "цена 4,20\n".repeat(100_000);
        let record = written(&store, topic, &body);
        let read = store.data(&store.oleg, "repo_read", json!({"action": "store_read", "record": record}));
        let read = &read["records"][0];
        assert_eq!(read["size"], json!(body.len()));
        assert!(
            body.starts_with(read["body"].as_str().unwrap()) && read["body"].as_str().unwrap().len() > 1000
        );
        let file = read["file"].as_str().unwrap();
        assert!(file.ends_with(&format!("/repo/{topic}.{record}.txt")), "{file}");
        assert_eq!(fs::read_to_string(file).unwrap(), body);
        let over = "x".repeat((1 << 20) + 1);
        let call = json!({"action": "store_write", "topic": topic, "author": "Claude", "body": over});
        assert_eq!(store.refused(&store.irina, "repo_write", call).0, "too_long");
        let whole = "x".repeat(1 << 20);
        written(&store, topic, &whole);
    });
}

#[test]
fn who_may_read_may_list_records_and_nothing_else() {
    on_both(|store| {
        let section = study(&store);
        let topic = made(&store, section, "Tea");
        written(&store, topic, "text with a zero \0 in it");
        let read = store.data(&store.oleg, "repo_read", json!({"action": "store_read", "topic": topic}));
        assert_eq!(read["records"][0]["body"], json!("text with a zero  in it"));
        store.data(&store.oleg, "repo_read", json!({"action": "store_list", "topic": topic}));
        for (tool, call) in [
            ("repo_read", json!({"action": "topic_list", "repo": section})),
            ("repo_write", json!({"action": "topic_create", "repo": section, "name": "x"})),
            ("repo_write", json!({"action": "topic_update", "topic": topic, "name": "x"})),
            ("repo_write", json!({"action": "topic_remove", "topic": topic})),
            ("repo_write", json!({"action": "store_write", "topic": topic, "author": "x", "body": "x"})),
        ] {
            assert_eq!(store.refused(&store.oleg, tool, call.clone()).0, "section_flag_missing", "{call}");
        }
        // Somebody without a flag sees neither section nor topic nor record; administrators have no flags here.
        for (call, refusal) in [
            (json!({"action": "topic_list", "repo": section}), "no_open_section"),
            (json!({"action": "store_read", "topic": topic}), "missed"),
            (json!({"action": "store_list", "topic": topic}), "no_such_topic"),
            (json!({"action": "store_read", "record": 1}), "no_such_record"),
        ] {
            match refusal {
                "missed" => assert_eq!(store.data(&store.admin, "repo_read", call)["missed"], json!([topic])),
                refusal => assert_eq!(store.refused(&store.admin, "repo_read", call).0, refusal),
            }
        }
    });
}

#[test]
fn fields_of_a_topic_changed_at_once_are_all_kept() {
    on_both(|store| {
        let section = study(&store);
        let topic = made(&store, section, "Tea");
        let store = &store;
        std::thread::scope(|scope| {
            for (field, value) in [("name", "Green tea"), ("descr", "Three shops"), ("params", "tea green")] {
                let mut call = json!({"action": "topic_update", "topic": topic});
                call[field] = value.into();
                scope.spawn(move || store.data(&store.irina, "repo_write", call));
            }
        });
        let list = store.data(&store.irina, "repo_read", json!({"action": "topic_list", "repo": section}));
        assert_eq!(
            list["topics"]["rows"][0].as_array().unwrap()[1..4],
            [json!("Green tea"), json!("Three shops"), json!("tea green")]
        );
    });
}
