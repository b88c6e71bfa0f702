//! Tests of the notes, over a real database.

use std::fs;

use db::notes::{self, Fields, Owner};
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::Stop;

use crate::test_store::{TestStore, column, objects, on_both};

fn fields(name: &str, kind: &str, body: &str) -> Fields {
    Fields {
        name: name.to_owned(),
        kind_key: kind.to_owned(),
        category: String::new(),
        info: String::new(),
        body: body.to_owned(),
    }
}

fn add(store: &TestStore, owner: Owner, name: &str, kind: &str, body: &str) -> i64 {
    store.db.write(|tx| notes::create(tx, owner, &fields(name, kind, body), store.now)).unwrap()
}

fn row(store: &TestStore, id: i64) -> Option<Value> {
    store.db.write(|tx| notes::row(tx, id)).unwrap()
}

#[test]
fn a_new_note_is_own_with_defaults_and_journalled_whole() {
    on_both(|store| {
        let saved =
            store.data(&store.irina, "memory_save", json!({"name": " Prices ", "body": "<p>End in 90</p>"}));
        let id = saved["id"].as_i64().unwrap();
        assert_eq!(saved, json!({"id": id, "name": "Prices", "saved": "created"}));
        let row = row(&store, id).unwrap();
        assert_eq!(
            row,
            json!({"id": id, "level": "own", "user_id": store.irina.id, "group_id": null, "kind_key": "kDefault",
            "name": "Prices", "category": "", "info": "", "body": "<p>End in 90</p>",
            "edit_time": "2026-11-30T10:00:00Z"})
        );
        let change = &store.journal()[0];
        assert_eq!((change.table.as_str(), change.row_id), ("notes", id));
        assert_eq!((&change.before, change.after.as_ref()), (&None, Some(&row)));
    });
}

#[test]
fn a_field_that_is_not_named_keeps_its_value() {
    on_both(|store| {
        let whole = json!({"name": "a", "category": "b", "info": "c", "body": "d", "kind_key": "kSkill"});
        let id = store.data(&store.irina, "memory_save", whole)["id"].clone();
        let id = id.as_i64().unwrap();
        for (field, value) in
            [("name", "A"), ("category", ""), ("info", "C"), ("body", "<b>D</b>"), ("kind_key", "kDirect")]
        {
            let before = row(&store, id).unwrap();
            let saved = store.data(&store.irina, "memory_save", json!({"id": id, field: value}));
            assert_eq!(saved["saved"], "updated");
            let after = row(&store, id).unwrap();
            for name in ["name", "category", "info", "body", "kind_key", "level", "user_id"] {
                let wanted = if name == field { &json!(value) } else { &before[name] };
                assert_eq!(&after[name], wanted, "{name} after {field}");
            }
            let change = &store.journal()[0];
            let (was, is) = (change.before.as_ref().unwrap(), change.after.as_ref().unwrap());
            assert_eq!((was, is), (&json!({field: before[field]}), &json!({field: after[field]})));
        }
    });
}

#[test]
fn what_cannot_be_saved_is_refused_and_nothing_changes() {
    on_both(|store| {
        let own = add(&store, Owner::Own(store.irina.id), "own", "kDefault", "");
        let all = add(&store, Owner::All, "all", "kDefault", "");
        let group = add(&store, Owner::Group(store.managers), "group", "kDefault", "");
        let other = add(&store, Owner::Own(store.oleg.id), "other", "kDefault", "");
        fs::write(store.local.store.join("latin.html"), b"caf\xE9").unwrap();
        let cases = [
            (json!({}), "note_needs_name"),
            (json!({"body": "x"}), "note_needs_name"),
            (json!({"name": "  "}), "note_needs_name"),
            (json!({"id": own, "name": ""}), "note_needs_name"),
            (json!({"id": own}), "missing_parameter"),
            (json!({"name": "я".repeat(101)}), "too_long"),
            (json!({"name": "x", "category": "я".repeat(101)}), "too_long"),
            (json!({"name": "x", "info": "я".repeat(256)}), "too_long"),
            (json!({"name": "x", "body": "я".repeat(1_000_001)}), "too_long"),
            (json!({"name": "x", "body": "<div>".repeat(10_001)}), "too_many_tags"),
            (json!({"name": "x", "body": "x", "body_source": "y"}), "not_both"),
            (json!({"name": "x", "body_source": "absent.html"}), "no_such_file"),
            (json!({"name": "x", "body_source": "latin.html"}), "not_utf8"),
            (json!({"name": "x", "kind_key": "kWrong"}), "no_such_kind"),
            (json!({"id": all, "name": "x"}), "note_not_own"),
            (json!({"id": group, "name": "x"}), "note_not_own"),
            (json!({"id": other, "name": "x"}), "no_such_note"),
            (json!({"id": 9999, "name": "x"}), "no_such_note"),
            (json!({"id": "1.0", "name": "x"}), "wrong_parameter"),
            (json!({"name": "x", "level": "all"}), "unknown_parameter"),
        ];
        for (arguments, name) in cases {
            let (said, text) = store.refused(&store.irina, "memory_save", arguments.clone());
            assert_eq!(said, name, "{text}");
        }
        let (_, text) = store.refused(&store.irina, "memory_save", json!({"id": group, "name": "x"}));
        assert!(text.starts_with(&format!("ACCESS_DENIED: note {group} is of level `group`;")), "{text}");
    });
}

