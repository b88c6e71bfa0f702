//! Tests of what agents write to the database.

use serde_json::{Value, json};

use super::db_tests::{TRICKS, everything};
use crate::test_store::{TestStore, on_both};

fn execute(store: &TestStore, arguments: Value) -> Value {
    store.data(&store.admin, "engine_db_execute", arguments)
}

fn pool(store: &TestStore, steps: Value) -> Value {
    execute(store, json!({"pool": steps}))
}

/// What a single step that fails says; it leaves nothing behind.
fn error(store: &TestStore, step: Value) -> String {
    let answer = pool(store, json!([step]));
    assert_eq!((&answer["ok"], &answer["rolled_back"]), (&json!(false), &json!(true)), "{step}: {answer}");
    assert_eq!(answer["changed"], json!([]), "{step}: {answer}");
    answer["steps"][0]["error"].as_str().unwrap_or_else(|| panic!("{step}: {answer}")).to_owned()
}

fn rows(store: &TestStore, sql: &str) -> Value {
    let answer =
        store.data(&store.admin, "engine_db_select", json!({"pool": [{"do": "select", "sql": sql}]}));
    answer["steps"][0].get("data").cloned().unwrap_or_else(|| panic!("{sql}: {answer}"))
}

#[test]
fn whatever_a_statement_tries_it_changes_nothing_that_is_closed() {
    on_both(|store| {
        let before = everything(&store);
        for sql in TRICKS {
            for word in ["select", "modify"] {
                let said = error(&store, json!({"do": word, "sql": sql}));
                assert!(!said.is_empty() && said.len() < 700, "{sql}: {said}");
            }
        }
        for sql in [
            "insert into tags (skey, name) select password_hash, 'x' from users",
            "update tags set name = (select password_hash from users limit 1)",
            "delete from tags where exists (select 1 from secrets)",
            "insert into tags (skey, name) values ('a', 'b'); delete from users",
            "insert into tags (skey, name) values ('a', 'b') returning (select 1)",
            "update users set login = 'x' where id = 1 and 'update tags' > ''",
            "delete from leases",
            "insert into grants (operation_id, user_id) values (1, 1)",
            "update products_nowhere set name = 'x'",
            "replace into tags (skey, name) values ('a', 'b')",
            "update sqlite_master set sql = ''",
            "delete from pg_authid",
        ] {
            let said = error(&store, json!({"do": "modify", "sql": sql}));
            assert!(!said.is_empty() && said.len() < 700, "{sql}: {said}");
        }
        assert_eq!(everything(&store), before);
        assert_eq!(rows(&store, "select count(*) as n from tags"), json!([{"n": 0}]));
        let hidden = error(&store, json!({"do": "select", "sql": "select nothing from users"}));
        assert!(!hidden.starts_with("Never readable"), "{hidden}");
    });
}

