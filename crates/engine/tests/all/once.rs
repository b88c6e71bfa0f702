//! Exactly once: idempotency keys, the journal, faults.

use serde_json::{Value, json};

use crate::ask::{Ask, all, ticket};
use crate::house::{House, on_both};

const KEY: &str = "3f0a3cde-3f3a-4d8e-9b35-0d2e7e3f8a10";

async fn keyed(house: &House, key: &str, name: &str) -> Ask {
    let ticket = ticket(house, "irina").await;
    let params = json!({"name": name, "body": "text"});
    Ask::tool("memory_save", params).with("session", ticket).with("key", key)
}

on_both! {
    async fn a_repeat_gets_the_first_answer_and_does_nothing(house: House) {
        let ask = keyed(house, KEY, "a note").await;
        let first = ask.result(house).await.unwrap();
        let before = house.dump();
        assert_eq!(ask.result(house).await.unwrap(), first);
        assert!(house.dump() == before);
        assert_eq!(house.count("notes"), 1);
        // A new session of the same person, after the answer was lost, too.
        let again = keyed(house, KEY, "a note").await;
        assert_eq!(again.result(house).await.unwrap(), first);
        assert_eq!((house.count("notes"), house.count("journal")), (1, 1));
    }

    async fn a_key_is_one_in_all_its_spellings(house: House) {
        let ask = keyed(house, KEY, "a note").await;
        let first = ask.result(house).await.unwrap();
        let capitals = KEY.to_uppercase();
        for key in [&capitals, &KEY.replace('-', ""), &format!("{{{KEY}}}"), &format!("urn:uuid:{capitals}")] {
            assert_eq!(ask.clone().with("key", key.as_str()).result(house).await, Ok(first.clone()), "{key}");
        }
        assert_eq!(house.count("notes"), 1);
    }

    async fn a_key_belongs_to_one_call_of_one_person(house: House) {
        let ask = keyed(house, KEY, "a note").await;
        ask.result(house).await.unwrap();
        let words = "Bad request: `key` was used for another call";
        let other = ask.clone().with("params", json!({"name": "another note"}));
        assert_eq!(other.result(house).await, Err(words.to_owned()));
        let remove = Ask::tool("memory_remove", json!({"ids": [1]}));
        let remove = remove.with("session", ask.body["session"].clone()).with("key", KEY);
        assert_eq!(remove.result(house).await, Err(words.to_owned()));
        let admin = ask.clone().with("session", ticket(house, "admin").await);
        admin.result(house).await.unwrap();
        assert_eq!(house.count("notes"), 2);
    }

    async fn a_write_without_a_key_is_refused(house: House) {
        let ask = keyed(house, KEY, "a note").await;
        let before = house.dump();
        for key in [Value::Null, json!(""), json!("7c6a"), json!("\0"), json!("x".repeat(36))] {
            let words = ask.clone().with("key", key.clone()).result(house).await.unwrap_err();
            assert_eq!(words, "Bad request: a call that writes needs a UUID in `key`", "{key}");
        }
        assert!(house.dump() == before);
    }

    async fn the_order_of_fields_makes_no_other_call(house: House) {
        let ask = keyed(house, KEY, "a note").await;
        let first = ask.result(house).await.unwrap();
        let turned = ask.with("params", json!({"body": "text", "name": "a note"}));
        assert_eq!(turned.result(house).await, Ok(first));
    }

    async fn two_at_once_are_one(house: House) {
        let ask = keyed(house, KEY, "a note").await;
        let house: &House = house;
        let asks = (0..8).map(|_| {
            let ask = ask.clone();
            async move { ask.result(house).await }
        });
        let answers = all(asks).await;
        let first = answers[0].clone().unwrap();
        assert!(answers.iter().all(|answer| answer.as_ref() == Ok(&first)), "{answers:?}");
        assert_eq!((house.count("notes"), house.count("journal")), (1, 1));
    }

    async fn a_refused_call_leaves_its_key_free(house: House) {
        let ask = keyed(house, KEY, "a note").await;
        let lost = ask.clone().with("params", json!({"id": 777, "name": "x"}));
        lost.result(house).await.unwrap_err();
        ask.result(house).await.unwrap();
    }

    async fn a_repeat_passes_the_gate_first(house: House) {
        let ask = keyed(house, KEY, "a note").await;
        ask.result(house).await.unwrap();
        house.mark("shop.lock", true);
        assert_eq!(ask.result(house).await, Err("SHOP_IS_LOCK".to_owned()));
    }

    async fn every_write_is_journalled_with_who_and_where_from(house: House) {
        let origin = json!({"application": "claude-code", "topic": "prices\nsept", "event": 12});
        keyed(house, KEY, "a note").await.with("origin", origin).result(house).await.unwrap();
        let row = house.db.read(|tx| tx.row("select * from journal", &[])).unwrap().unwrap();
        let text = |column| row.get::<String>(column).unwrap();
        assert_eq!(
            [text("command"), text("tool"), text("application"), text("topic"), text("key")],
            ["AGENT_MEMORY_SAVE", "memory_save", "claude-code", "prices sept", KEY]
        );
        assert_eq!((row.get::<i64>("user_id").unwrap(), row.get::<i64>("event").unwrap()), (house.id("irina"), 12));
        let change = house.db.read(|tx| tx.row("select * from journal_changes", &[])).unwrap().unwrap();
        assert_eq!(change.get::<String>("table_name").unwrap(), "notes");
        let after: Value = change.get("after").unwrap();
        assert_eq!(after["name"], "a note");
    }

    async fn a_fault_changes_nothing_and_tells_no_cause(house: House) {
        let ask = keyed(house, KEY, "a note").await;
        house.db.write(|tx| tx.run("alter table journal rename to journal_gone", &[])).unwrap();
        let words = ask.result(house).await.unwrap_err();
        assert!(words.starts_with("Engine failure: incident "), "{words}");
        assert_eq!(words.len(), "Engine failure: incident 01234567".len());
        assert_eq!((house.count("notes"), house.count("calls")), (0, 0));
        house.db.write(|tx| tx.run("alter table journal_gone rename to journal", &[])).unwrap();
        ask.result(house).await.unwrap();
    }
}