#[test]
fn the_longest_fields_pass() {
    on_both(|store| {
        let arguments =
            json!({"name": "я".repeat(100), "category": "я".repeat(100), "info": "я".repeat(255)});
        let id = store.data(&store.irina, "memory_save", arguments)["id"].as_i64().unwrap();
        assert_eq!(row(&store, id).unwrap()["info"], json!("я".repeat(255)));
    });
}

#[test]
fn a_body_comes_from_a_file_and_is_cleaned() {
    on_both(|store| {
        fs::write(store.local.conversation.join("b.html"), "\u{FEFF}<p onclick=x>да</p><script>x</script>")
            .unwrap();
        let arguments = json!({"name": "x", "body_source": "mcp/test/topic/b.html"});
        let id = store.data(&store.irina, "memory_save", arguments)["id"].as_i64().unwrap();
        assert_eq!(row(&store, id).unwrap()["body"], "<p>да</p>");
    });
}

#[test]
fn a_zero_character_which_no_database_takes_is_left_out() {
    on_both(|store| {
        let arguments = json!({"name": "a\0b", "category": "\0", "info": "\0c", "body": "d\0<b\0>e"});
        let id = store.data(&store.irina, "memory_save", arguments)["id"].as_i64().unwrap();
        let row = row(&store, id).unwrap();
        assert_eq!((&row["name"], &row["category"], &row["info"]), (&json!("ab"), &json!(""), &json!("c")));
        assert_eq!(row["body"], "d<b>e</b>");
        assert_eq!(store.refused(&store.irina, "memory_save", json!({"name": "\0"})).0, "note_needs_name");
    });
}

#[test]
fn only_own_notes_are_removed() {
    on_both(|store| {
        let own = add(&store, Owner::Own(store.irina.id), "own", "kDefault", "text");
        let all = add(&store, Owner::All, "all", "kDefault", "");
        let other = add(&store, Owner::Own(store.oleg.id), "other", "kDefault", "");
        let before = row(&store, own);
        let removed = store.data(&store.irina, "memory_remove", json!({"id": own}));
        assert_eq!(removed, json!({"id": own, "name": "own", "removed": 1}));
        let change = &store.journal()[0];
        assert_eq!((&change.before, &change.after), (&before, &None));
        for gone in [own, other, 9999] {
            let removed = store.data(&store.irina, "memory_remove", json!({"id": gone}));
            assert_eq!(removed, json!({"id": gone, "removed": 0}));
        }
        assert_eq!(store.refused(&store.irina, "memory_remove", json!({"id": all})).0, "note_not_own");
        assert!(row(&store, all).is_some() && row(&store, other).is_some());
    });
}