#[test]
fn steps_lend_their_numbers_and_are_one_transaction() {
    on_both(|store| {
        let answer = pool(
            &store,
            json!([
                {"do": "insert", "name": "tags", "table": "tags", "rows": [{"skey": "new", "name": "New"}, {"skey": "old", "name": "@unknown"}]},
                {"do": "modify", "name": "One", "sql": "insert into menus (skey, name) values (:key, 'Main');", "params": {"key": "main"}},
                {"do": "insert", "name": "item", "table": "menu_items", "rows": [{"menu_id": "@one", "name": "Home", "url": "/"}]},
                {"do": "tree_add", "name": "sub", "table": "menu_items", "parent_id": "@ITEM"},
                {"do": "modify", "sql": "update menu_items set name = 'Sub' where id = :id", "params": {"id": "@sub"}},
                {"do": "select", "sql": "select name from menu_items where parent_id = :id", "params": {"id": "@item"}},
                {"do": "dependent", "table": "menu_items", "ids": ["@item"]},
            ]),
        );
        assert_eq!(answer["ok"], json!(true), "{answer}");
        assert_eq!(answer["changed"], json!(["menu_items", "menus", "tags"]), "{answer}");
        let steps = answer["steps"].as_array().unwrap();
        assert_eq!((&steps[0]["affected"], steps[0]["ids"].as_array().unwrap().len()), (&json!(2), 2));
        assert_eq!(steps[1]["affected"], json!(1));
        assert_eq!(steps[4]["affected"], json!(1));
        assert_eq!(steps[5]["data"], json!([{"name": "Sub"}]));
        assert_eq!(steps[6]["depend"][0]["count"], json!(1), "{answer}");
        assert_eq!(
            rows(&store, "select name from tags order by id"),
            json!([{"name": "New"}, {"name": "@unknown"}])
        );
        // An error takes all back; without `atomic` what was before it stays.
        let steps = json!([
            {"do": "insert", "table": "tags", "rows": [{"skey": "third", "name": "Third"}]},
            {"do": "insert", "table": "tags", "rows": [{"skey": "fourth", "name": "Fourth"}, {"skey": "third", "name": "Again"}]},
            {"do": "modify", "sql": "delete from tags"},
        ]);
        let answer = pool(&store, steps.clone());
        assert_eq!(
            (&answer["ok"], &answer["rolled_back"], answer["steps"].as_array().unwrap().len()),
            (&json!(false), &json!(true), 2)
        );
        assert_eq!(rows(&store, "select count(*) as n from tags"), json!([{"n": 2}]));
        let answer = execute(&store, json!({"pool": steps, "atomic": false}));
        assert_eq!(
            (&answer["ok"], &answer["rolled_back"], &answer["changed"]),
            (&json!(false), &json!(false), &json!(["tags"]))
        );
        assert_eq!(rows(&store, "select count(*) as n from tags"), json!([{"n": 3}]));
        // A preview tells and keeps nothing.
        let gone = json!([{"do": "modify", "sql": "delete from tags"}]);
        let answer = execute(&store, json!({"pool": gone, "preview": true}));
        assert_eq!(
            (&answer["ok"], &answer["rolled_back"], &answer["steps"][0]["affected"]),
            (&json!(true), &json!(true), &json!(3))
        );
        assert_eq!(rows(&store, "select count(*) as n from tags"), json!([{"n": 3}]));
    });
}

