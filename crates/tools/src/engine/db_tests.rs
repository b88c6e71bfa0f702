//! Tests of what agents read of the database.

use std::fs;

use serde_json::{Value, json};

use crate::test_store::{TestStore, on_both};

fn pool(store: &TestStore, steps: Value) -> Value {
    store.data(&store.admin, "engine_db_select", json!({"pool": steps}))
}

/// What a single statement that fails says.
fn error(store: &TestStore, sql: &str, params: Value) -> String {
    let answer = pool(store, json!([{"do": "select", "sql": sql, "params": params}]));
    assert_eq!(
        (&answer["ok"], answer["steps"].as_array().unwrap().len()),
        (&json!(false), 1),
        "{sql}: {answer}"
    );
    answer["steps"][0]["error"].as_str().unwrap_or_else(|| panic!("{sql}: {answer}")).to_owned()
}

pub(super) fn everything(store: &TestStore) -> String {
    let rows = |tx: &mut db::Tx| {
        let mut all = String::new();
        for table in ["users", "groups", "user_groups", "notes", "operations", "secrets", "tickets"] {
            let count =
                tx.row(&format!("select count(*) as n from {table}"), &[])?.unwrap().get::<i64>("n")?;
            all.push_str(&format!("{table} {count}\n"));
        }
        Ok::<_, db::DbError>(all)
    };
    store.db.read(rows).unwrap()
}

/// Statements that want more than to read.
pub(super) const TRICKS: &[&str] = &[
    "delete from notes",
    "DELETE FROM notes",
    "/* select */ delete from notes",
    "-- select\nupdate users set login = 'x'",
    "with gone as (delete from notes returning *) select * from gone",
    "with gone as (select 1) delete from notes",
    "insert into notes default values",
    "select 1; delete from notes",
    "select 1;; select 2",
    "begin",
    "commit",
    "rollback",
    "savepoint a",
    "vacuum",
    "analyze",
    "explain select 1",
    "explain analyze select 1",
    "pragma query_only = off",
    "attach database 'x' as x",
    "copy users to '/tmp/x'",
    "set role postgres",
    "reset role",
    "do $$ begin delete from notes; end $$",
    "call x()",
    "lock table users",
    "create table own_x (id int)",
    "create temp table t as select 1",
    "select * into own_y from users",
    "drop table users",
    "grant all on users to public",
    "select password_hash from users",
    "select u.password_hash from users u",
    "select value from secrets",
    "select * from tickets",
    "select count(*) from tickets",
    "with x as (select 1) select count(*) from secrets",
    "select * from main.users where password_hash > ''",
    "select * from sqlite_master",
    "select * from pg_shadow",
    "select pg_sleep(1)",
    "select pg_read_file('/etc/passwd')",
    "select load_extension('x')",
    "select readfile('/etc/passwd')",
    "select writefile('/tmp/x', 'x')",
    "select * from public.users",
    "select lo_import('/etc/passwd')",
    "select dblink('x', 'y')",
    "select set_config('role', 'postgres', false)",
    "select * from users for update",
    "select nextval('notes_id_seq')",
    "notify x",
    "listen x",
    "table secrets",
    "",
    " ",
    ";",
    "\u{0}",
    "select 1 \u{0} ; delete from notes",
    "select :x",
    "select ?1",
    "select $1",
];

#[test]
fn whatever_a_statement_tries_it_reads_only_and_no_secret() {
    on_both(|store| {
        let before = everything(&store);
        for sql in TRICKS {
            let said = error(&store, sql, json!({}));
            assert!(!said.is_empty() && said.len() < 700, "{sql}: {said}");
        }
        assert_eq!(everything(&store), before);
        let users = pool(&store, json!([{"do": "select", "sql": "select * from users order by id"}]));
        // Rows of a statement's own table are counted, those of a table that is a secret are not.
        let own = "with few as (select id from users) select count(*) as n from few";
        assert_eq!(pool(&store, json!([{"do": "select", "sql": own}]))["ok"], json!(true));
        let first = users["steps"][0]["data"][0].as_object().unwrap().clone();
        assert!(first.contains_key("login") && !first.contains_key("password_hash"), "{first:?}");
    });
}