#[test]
fn notes_come_in_order_of_precedence_and_only_the_visible() {
    on_both(|store| {
        let (irina, oleg) = (Owner::Own(store.irina.id), Owner::Own(store.oleg.id));
        for (owner, kind) in [
            (irina, "kDefault"),
            (irina, "kCritical"),
            (Owner::Group(store.managers), "kDefault"),
            (Owner::Group(store.managers), "kSkill"),
            (Owner::All, "kDefault"),
            (Owner::All, "kSkill"),
            (Owner::All, "kCritical"),
            (oleg, "kCritical"),
        ] {
            add(&store, owner, "n", kind, "four");
        }
        let list = store.data(&store.irina, "memory_list", json!({}));
        let order: Vec<String> = objects(&list)
            .iter()
            .map(|note| format!("{} {}", note["level"].as_str().unwrap(), note["kind_key"].as_str().unwrap()))
            .collect();
        assert_eq!(
            order,
            [
                "all kCritical",
                "all kSkill",
                "group kSkill",
                "own kCritical",
                "all kDefault",
                "group kDefault",
                "own kDefault"
            ]
        );
        assert_eq!(
            objects(&list)[2],
            json!({"id": 4, "name": "n", "kind_key": "kSkill", "level": "group", "group": "Managers", "category": "",
            "info": "", "size": 4, "edit_time": "2026-11-30T10:00:00Z"})
        );
        assert_eq!(
            column(&store.data(&store.oleg, "memory_list", json!({})), "level"),
            ["all", "all", "own", "all"]
        );
    });
}

#[test]
fn find_looks_into_all_fields_whatever_the_case() {
    on_both(|store| {
        for arguments in [
            json!({"name": "ЦЕНЫ на зиму"}),
            json!({"name": "b", "category": "Прайс"}),
            json!({"name": "c", "info": "About Shipping & co"}),
            json!({"name": "d", "body": "<p>скид<b>ки</b> &amp; бонусы</p>"}),
        ] {
            store.data(&store.irina, "memory_save", arguments);
        }
        let found =
            |find: &str| column(&store.data(&store.irina, "memory_list", json!({"find": find})), "name");
        assert_eq!(found("цены"), ["ЦЕНЫ на зиму"]);
        assert_eq!(found("ПРАЙС"), ["b"]);
        assert_eq!(found("shipping &"), ["c"]);
        assert_eq!(found("СКИДКИ & бонусы"), ["d"]);
        assert_eq!(found("<p>"), Vec::<Value>::new());
        assert_eq!(found("  ").len(), 4);
        assert_eq!(found("%").len(), 0);
        let empty = store.call(&store.irina, "memory_list", json!({"find": "nothing"})).unwrap();
        assert_eq!(empty.data.unwrap()["notes"]["rows"], json!([]));
        assert_eq!(
            empty.text.unwrap(),
            "No note that you see holds `nothing`. Without `find` all are listed."
        );
        assert!(
            store.call(&store.oleg, "memory_list", json!({})).unwrap().text.unwrap().contains("no notes yet")
        );
    });
}

#[test]
fn notes_are_loaded_in_the_asked_order_and_missed_ones_named() {
    on_both(|store| {
        let a = add(&store, Owner::Own(store.irina.id), "a", "kDefault", "<p>A</p>");
        let b = add(&store, Owner::All, "b", "kCritical", "<p>B</p>");
        let other = add(&store, Owner::Own(store.oleg.id), "c", "kDefault", "");
        let shown =
            store.call(&store.irina, "memory_load", json!({"ids": [b, other, a, b], "id": 9999})).unwrap();
        let data = shown.data.unwrap();
        assert_eq!(
            data["notes"][1],
            json!({"id": a, "name": "a", "kind_key": "kDefault", "level": "own", "group": null, "category": "", "info": "",
            "edit_time": "2026-11-30T10:00:00Z", "body": "<p>A</p>"})
        );
        assert_eq!(data["notes"][0]["id"], b);
        assert_eq!(data["notes"].as_array().unwrap().len(), 2);
        assert_eq!(data["missed"], json!([other, 9999]));
        let mut read: Vec<i64> = shown.notes_read.iter().map(|note| note.id).collect();
        read.sort_unstable();
        let mut all = [b, a, other, 9999];
        all.sort_unstable();
        assert_eq!(read, all);
        assert!(shown.notes_read.iter().all(|note| note.from == 0 && note.until == note.length));
        assert_eq!(shown.text, None);
        let sent_as_text = store.data(&store.irina, "memory_load", json!({"ids": format!("[{a}]")}));
        assert_eq!(sent_as_text["notes"][0]["id"], a);
        assert_eq!(store.refused(&store.irina, "memory_load", json!({})).0, "missing_parameter");
        assert_eq!(store.refused(&store.irina, "memory_load", json!({"ids": []})).0, "missing_parameter");
    });
}