#[test]
fn steps_that_are_not_of_their_form_are_told() {
    on_both(|store| {
        for (step, words) in [
            (json!({"do": "generate"}), "Unknown step: generate"),
            (json!({}), "Unknown step: "),
            (json!("select 1"), "This step is not of its form"),
            (json!({"do": "select", "statement": "select 1"}), "This step is not of its form: unknown field"),
            (json!({"do": "select", "sql": "explain select 1"}), "An EXPLAIN of a"),
            (json!({"do": "select", "sql": "delete from tags"}), "This command reads only"),
            (
                json!({"do": "select", "sql": "select password_hash from users"}),
                "Never readable here: password_hash",
            ),
            (json!({"do": "select", "sql": "select 1; select 2"}), "One statement a step"),
            (json!({"do": "modify"}), "This step is not of its form"),
            (json!({"do": "modify", "sql": "drop table tags"}), "This step changes the tables themselves"),
            (json!({"do": "modify", "sql": "truncate tags"}), "This step changes the tables themselves"),
            (json!({"do": "modify", "sql": "select 1"}), "A modify step carries out"),
            (json!({"do": "modify", "sql": "delete from tags; delete from tags"}), "One statement a step"),
            (json!({"do": "modify", "sql": "delete from users"}), "Closed to direct writes: users"),
            (json!({"do": "modify", "sql": "delete from orders"}), "Closed to direct writes: orders"),
            (json!({"do": "modify", "sql": "delete from nothing"}), "Unknown table: nothing"),
            (json!({"do": "modify", "sql": "delete from tags", "params": [1]}), "The params of this step"),
            (json!({"do": "modify", "sql": "delete from tags where id = :x"}), "parameter `x` has no place"),
            (json!({"do": "insert", "table": "tags"}), "The field rows takes a list of rows"),
            (json!({"do": "insert", "table": "tags", "rows": [1]}), "The field rows takes a list of rows"),
            (json!({"do": "insert", "table": "tags", "rows": []}), "Nothing to insert:"),
            (
                json!({"do": "insert", "table": "tags", "rows": [{"skey": "a", "name": "A"}, {"skey": "b"}]}),
                "Row 2 has other columns",
            ),
            (
                json!({"do": "insert", "table": "tags", "rows": [{"nothing": 1}]}),
                "tags has no column `nothing`",
            ),
            (
                json!({"do": "insert", "table": "users", "rows": [{"login": "x"}]}),
                "Closed to direct writes: users",
            ),
            (json!({"do": "insert", "table": "nothing", "rows": [{"a": 1}]}), "Unknown table: nothing"),
            (json!({"do": "dependent", "table": "tags", "ids": ["x"]}), "The ids of this step"),
            (json!({"do": "lock"}), "The tables of this step"),
            (json!({"do": "lock", "tables": ["nothing"]}), "Unknown table: nothing"),
            (json!({"do": "unlock", "tables": ["tags"]}), "Not locked by this pool: tags"),
            (json!({"do": "tree_add", "table": "tags", "parent_id": 0}), "Not a tree table: tags"),
            (
                json!({"do": "tree_add", "table": "operations", "parent_id": 0}),
                "This tree is not for the agent:",
            ),
            (json!({"do": "tree_add", "table": "nothing", "parent_id": 0}), "Unknown table: nothing"),
            (json!({"do": "tree_add", "table": "categories"}), "The parent_id of this step"),
            (json!({"do": "tree_add", "table": "categories", "parent_id": 7}), "No parent 7 in categories"),
            (
                json!({"do": "tree_up", "table": "categories", "id": "@x"}),
                "The id of this step takes a whole number",
            ),
            (json!({"do": "tree_up", "table": "categories", "id": 7}), "No node 7 in categories"),
            (json!({"do": "tree_remove", "table": "categories", "id": 7}), "No node 7 in categories"),
            (
                json!({"do": "tree_move", "table": "categories", "id": 7, "parent_id": 0}),
                "No such node, or the parent sits inside",
            ),
            (json!({"do": "clear_dependent", "table": "users"}), "This sweep is not for the agent:"),
            (json!({"do": "clear_dependent", "table": "names"}), "No dependent list for names"),
            (json!({"do": "clear_dependent", "table": "nothing"}), "Unknown table: nothing"),
        ] {
            let said = error(&store, step.clone());
            assert!(said.starts_with(words), "{step}: {said}");
        }
        let answer = pool(
            &store,
            json!([{"do": "lock", "tables": ["files"]}, {"do": "clear_dependent", "table": "products"}]),
        );
        let said = answer["steps"][1]["error"].as_str().unwrap();
        assert!(said.starts_with("Unlock before this sweep: files"), "{answer}");
    });
}

#[test]
fn nodes_of_trees_are_added_moved_and_removed() {
    on_both(|store| {
        let answer = pool(
            &store,
            json!([
                {"do": "tree_add", "name": "a", "table": "categories", "parent_id": 0},
                {"do": "tree_add", "name": "b", "table": "categories", "parent_id": 0},
                {"do": "tree_add", "name": "c", "table": "categories", "parent_id": "@a"},
                {"do": "tree_up", "table": "categories", "id": "@b"},
                {"do": "tree_move", "table": "categories", "id": "@a", "parent_id": "@b"},
                {"do": "tree_down", "table": "categories", "id": "@a"},
                {"do": "select", "sql": "select depth from category_closure where ancestor = :b and descendant = :c", "params": {"b": "@b", "c": "@c"}},
            ]),
        );
        assert_eq!(answer["ok"], json!(true), "{answer}");
        assert_eq!(answer["steps"][6]["data"], json!([{"depth": 2}]), "{answer}");
        let value = |at: usize| answer["steps"][at]["value"].clone();
        let (top, inner) = (value(1), value(2));
        let said =
            error(&store, json!({"do": "tree_move", "table": "categories", "id": top, "parent_id": inner}));
        assert!(said.starts_with("No such node, or the parent sits inside"), "{said}");
        let answer = pool(&store, json!([{"do": "tree_remove", "table": "categories", "id": top}]));
        assert_eq!(answer["steps"][0]["deleted"], json!(3), "{answer}");
        assert_eq!(
            rows(&store, "select count(*) as n from categories where deleted is null"),
            json!([{"n": 0}])
        );
        // An item at the top is of the one menu; of two it is not clear.
        let menu =
            |key: &str| json!({"do": "insert", "table": "menus", "rows": [{"skey": key, "name": key}]});
        let add = json!({"do": "tree_add", "name": "x", "table": "menu_items", "parent_id": 0});
        let answer = pool(
            &store,
            json!([menu("one"), add, {"do": "tree_add", "table": "menu_items", "parent_id": "@x"}]),
        );
        assert_eq!(answer["ok"], json!(true), "{answer}");
        let item = answer["steps"][1]["value"].clone();
        let answer = pool(&store, json!([menu("two"), add]));
        assert!(answer["steps"][1]["error"].as_str().unwrap().starts_with("It is not clear which menu"));
        let answer = pool(&store, json!([{"do": "tree_remove", "table": "menu_items", "id": item}]));
        assert_eq!(answer["steps"][0]["deleted"], json!(2), "{answer}");
    });
}

