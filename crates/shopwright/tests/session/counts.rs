//! What `session_connect` counts, against a count over the database itself.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::setup::store;

fn by_state(list: &Value) -> BTreeMap<String, u64> {
    let entries = list.as_array().unwrap().iter();
    entries
        .map(|entry| (entry["state"].as_str().unwrap().to_owned(), entry["count"].as_u64().unwrap()))
        .collect()
}

#[test]
fn tasks_are_counted_as_the_owner_would_count_them() {
    let store = store();
    // Oleg too may see the scheduler here.
    store.store_command("grant", &["--login", "oleg", "SCHEDULER"]).unwrap();
    let rows = store
        .query(
            "select t.state, c.login, e.login from tasks t
             join users c on c.id = t.creator_id join users e on e.id = t.executor_id",
        )
        .unwrap();
    let mut seen = Vec::new();
    for login in ["admin", "irina", "oleg"] {
        let (mut waiting, mut given) = (BTreeMap::<String, u64>::new(), BTreeMap::<String, u64>::new());
        for row in &rows {
            let (state, creator, executor) = (row[0].as_str(), row[1].as_str(), row[2].as_str());
            let executes = executor == login && ["kNew", "kReassign", "kClarify"].contains(&state);
            if executes || (creator == login && state == "kComplete") {
                *waiting.entry(state.to_owned()).or_default() += 1;
            }
            if creator == login && executor != login && state != "kClose" {
                *given.entry(state.to_owned()).or_default() += 1;
            }
        }
        let trying = store.start(login).unwrap();
        let data = trying.client().unwrap().done("session_connect", json!({"topic": "count"})).unwrap();
        assert_eq!(by_state(&data["tasks"]["waiting"]), waiting, "{login}");
        assert_eq!(by_state(&data["tasks"]["given"]), given, "{login}");
        assert!(!waiting.is_empty(), "{login} has nothing to do, which shows nothing");
        seen.push((waiting, given));
    }
    assert!(seen[0] != seen[1] && seen[1] != seen[2], "the three people differ");
}

#[test]
fn notes_are_counted_as_this_person_sees_them() {
    let store = store();
    for login in ["admin", "irina"] {
        let trying = store.start(login).unwrap();
        let mut client = trying.client().unwrap();
        let data = client.done("session_connect", json!({"topic": "count"})).unwrap();
        let sql = format!(
            "select n.id, n.kind_key from notes n, users u where u.login = '{login}' and (n.level = 'all'
             or n.user_id = u.id or n.group_id = u.main_group
             or n.group_id in (select group_id from user_groups where user_id = u.id))"
        );
        let rows = store.query(&sql).unwrap();
        let critical = rows.iter().filter(|row| row[1] == "kCritical").count();
        assert_eq!(data["memory"], json!({"notes": rows.len(), "critical": critical}), "{login}");
        let listed = client.done("memory_list", json!({})).unwrap();
        assert_eq!(listed["notes"]["rows"].as_array().unwrap().len(), rows.len());
    }
}

#[test]
fn ai_tools_are_counted_without_their_folders() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let data = trying.client().unwrap().done("session_connect", json!({"topic": "count"})).unwrap();
    let tools: u64 =
        store.cell("select count(*) from ai_tools where unit is not null").unwrap().parse().unwrap();
    assert_eq!(data["tools"], json!(tools));
}
