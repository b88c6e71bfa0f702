//! Tests of tables in work.

use serde_json::json;

use crate::test_store::{column, objects, on_both};

#[test]
fn tables_in_work_are_listed_with_their_holders() {
    on_both(|store| {
        let empty = store.call(&store.irina, "engine_db_locks", json!({})).unwrap();
        assert_eq!(empty.text.as_deref(), Some("No table is in work."));
        store.take(&store.oleg, "tasks", 60);
        store.take(&store.admin, "notes", 90);
        store.take(&store.admin, "users", -3);
        let list = store.data(&store.irina, "engine_db_locks", json!({}));
        assert_eq!(column(&list, "table"), ["notes", "tasks"]);
        assert_eq!(
            objects(&list)[0],
            json!({"table": "notes", "user_id": store.admin.id, "login": "admin", "name": "Anna", "what": "editing",
            "since": "2026-11-30T10:00:00Z", "until": "2026-11-30T10:01:30Z"})
        );
        assert!(!list.to_string().contains("window of"));
    });
}

#[test]
fn without_names_only_own_tables_are_freed() {
    on_both(|store| {
        store.take_by_call(&store.irina, "notes", 60);
        store.take_by_call(&store.irina, "tasks", 60);
        store.take(&store.irina, "groups", 60);
        store.take_by_call(&store.oleg, "users", 60);
        for who in [&store.admin, &store.irina] {
            let freed = store.call(who, "engine_db_unlocks", json!({})).unwrap();
            let data = freed.data.unwrap();
            let own = if who.login == "irina" { json!(["notes", "tasks"]) } else { json!([]) };
            assert_eq!((&data["freed"], &data["missed"]), (&own, &json!([])));
            let is_nothing = freed.text.is_some_and(|text| text.starts_with("Nothing of yours is stuck"));
            assert_eq!(is_nothing, who.login == "admin");
        }
        assert_eq!(
            column(&store.data(&store.irina, "engine_db_locks", json!({})), "table"),
            ["groups", "users"]
        );
    });
}

#[test]
fn anothers_table_is_freed_by_name_and_by_an_administrator_only() {
    on_both(|store| {
        store.take(&store.oleg, "notes", 60);
        store.take(&store.irina, "tasks", 60);
        let (name, text) =
            store.refused(&store.irina, "engine_db_unlocks", json!({"tables": ["tasks", "notes"]}));
        assert_eq!(name, "lease_not_own");
        assert!(
            text.starts_with("ACCESS_DENIED: table `notes` is not yours to free: Oleg (`oleg`) holds it"),
            "{text}"
        );
        assert_eq!(
            column(&store.data(&store.irina, "engine_db_locks", json!({})), "table"),
            ["notes", "tasks"]
        );

        let freed =
            store.data(&store.irina, "engine_db_unlocks", json!({"tables": ["tasks", "orders", "tasks"]}));
        assert_eq!((&freed["freed"], &freed["missed"]), (&json!(["tasks"]), &json!(["orders"])));
        assert_eq!(objects(&freed), [json!({"table": "tasks", "since": "2026-11-30T10:00:00Z"})]);
        let unknown = json!({"tables": ["notes", "ordres"]});
        assert_eq!(
            store.refused(&store.irina, "engine_db_unlocks", unknown).1.split('.').next(),
            Some("Unknown table: ordres")
        );
        let freed = store.data(&store.admin, "engine_db_unlocks", json!({"tables": "[\"notes\"]"}));
        assert_eq!((&freed["freed"], &freed["missed"]), (&json!(["notes"]), &json!([])));
    });
}

#[test]
fn a_freed_table_is_written_again_and_its_window_knows_it_lost_it() {
    on_both(|store| {
        store.take(&store.irina, "notes", 60);
        assert_eq!(store.refused(&store.irina, "memory_save", json!({"name": "x"})).0, "table_in_work");
        store.data(&store.irina, "engine_db_unlocks", json!({"tables": ["notes"]}));
        store.data(&store.irina, "memory_save", json!({"name": "x"}));
        let renewed = store
            .db
            .write(|tx| db::leases::renew(tx, "notes", "window of irina", store.now, store.later(60)));
        assert!(!renewed.unwrap());
    });
}