#[test]
fn rows_tied_to_rows_that_are_gone_are_swept() {
    on_both(|store| {
        let text = |entity: &str, id: Value| json!({"entity": entity, "elem_id": id, "language": "en", "field": "title", "value": "t"});
        let answer = pool(
            &store,
            json!([
                {"do": "tree_add", "name": "there", "table": "categories", "parent_id": 0},
                {"do": "insert", "table": "texts", "rows": [text("categories", json!("@there")), text("categories", json!(777)), text("products", json!(777))]},
                {"do": "clear_dependent", "table": "categories"},
                {"do": "select", "sql": "select entity from texts where value = 't' order by entity"},
            ]),
        );
        assert_eq!(answer["ok"], json!(true), "{answer}");
        let cleared = &answer["steps"][2]["cleared"]["rows"];
        assert!(cleared.as_array().unwrap().contains(&json!(["texts", 1])), "{answer}");
        assert_eq!(answer["steps"][3]["data"], json!([{"entity": "categories"}, {"entity": "products"}]));
        store.take(&store.oleg, "texts", 600);
        let answer = pool(&store, json!([{"do": "clear_dependent", "table": "products"}]));
        assert!(
            answer["steps"][0]["cleared"]["rows"].as_array().unwrap().contains(&json!(["texts", "busy"])),
            "{answer}"
        );
    });
}

#[test]
fn a_table_in_work_elsewhere_is_not_written() {
    on_both(|store| {
        store.take(&store.oleg, "tags", 600);
        for step in [
            json!({"do": "insert", "table": "tags", "rows": [{"skey": "a", "name": "A"}]}),
            json!({"do": "modify", "sql": "delete from tags"}),
            json!({"do": "lock", "tables": ["menus", "tags"]}),
        ] {
            let said = error(&store, step.clone());
            assert!(said.starts_with("Table is busy: tags") && said.contains("oleg"), "{step}: {said}");
        }
        let answer = pool(
            &store,
            json!([
                {"do": "lock", "tables": ["MENUS", "menu_items"]},
                {"do": "insert", "table": "menus", "rows": [{"skey": "m", "name": "M"}]},
                {"do": "unlock", "tables": ["menus"]},
            ]),
        );
        assert_eq!(
            (&answer["ok"], &answer["unlocked"], &answer["steps"][0]["tables"]),
            (&json!(true), &json!(["menu_items"]), &json!(["menu_items", "menus"])),
            "{answer}"
        );
        let locks = store.data(&store.admin, "engine_db_locks", json!({}));
        assert_eq!(locks["locks"]["rows"].as_array().unwrap().len(), 1, "{locks}");
    });
}

#[test]
fn many_rows_and_lists_in_cells() {
    on_both(|store| {
        let many: Vec<Value> = (0..12_000).map(|n| json!({"skey": format!("t{n}"), "name": "x"})).collect();
        let answer = pool(&store, json!([{"do": "insert", "table": "tags", "rows": many}]));
        assert_eq!(answer["steps"][0]["affected"], json!(12_000), "{}", answer["ok"]);
        let said = error(&store, json!({"do": "modify", "sql": "delete from tags"}));
        assert!(said.contains("more than 10000 rows"), "{said}");
        let answer = pool(
            &store,
            json!([{"do": "insert", "table": "tags", "rows": [{"skey": "list", "name": ["a", 1]}]}]),
        );
        assert_eq!(answer["ok"], json!(true), "{answer}");
        assert_eq!(rows(&store, "select name from tags where skey = 'list'"), json!([{"name": "[\"a\",1]"}]));
    });
}