#[test]
fn more_than_an_answer_can_hold_is_neither_read_nor_sent() {
    on_both(|store| {
        let large = "x".repeat(5 << 20);
        let ids: Vec<i64> =
            ["a", "b", "c", "d"].map(|name| add(&store, Owner::All, name, "kDefault", &large)).into();
        let load = |ids: &[i64]| store.refused(&store.irina, "memory_load", json!({"ids": ids})).0;
        assert_eq!(load(&ids), "too_long");
        store.call(&store.irina, "memory_load", json!({"ids": ids[..3]})).unwrap();
        assert_eq!(load(&(0..101).collect::<Vec<_>>()), "wrong_parameter");
        assert_eq!(load(&(0..102).collect::<Vec<_>>()), "wrong_parameter");
        // Searched all the same, in parts.
        let last = add(&store, Owner::All, "e", "kDefault", "needle");
        let found = store.data(&store.irina, "memory_list", json!({"find": "needle"}));
        assert_eq!(column(&found, "id"), [last]);
    });
}

#[test]
fn bodies_go_to_files_where_output_is_named_critical_ones_come_in_the_answer_too() {
    on_both(|store| {
        let a = add(&store, Owner::Own(store.irina.id), "a", "kDefault", "<p>A</p>");
        let b = add(&store, Owner::All, "b", "kCritical", "<p>B</p>");
        let data =
            store.data(&store.irina, "memory_load", json!({"ids": [a, b], "output": "mcp/test/topic/out"}));
        let folder = store.local.conversation.join("out");
        assert_eq!(data["notes"][0]["file"], json!(folder.join(format!("{a}.html"))));
        assert_eq!(data["notes"][0].get("body"), None);
        assert_eq!(data["notes"][1]["body"], "<p>B</p>");
        assert_eq!(fs::read_to_string(folder.join(format!("{a}.html"))).unwrap(), "<p>A</p>");
        assert_eq!(fs::read_to_string(folder.join(format!("{b}.html"))).unwrap(), "<p>B</p>");
        fs::write(store.local.store.join("file"), "").unwrap();
        assert_eq!(
            store.refused(&store.irina, "memory_load", json!({"id": a, "output": "file"})).0,
            "folder_not_made"
        );
    });
}

#[test]
fn bodies_too_big_for_one_answer_go_to_files_by_themselves() {
    on_both(|store| {
        let ids: Vec<i64> = (0..4)
            .map(|n| add(&store, Owner::All, &format!("{n}"), "kDefault", &"x".repeat(12_000)))
            .collect();
        let critical = add(&store, Owner::All, "critical", "kCritical", &"y".repeat(12_000));
        let mut asked = ids.clone();
        asked.push(critical);
        let shown = store.call(&store.irina, "memory_load", json!({"ids": asked})).unwrap();
        let data = shown.data.unwrap();
        let notes = data["notes"].as_array().unwrap();
        let lengths: Vec<usize> =
            notes.iter().map(|note| note["body"].as_str().map_or(0, str::len)).collect();
        assert_eq!(lengths, [12_000, 2_000, 2_000, 2_000, 12_000]);
        assert_eq!(notes[1]["next"], 2_000);
        assert!(shown.text.unwrap().contains("`from`"));
        let file = store.local.conversation.join(format!("notes/{}.html", ids[3]));
        assert_eq!(fs::read_to_string(file).unwrap().len(), 12_000);
        assert_eq!(notes[0].get("file"), None);
    });
}

#[test]
fn a_long_critical_note_is_read_in_parts() {
    on_both(|store| {
        let body = format!("<p>{}</p>", "чай ".repeat(25_000));
        let id = add(&store, Owner::All, "long", "kCritical", &body);
        let (mut text, mut from) = (String::new(), 0);
        for _ in 0..10 {
            let shown = store.call(&store.irina, "memory_load", json!({"id": id, "from": from})).unwrap();
            let note = shown.data.unwrap()["notes"][0].clone();
            let part = note["body"].as_str().unwrap();
            assert!(part.chars().count() <= 30_000);
            // Codex counts bytes, and drops the middle of what is over its limit.
            assert!(note["body"].to_string().len() <= 36_002);
            text.push_str(part);
            let read = &shown.notes_read[0];
            assert_eq!((read.from, read.until), (from, text.chars().count()));
            match note["next"].as_u64() {
                Some(next) => from = usize::try_from(next).unwrap(),
                None => break,
            }
        }
        assert_eq!(text, body);
        let past = store.data(&store.irina, "memory_load", json!({"id": id, "from": 99_000_000}));
        assert_eq!(past["notes"][0]["body"], "");
        let two = json!({"ids": [id, id + 1], "from": 5});
        assert_eq!(store.refused(&store.irina, "memory_load", two).0, "wrong_parameter");
    });
}

