//! Agents' statements that read: the same JSON for the same data on both databases.

use std::time::Duration;

use db::agent_sql::{Limits, Reader, SelectError, select};
use db::{Db, DbError, Dialect, Value as Sent};
use serde_json::{Value, json};

use crate::fixture::{Fixture, on_both, person};

fn ask(db: &Db, sql: &str, params: &Value) -> Result<Value, SelectError> {
    let params: Vec<_> =
        params.as_object().unwrap().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let table = select(db, sql, &params, &Limits::default())?;
    Ok(json!({"columns": table.columns, "rows": table.rows}))
}

fn rows(db: &Db, sql: &str, params: &Value) -> Value {
    ask(db, sql, params).unwrap_or_else(|cause| panic!("`{sql}`: {cause:?}"))["rows"].take()
}

/// A table of awkward values: the column each goes into, how it is written, what agents get.
fn awkward() -> Vec<(&'static str, Sent, Value)> {
    let mut cases: Vec<(&str, Sent, Value)> = Vec::new();
    for text in [
        "",
        " ",
        "'",
        "''",
        "\"",
        "\\",
        "\\x00",
        "%",
        ":name",
        "$1",
        "--",
        "null",
        "true",
        "0",
        "1.50",
        "\n",
        "\r\n",
        "\t",
        "Ёлка",
        "日本語",
        "e\u{301}",
        "\u{1F384}\u{200D}\u{1F384}",
        "\u{FEFF}",
        "\u{1}",
        "2026-11-30T10:00:00Z",
        "2026-11-30",
        "{\"a\": [1, 2]}",
        "</script>",
    ] {
        cases.push(("t", text.into(), json!(text)));
    }
    for int in [0, 1, -1, 42, i64::from(i32::MIN), 1 << 53, (1 << 53) + 1, i64::MAX, i64::MIN] {
        cases.push(("i", int.into(), json!(int)));
    }
    for (real, wanted) in [
        (0.0, json!(0)),
        (-0.0, json!(0)),
        (1.0, json!(1)),
        (-2.0, json!(-2)),
        (0.1, json!(0.1)),
        (1.0 / 3.0, json!(1.0 / 3.0)),
        (1e15, json!(1_000_000_000_000_000i64)),
        (1e22, json!(1e22)),
        (1e-7, json!(1e-7)),
        (f64::MAX, json!(f64::MAX)),
        (f64::INFINITY, json!("Infinity")),
        (f64::NEG_INFINITY, json!("-Infinity")),
    ] {
        cases.push(("r", real.into(), wanted));
    }
    for (decimal, wanted) in [
        ("0", json!(0)),
        ("1.0", json!(1)),
        ("19.90", json!(19.9)),
        ("-0.01", json!(-0.01)),
        ("1234567.8900", json!(1_234_567.89)),
        ("100000000000", json!(100_000_000_000i64)),
        ("0.0001", json!(0.0001)),
    ] {
        cases.push(("d", decimal.into(), wanted));
    }
    for (bytes, wanted) in
        [(vec![], "\\x"), (vec![0], "\\x00"), (b"text".to_vec(), "\\x74657874"), (vec![255, 254], "\\xfffe")]
    {
        cases.push(("y", bytes.into(), json!(wanted)));
    }
    cases.extend([("b", true.into(), json!(true)), ("b", false.into(), json!(false))]);
    cases.extend(["t", "i", "r", "d", "y", "b"].map(|column| (column, Sent::Null, Value::Null)));
    cases
}

