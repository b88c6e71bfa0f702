//! Exactly once: idempotency keys, the journal, faults.

use serde_json::{Value, json};

use crate::client::{TestRequest, all, ticket};
use crate::test_store::{TestStore, on_both};

const KEY: &str = "3f0a3cde-3f3a-4d8e-9b35-0d2e7e3f8a10";

async fn keyed(store: &TestStore, key: &str, name: &str) -> TestRequest {
    let ticket = ticket(store, "irina").await;
    let params = json!({"name": name, "body": "text"});
    TestRequest::tool("memory_save", params).with("session", ticket).with("key", key)
}

on_both! {
    async fn a_repeat_gets_the_first_answer_and_does_nothing(store: TestStore) {
        let ask = keyed(store, KEY, "a note").await;
        let first = ask.result(store).await.unwrap();
        let before = store.dump();
        assert_eq!(ask.result(store).await.unwrap(), first);
        assert!(store.dump() == before);
        assert_eq!(store.count("notes"), 1);
        // A new session of the same person, after the answer was lost, too.
        let again = keyed(store, KEY, "a note").await;
        assert_eq!(again.result(store).await.unwrap(), first);
        assert_eq!((store.count("notes"), store.count("journal where actor = 'agent'")), (1, 1));
    }

    async fn a_key_is_one_in_all_its_spellings(store: TestStore) {
        let ask = keyed(store, KEY, "a note").await;
        let first = ask.result(store).await.unwrap();
        let capitals = KEY.to_uppercase();
        for key in [&capitals, &KEY.replace('-', ""), &format!("{{{KEY}}}"), &format!("urn:uuid:{capitals}")] {
            assert_eq!(ask.clone().with("key", key.as_str()).result(store).await, Ok(first.clone()), "{key}");
        }
        assert_eq!(store.count("notes"), 1);
    }

    async fn a_key_belongs_to_one_call_of_one_person(store: TestStore) {
        let ask = keyed(store, KEY, "a note").await;
        ask.result(store).await.unwrap();
        let words = "Bad request: `key` was used for another call";
        let other = ask.clone().with("params", json!({"name": "another note"}));
        assert_eq!(other.result(store).await, Err(words.to_owned()));
        let remove = TestRequest::tool("memory_remove", json!({"ids": [1]}));
        let remove = remove.with("session", ask.body["session"].clone()).with("key", KEY);
        assert_eq!(remove.result(store).await, Err(words.to_owned()));
        let admin = ask.clone().with("session", ticket(store, "admin").await);
        admin.result(store).await.unwrap();
        assert_eq!(store.count("notes"), 2);
    }

    async fn a_write_without_a_key_is_refused(store: TestStore) {
        let ask = keyed(store, KEY, "a note").await;
        let before = store.dump();
        for key in [Value::Null, json!(""), json!("7c6a"), json!("\0"), json!("x".repeat(36))] {
            let words = ask.clone().with("key", key.clone()).result(store).await.unwrap_err();
            assert_eq!(words, "Bad request: a call that writes needs a UUID in `key`", "{key}");
        }
        assert!(store.dump() == before);
    }

    async fn the_order_of_fields_makes_no_other_call(store: TestStore) {
        let ask = keyed(store, KEY, "a note").await;
        let first = ask.result(store).await.unwrap();
        let turned = ask.with("params", json!({"body": "text", "name": "a note"}));
        assert_eq!(turned.result(store).await, Ok(first));
    }

    async fn two_at_once_are_one(store: TestStore) {
        let ask = keyed(store, KEY, "a note").await;
        let store: &TestStore = store;
        let asks = (0..8).map(|_| {
            let ask = ask.clone();
            async move { ask.result(store).await }
        });
        let answers = all(asks).await;
        let first = answers[0].clone().unwrap();
        assert!(answers.iter().all(|answer| answer.as_ref() == Ok(&first)), "{answers:?}");
        assert_eq!((store.count("notes"), store.count("journal where actor = 'agent'")), (1, 1));
    }

    async fn a_refused_call_leaves_its_key_free(store: TestStore) {
        let ask = keyed(store, KEY, "a note").await;
        let lost = ask.clone().with("params", json!({"id": 777, "name": "x"}));
        lost.result(store).await.unwrap_err();
        ask.result(store).await.unwrap();
    }

    async fn a_repeat_passes_the_gate_first(store: TestStore) {
        let ask = keyed(store, KEY, "a note").await;
        ask.result(store).await.unwrap();
        store.mark("shop.lock", true);
        assert_eq!(ask.result(store).await, Err("SHOP_IS_LOCK".to_owned()));
    }

    async fn every_write_is_journalled_with_who_and_where_from(store: TestStore) {
        let origin = json!({"application": "claude-code", "topic": "prices\nsept", "event": 12});
        keyed(store, KEY, "a note").await.with("origin", origin).result(store).await.unwrap();
        let row = store.db.read(|tx| tx.row("select * from journal where actor = 'agent'", &[])).unwrap().unwrap();
        let text = |column| row.get::<String>(column).unwrap();
        assert_eq!(
            [text("command"), text("tool"), text("application"), text("topic"), text("key")],
            ["AGENT_MEMORY_SAVE", "memory_save", "claude-code", "prices sept", KEY]
        );
        assert_eq!((row.get::<i64>("user_id").unwrap(), row.get::<i64>("event").unwrap()), (store.id("irina"), 12));
        let change = store.db.read(|tx| tx.row("select c.* from journal_changes c join journal j on j.id = c.journal_id where j.actor = 'agent'", &[])).unwrap().unwrap();
        assert_eq!(change.get::<String>("table_name").unwrap(), "notes");
        let after: Value = change.get("after").unwrap();
        assert_eq!(after["name"], "a note");
    }

    async fn a_fault_changes_nothing_and_tells_no_cause(store: TestStore) {
        let ask = keyed(store, KEY, "a note").await;
        store.db.write(|tx| tx.run("alter table notes rename to notes_gone", &[])).unwrap();
        let words = ask.result(store).await.unwrap_err();
        assert!(words.starts_with("Engine failure: incident "), "{words}");
        assert_eq!(words.len(), "Engine failure: incident 01234567".len());
        assert_eq!((store.count("notes_gone"), store.count("calls")), (0, 0));
        store.db.write(|tx| tx.run("alter table notes_gone rename to notes", &[])).unwrap();
        ask.result(store).await.unwrap();
    }
}