#[test]
fn values_come_by_name_and_are_the_same_everywhere() {
    on_both(|store| {
        let sql = "select :text as t, :whole as w, :truth as b, :nothing as n, ':text' as quoted, 'x'::text as cast_one";
        let sql = if store.db.dialect() == db::Dialect::Sqlite {
            sql.replace("'x'::text", "'x'")
        } else {
            sql.to_owned()
        };
        let params = json!({"text": "it's ; -- \u{2028}", "whole": 9_007_199_254_740_993_i64, "truth": true, "nothing": null});
        let answer = pool(&store, json!([{"do": "select", "sql": sql, "params": params}]));
        let row = &answer["steps"][0]["data"][0];
        assert_eq!(
            (&row["t"], &row["quoted"], &row["n"]),
            (&json!("it's ; -- \u{2028}"), &json!(":text"), &json!(null)),
            "{answer}"
        );
        assert_eq!(row["w"], json!("9007199254740993"), "{answer}");
        for params in [json!({"x": [1]}), json!({"x": {"a": 1}}), json!({"other": 1})] {
            error(&store, "select id from users where id = :x", params);
        }
    });
}

#[test]
fn much_is_counted_and_goes_to_a_file() {
    on_both(|store| {
        let many = |n: u32| {
            format!(
                "with recursive n(i) as (select 1 union all select i + 1 from n where i < {n}) select i from n"
            )
        };
        let said = error(&store, &many(7000), json!({}));
        assert!(said.starts_with("Too many rows: 7000."), "{said}");
        let answer =
            pool(&store, json!([{"do": "select", "sql": many(7000), "big": true, "name": "numbers"}]));
        let step = &answer["steps"][0];
        let file = step["file"].as_str().unwrap();
        assert_eq!((&step["rows"], step.get("data")), (&json!(7000), None));
        assert!(file.contains("/queries/") && file.ends_with(".numbers.jsonl"), "{file}");
        let lines = fs::read_to_string(file).unwrap();
        assert_eq!((lines.lines().count(), lines.lines().last()), (7000, Some("{\"i\":7000}")));
        let two = "select :a as t union all select :b";
        let params = json!({"a": "a".repeat(60_000), "b": "b".repeat(60_000)});
        let answer =
            pool(&store, json!([{"do": "select", "name": "../../up", "sql": two, "params": params}]));
        assert!(answer["steps"][0]["file"].as_str().unwrap().ends_with(".1.jsonl"), "{answer}");
    });
}

#[test]
fn a_pool_stops_at_its_first_error() {
    on_both(|store| {
        let answer = pool(
            &store,
            json!([
                {"do": "select", "name": "one", "sql": "select 1 as n"},
                {"do": "dependent", "table": "nothing"},
                {"do": "select", "sql": "select 2 as n"},
            ]),
        );
        assert_eq!(answer["ok"], json!(false));
        let steps = answer["steps"].as_array().unwrap();
        assert_eq!(
            (steps.len(), &steps[0]["name"], &steps[0]["data"]),
            (2, &json!("one"), &json!([{"n": 1}]))
        );
        assert_eq!(steps[1]["error"], json!("Unknown table: nothing. engine_db_tables lists them."));
        for step in
            [json!({"do": "insert", "table": "notes"}), json!("select 1"), json!({}), json!({"do": "select"})]
        {
            assert_eq!(pool(&store, json!([step]))["ok"], json!(false), "{step}");
        }
        let groups = pool(&store, json!([{"do": "dependent", "table": "groups", "ids": [store.managers]}]));
        let depend = groups["steps"][0]["depend"].as_array().unwrap();
        assert!(depend.iter().any(|one| one["table"] == "users" && one["count"] == json!(1)), "{depend:?}");
        let (refusal, _) =
            store.refused(&store.admin, "engine_db_select", json!({"pool": vec![json!({}); 1001]}));
        assert_eq!(refusal, "too_many_steps");
    });
}

#[test]
fn a_table_tells_its_columns_and_no_secret() {
    on_both(|store| {
        let all = store.data(&store.admin, "engine_db_tables", json!({}));
        let names: Vec<&str> =
            all["tables"]["rows"].as_array().unwrap().iter().map(|row| row[0].as_str().unwrap()).collect();
        assert!(names.contains(&"products") && !names.contains(&"secrets"), "{names:?}");
        let users = store.data(&store.admin, "engine_db_tables", json!({"name": "USERS", "reload": true}));
        let columns = users["columns"]["rows"].as_array().unwrap();
        assert!(
            columns.iter().all(|column| column[0] != "password_hash")
                && columns.iter().any(|column| column[0] == "login")
        );
        let (refusal, text) = store.refused(&store.admin, "engine_db_tables", json!({"name": "produkt"}));
        assert_eq!(
            (refusal.as_str(), text.starts_with("Table \"produkt\" not found.")),
            ("table_not_found", true)
        );
    });
}