on_both! {
    fn awkward_values_are_the_same_json_everywhere(db: &Db) {
        let sql = match db.dialect() {
            Dialect::Sqlite => "create table own_odd (id integer primary key, t text, i bigint, r double precision, d decimal(20, 4), y blob, b boolean)",
            Dialect::Postgres => "create table own_odd (id bigint primary key, t text, i bigint, r double precision, d decimal(20, 4), y bytea, b boolean)",
        };
        db.write::<_, DbError>(|tx| tx.run(sql, &[])).unwrap();
        // The views for agents follow the tables.
        db.migrate().unwrap();
        let cases = awkward();
        assert!(cases.len() >= 60);
        for (id, (column, value, _)) in (1i64..).zip(&cases) {
            // SQLite has no place for these two but this.
            let sql = format!("insert into own_odd (id, {column}) values (:id, :value)");
            db.write::<_, DbError>(|tx| tx.run(&sql, &[("id", id.into()), ("value", value.clone())])).unwrap();
        }
        let table = ask(db, "select id, t, i, r, d, y, b from own_odd order by id", &json!({})).unwrap();
        assert_eq!(table["columns"], json!(["id", "t", "i", "r", "d", "y", "b"]));
        for (at, (column, _, wanted)) in cases.iter().enumerate() {
            for (place, name) in ["t", "i", "r", "d", "y", "b"].iter().enumerate() {
                let wanted = if name == column { wanted } else { &Value::Null };
                assert_eq!(&table["rows"][at][place + 1], wanted, "row {at} column {name}");
            }
        }
        // By star as well, and through what keeps the column a column.
        assert_eq!(ask(db, "select * from own_odd order by id", &json!({})).unwrap(), table);
        assert_eq!(ask(db, "with x as (select * from own_odd) select * from x where id > 0 order by id;", &json!({})).unwrap(), table);
    }

    fn statements_give_the_same_rows_everywhere(db: &Db) {
        for login in ["admin", "irina", "Ёж"] {
            person(db, login, None);
        }
        for (sql, params, wanted) in [
            ("select 1 as a, 'x' as b, null as c", json!({}), json!([[1, "x", null]])),
            ("select id, blocked from users where login = :login", json!({"login": "irina"}), json!([[2, false]])),
            ("select login from users where id > :id and blocked = :no order by id", json!({"id": 1, "no": false}), json!([["irina"], ["Ёж"]])),
            ("select count(*) as n, sum(id) as s, avg(id) as a, min(login) as m from users", json!({}), json!([[3, 6, 2, "admin"]])),
            ("select avg(id) as a from users where id < 3", json!({}), json!([[1.5]])),
            ("select login from users where login like 'A%' or login like 'i_ina'", json!({}), json!([["irina"]])),
            ("select lower(login) as l from users where lower(login) = :name", json!({"name": "ёж"}), json!([["ёж"]])),
            ("select login || ':' || cast(id as text) as x from users where id in (:one, :three) order by id", json!({"one": 1, "three": 3}), json!([["admin:1"], ["Ёж:3"]])),
            ("select case when id = :id then 'it' else 'other' end as x from users order by id limit :most", json!({"id": 2, "most": 2}), json!([["other"], ["it"]])),
            ("select coalesce(main_group, :none) as g from users where id = 1", json!({"none": -1}), json!([[-1]])),
            ("select :text as t, :number as n, :real as r", json!({"text": "5", "number": 5, "real": 0.5}), json!([["5", 5, 0.5]])),
            ("select id from users where (:id is null or id = :id) order by id", json!({"id": null}), json!([[1], [2], [3]])),
            ("select id from users where (:login is null or login = :login) and id > :id", json!({"login": "irina", "id": 1}), json!([[2]])),
            ("select substr(login, :at, 2) as x, length(login) as n from users where id = 3", json!({"at": 1}), json!([["Ёж", 2]])),
            ("select login, row_number() over (order by login) as n from users order by n", json!({}), json!([["admin", 1], ["irina", 2], ["Ёж", 3]])),
            ("with recursive t(n) as (select 1 union all select n + 1 from t where n < 5) select sum(n) as s from t", json!({}), json!([[15]])),
            ("select replace('a-b', '-', '+') as r, trim('xax', 'x') as t, left('Ёлка', 2) as l, right('Ёлка', 2) as e, strpos('Ёлка', 'ка') as p", json!({}), json!([["a+b", "a", "Ёл", "ка", 3]])),
            ("select ceil(1.2) as c, floor(-1.2) as f, round(2.567, 1) as r, abs(-3) as a, sqrt(9) as s, power(2, 10) as p, 7 / 2 as d, 7 % 4 as m", json!({}), json!([[2, -2, 2.6, 3, 3, 1024, 3, 3]])),
            ("select greatest(1, null, 3) as g, least('b', 'a') as l", json!({}), json!([[3, "a"]])),
            ("select string_agg(login, ', ') as x from (select login from users order by id) q", json!({}), json!([["admin, irina, Ёж"]])),
            ("values (1, 'a'), (2, 'b')", json!({}), json!([[1, "a"], [2, "b"]])),
            ("(select 1 as a) union all (select 2) order by 1", json!({}), json!([[1], [2]])),
            ("select ':a; delete' as t -- :b ;\n;", json!({}), json!([[":a; delete"]])),
            ("select 1 as n where 1 = 0", json!({}), json!([])),
            ("select 1 as same, 2 as same", json!({}), json!([[1, 2]])),
            ("select tool from journal where actor = 'agent'", json!({}), json!([])),
        ] {
            // SQLite has no brackets around the parts of a union.
            let sql = if db.dialect() == Dialect::Sqlite { sql.replace("(select 1 as a) union all (select 2)", "select 1 as a union all select 2") } else { sql.to_owned() };
            assert_eq!(rows(db, &sql, &params), wanted, "`{sql}`");
        }
    }

    fn secrets_are_not_among_the_columns(db: &Db) {
        person(db, "irina", None);
        let table = ask(db, "select * from users", &json!({})).unwrap();
        assert_eq!(table["columns"], json!(["id", "login", "name", "password_version", "blocked", "main_group", "created", "login_folded"]));
        assert!(!table.to_string().contains("secret-hash"));
        let table = ask(db, "select * from leases", &json!({})).unwrap();
        assert_eq!(table["columns"], json!(["table_name", "user_id", "what", "since", "until"]));
    }

    fn wrong_statements_are_told_in_the_databases_words(db: &Db) {
        for sql in ["select nothing from users", "select * from nothing", "select", "select 1 +", "select 'open", "select nofunction(1)"] {
            let told = ask(db, sql, &json!({}));
            assert!(matches!(told, Err(SelectError::Wrong(_))), "`{sql}`: {told:?}");
        }
        let told = ask(db, "select nothing from users", &json!({})).unwrap_err().to_string();
        assert!(told.contains("nothing"), "{told}");
    }

    fn parameters_have_a_place_and_a_single_value(db: &Db) {
        for (sql, params, name) in [
            ("select 1 as a", json!({"a": 1}), "a"),
            ("select :a as a", json!({}), "a"),
            ("select :a as a", json!({"a": [1]}), "a"),
            ("select :a as a", json!({"a": {}}), "a"),
            ("select :a as a", json!({"a": "x\0"}), "a"),
        ] {
            let told = ask(db, sql, &params);
            assert!(matches!(&told, Err(SelectError::Parameter(told)) if told == name), "`{sql}`: {told:?}");
        }
        let hidden = rows(db, "select :a as a", &json!({"a": "'; delete from users; --"}));
        assert_eq!(hidden, json!([["'; delete from users; --"]]));
    }

    fn limits_hold(db: &Db) {
        let numbers = "with recursive t(n) as (select 1 union all select n + 1 from t where n < 50) select n from t";
        let few = |rows, value, bytes| Limits { rows, value, bytes, time: Duration::from_secs(5) };
        let ask = |sql: &str, limits: Limits| select(db, sql, &[], &limits).map(|table| table.rows.len());
        assert_eq!(ask(numbers, few(50, 100, 1000)).unwrap(), 50);
        assert!(matches!(ask(numbers, few(49, 100, 1000)), Err(SelectError::TooManyRows(49))));
        assert!(matches!(ask(numbers, few(50, 100, 399)), Err(SelectError::TooLarge)));
        assert_eq!(ask("select 'ёёёёё' as t", few(1, 10, 100)).unwrap(), 1);
        assert!(matches!(ask("select 'ёёёёё' as t", few(1, 9, 100)), Err(SelectError::TooLarge)));
        assert_eq!(ask(numbers, few(50, 100, 1000)).unwrap(), 50);
    }

    fn what_is_committed_is_seen_at_once(db: &Db) {
        for n in 1..=3i64 {
            person(db, &format!("p{n}"), None);
            assert_eq!(rows(db, "select count(*) as n from users", &json!({})), json!([[n]]));
        }
    }

    fn many_may_ask_at_once(db: &Db) {
        person(db, "irina", None);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        assert_eq!(rows(db, "select login from users", &json!({})), json!([["irina"]]));
                    }
                });
            }
        });
    }
}