#[test]
fn a_list_longer_than_an_answer_goes_whole_into_a_file() {
    on_both(|store| {
        for number in 0..900 {
            add(
                &store,
                Owner::Own(store.irina.id),
                &format!("Note {number} {}", "x".repeat(60)),
                "kDefault",
                "",
            );
        }
        let shown = store.call(&store.irina, "memory_list", json!({})).unwrap();
        let data = shown.data.unwrap();
        let text = shown.text.unwrap();
        assert!(data.to_string().len() < 31_000);
        let file = text.split("table is in ").nth(1).unwrap().split(". `find`").next().unwrap();
        let whole: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        assert_eq!(whole["rows"].as_array().unwrap().len(), 900);
        assert!(
            text.starts_with(&format!(
                "The first {} of 900",
                data["notes"]["rows"].as_array().unwrap().len()
            ))
        );
    });
}

#[test]
fn a_table_in_work_is_not_written_until_its_lease_ends() {
    on_both(|mut store| {
        let id = add(&store, Owner::Own(store.irina.id), "a", "kDefault", "");
        store.take(&store.admin, "notes", 60);
        for (tool, arguments) in [
            ("memory_save", json!({"name": "x"})),
            ("memory_save", json!({"id": id, "name": "x"})),
            ("memory_remove", json!({"id": id})),
        ] {
            let (name, text) = store.refused(&store.irina, tool, arguments);
            assert_eq!(name, "table_in_work");
            assert!(text.starts_with("The table notes is in work right now, and nothing was written: Anna (`admin`) holds it (editing) until 2026-11-30T10:01:00Z"), "{text}");
        }
        store.data(&store.irina, "memory_list", json!({}));
        store.now = store.later(62);
        store.data(&store.irina, "memory_save", json!({"id": id, "name": "x"}));
    });
}

#[test]
fn two_writers_at_once_lose_no_field() {
    on_both(|store| {
        let id = add(&store, Owner::Own(store.irina.id), "n", "kDefault", "");
        let write = |field: &'static str| {
            let store = &store;
            move || {
                for turn in 0..20 {
                    let value = format!("{field}{turn}");
                    match store.call(&store.irina, "memory_save", json!({"id": id, field: value})) {
                        Ok(_) => assert_eq!(row(store, id).unwrap()[field], json!(value)),
                        Err(Stop::Refused(refusal)) => panic!("{refusal:?}"),
                        Err(Stop::Broke(fault)) => panic!("{fault:?}"),
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for field in ["name", "category", "info", "body"] {
                scope.spawn(write(field));
            }
        });
        let row = row(&store, id).unwrap();
        for field in ["name", "category", "info", "body"] {
            assert_eq!(row[field], json!(format!("{field}19")));
        }
    });
}

#[test]
fn the_engine_trusts_no_parameters() {
    on_both(|store| {
        for params in [
            json!({"id": "x"}),
            json!({"nmae": 1}),
            json!({"name": {"a": 1}}),
            json!({"body_source": "/etc/passwd"}),
        ] {
            let Value::Object(params) = params else { unreachable!() };
            match store.run(&store.irina, "memory_save", params) {
                Err(Stop::Refused(refusal)) => assert_eq!(refusal.name(), "bad_request"),
                other => panic!("{other:?}"),
            }
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn saving_and_loading_gives_the_named_fields_back(
        name in "\\PC{1,30}", category in "\\PC{0,30}", info in "\\PC{0,60}", body in "[^<>&\u{0}\u{FEFF}\r]{0,80}",
    ) {
        prop_assume!(!name.trim().is_empty());
        thread_local!(static STORE: TestStore = TestStore::new());
        STORE.with(|store| {
            let arguments = json!({"name": name, "category": category, "info": info, "body": body});
            let id = store.data(&store.irina, "memory_save", arguments)["id"].clone();
            let note = store.data(&store.irina, "memory_load", json!({"id": id}))["notes"][0].clone();
            for (field, value) in [("name", name.trim()), ("category", category.trim()), ("info", info.trim())] {
                assert_eq!(note[field], json!(value));
            }
            assert_eq!(note["body"].as_str().unwrap().replace("&nbsp;", "\u{A0}"), body);
        });
    }
}