#[test]
fn times_of_postgres_come_in_the_form_of_all_times() {
    let Some(place) = Fixture::postgres() else { return };
    let db = place.seeded();
    let sql = "select timestamptz '2026-11-30 12:00:00.5+02' as a, timestamp '2026-11-30 10:00:00' as b, date '2026-11-30' as c,
               cast('[1, 2]' as jsonb) as d, array[1, 2] as e, 12345678901234567890.5 as f, 'NaN'::float8 as g";
    let wanted = json!([[
        "2026-11-30T10:00:00.5Z",
        "2026-11-30T10:00:00",
        "2026-11-30",
        "[1, 2]",
        "{1,2}",
        12_345_678_901_234_567_890.5,
        null
    ]]);
    assert_eq!(rows(&db, sql, &json!({})), wanted);
}

#[test]
fn a_store_whose_login_for_agents_is_gone_makes_it_anew() {
    let Some(place) = Fixture::postgres() else { return };
    let db = place.seeded();
    db.write::<_, DbError>(|tx| tx.run("delete from secrets", &[])).unwrap();
    let told = ask(&db, "select 1 as a", &json!({}));
    assert!(matches!(told, Err(SelectError::NotReady(_))), "{told:?}");
    db.migrate().unwrap();
    assert_eq!(rows(&db, "select 1 as a", &json!({})), json!([[1]]));
}

/// A store on a database whose owner is no superuser.
fn with_an_owner_of(rights: &str, test: impl FnOnce(&Db)) {
    let Some(place) = Fixture::postgres() else { return };
    let server = place.open();
    let name = place.schema().unwrap();
    // What two tests do to the database's rights at once is in each other's way: one is told to try again.
    let run = |sql: String| {
        let is_done = |_: &u32| server.write::<_, DbError>(|tx| tx.run(&sql, &[])).is_ok();
        (0..50).find(is_done).unwrap()
    };
    let of_database: String = {
        let row =
            server.read::<_, DbError>(|tx| tx.row("select current_database()::text as name", &[])).unwrap();
        row.unwrap().get("name").unwrap()
    };
    run(format!("create role {name}_owner login {rights} password 'secret'"));
    run(format!("grant create on database {of_database} to {name}_owner"));
    run(format!("alter schema {name} owner to {name}_owner"));
    let at = place.url.find('@').unwrap();
    let url = format!("postgres://{name}_owner:secret{}", &place.url[at..]);
    let db = Db::open(&url, place.root()).unwrap();
    db.migrate().unwrap();
    db.migrate().unwrap();
    test(&db);
    drop(db);
    run(format!("drop owned by {name}_owner cascade"));
    run(format!("drop role {name}_owner"));
    run(format!("create schema if not exists {name}"));
}

#[test]
fn an_owner_that_may_make_logins_is_enough() {
    with_an_owner_of("createrole", |db| assert_eq!(rows(db, "select 1 as a", &json!({})), json!([[1]])));
}

#[test]
fn a_store_whose_owner_may_make_no_logins_works_but_for_agents_statements() {
    with_an_owner_of("nocreaterole", |db| {
        person(db, "irina", None);
        let told = ask(db, "select 1 as a", &json!({}));
        assert!(matches!(told, Err(SelectError::NotReady(_))), "{told:?}");
    });
}

#[test]
fn a_schema_of_somebody_else_is_not_dropped_for_the_views() {
    let Some(place) = Fixture::postgres() else { return };
    let schema = format!("{}_read", place.schema().unwrap());
    let db = place.open();
    let run = |sql: String| db.write::<_, DbError>(|tx| tx.run(&sql, &[]).map(drop)).unwrap();
    run(format!("create schema {schema}"));
    run(format!("create table {schema}.theirs (id bigint)"));
    db.migrate().unwrap();
    run(format!("insert into {schema}.theirs values (1)"));
    assert!(ask(&db, "select 1 as one", &json!({})).is_err());
    // Once they have moved out there is room.
    run(format!("drop table {schema}.theirs"));
    db.migrate().unwrap();
    assert_eq!(rows(&db, "select 1 as one", &json!({})), json!([[1]]));
    // Ours, as builds made it that did not say so.
    run(format!("comment on schema {schema} is null"));
    run("update secrets set value = '' where skey = 'reader_views'".to_owned());
    db.migrate().unwrap();
    let comment = format!("select obj_description('{schema}'::regnamespace, 'pg_namespace') as comment");
    let row = db.read::<_, DbError>(|tx| tx.row(&comment, &[])).unwrap().unwrap();
    assert!(row.get::<String>("comment").unwrap().contains("Shopwright"));
}

/// As through a pooler that hands no settings on.
#[test]
fn the_agents_login_sees_its_views_without_being_told_where_they_are() {
    let Some(place) = crate::fixture::Fixture::postgres() else { return };
    let db = place.seeded();
    person(&db, "irina", None);
    let sql = "select value from secrets where skey = 'reader_password'";
    let password: String = db.read::<_, DbError>(|tx| tx.row(sql, &[])?.unwrap().get("value")).unwrap();
    let sql = "select 'shopwright_' || left(md5(current_database() || '.' || current_schema()), 16) as role";
    let role: String = db.read::<_, DbError>(|tx| tx.row(sql, &[])?.unwrap().get("role")).unwrap();
    let server = std::env::var("TEST_DATABASE_URL").unwrap();
    let server = server.split('?').next().unwrap().rsplit_once('@').unwrap().1.to_owned();
    let plain = Db::open(&format!("postgres://{role}:{password}@{server}"), place.root()).unwrap();
    let found = plain.read::<_, DbError>(|tx| tx.rows("select login from users", &[])).unwrap();
    assert_eq!(found[0].get::<String>("login").unwrap(), "irina");
    assert!(plain.read::<_, DbError>(|tx| tx.rows("select password_hash from users", &[])).is_err());
}

on_both! {
    fn statements_of_one_reader_see_one_moment_also_after_a_mistake(db: &Db) {
        person(db, "anna", None);
        let limits = Limits::default();
        let mut reader = Reader::begin(db, Duration::from_secs(30)).unwrap();
        let count = |reader: &mut Reader| {
            let table = reader.select("select count(*) as n from users", &[], &limits).unwrap();
            table.rows[0][0].clone()
        };
        assert_eq!(count(&mut reader), json!(1));
        person(db, "boris", None);
        assert_eq!(count(&mut reader), json!(1));
        assert!(matches!(reader.select("select nothing", &[], &limits), Err(SelectError::Wrong(_))));
        let few = Limits { rows: 1, ..Limits::default() };
        let two = reader.select("select 1 as n union all select 2", &[], &few);
        assert!(matches!(two, Err(SelectError::TooManyRows(1))), "{two:?}");
        for own in ["begin", "commit", "rollback", "end"] {
            assert!(reader.select(own, &[], &limits).is_err(), "{own}");
        }
        assert_eq!(count(&mut reader), json!(1));
        let plan =
            reader.plan("select id from users where id = :id", &[("id".to_owned(), json!(1))], limits.time);
        let plan = plan.unwrap().join(" ").to_lowercase();
        assert!(plan.contains("users"), "{plan}");
        assert!(reader.plan("select password_hash from users", &[], limits.time).is_err());
        assert!(reader.plan("delete from users", &[], limits.time).is_err());
        drop(reader);
        assert_eq!(rows(db, "select count(*) as n from users", &json!({})), json!([[2]]));
    }
}
