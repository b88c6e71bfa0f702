//! What a transaction promises, on either driver.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;

use db::{Db, DbError, Dialect, Value, users};

use crate::fixture::{Fixture, count, on_both, person};

fn table(db: &Db) {
    let sql = match db.dialect() {
        Dialect::Sqlite => {
            "create table v (id integer primary key, b boolean, i bigint, r double precision, t text, y blob)"
        }
        Dialect::Postgres => {
            "create table v (id bigint primary key, b boolean, i bigint, r double precision, t text, y bytea)"
        }
    };
    db.write::<_, DbError>(|tx| tx.run(sql, &[])).unwrap();
}

on_both! {
    fn awkward_values_come_back_as_they_went(db: &Db) {
        table(db);
        let texts = [
            "", " ", "'", "\"", "\\", "\\x41", "%_", ":name", "$1", "?", "--", "/*", "NULL", "null", "true", "0", "1e5",
            "\n\r\t", "Ёлка", "日本語", "\u{1F384}\u{200D}", "\u{301}e", "\u{FEFF}bom", "\u{7F}\u{1}", "{\"a\":1}",
        ];
        let long = "ж".repeat(1_000_000);
        let ints = [0, 1, -1, 255, 256, i64::from(i32::MAX) + 1, i64::MIN, i64::MAX, 1 << 53, (1 << 53) + 1];
        let reals = [0.0, -0.5, 0.1, 1e-300, 1e300, f64::MIN_POSITIVE, f64::MAX, 2.0, 1.0 / 3.0, -123_456.789];
        let bytes = [vec![], vec![0], vec![255, 0, 1], b"text".to_vec(), (0..=255).collect()];
        let mut cases: Vec<(&str, Value)> = Vec::new();
        cases.extend(texts.iter().map(|text| ("t", Value::from(*text))));
        cases.push(("t", Value::from(&long)));
        cases.extend(ints.iter().map(|int| ("i", Value::from(*int))));
        cases.extend(reals.iter().map(|real| ("r", Value::from(*real))));
        cases.extend(bytes.iter().map(|bytes| ("y", Value::from(bytes.clone()))));
        cases.extend(["b", "i", "r", "t", "y"].map(|column| (column, Value::Null)));
        cases.extend([("b", Value::Bool(true)), ("b", Value::Bool(false))]);
        for (id, (column, value)) in (0i64..).zip(&cases) {
            let sql = format!("insert into v (id, {column}) values (:id, :value)");
            db.write::<_, DbError>(|tx| tx.run(&sql, &[("id", id.into()), ("value", value.clone())])).unwrap();
            let row = db.read::<_, DbError>(|tx| {
                tx.row(&format!("select {column} as got from v where id = :id"), &[("id", id.into())])
            }).unwrap().unwrap();
            match value {
                // SQLite keeps truth as a number.
                Value::Bool(truth) => assert_eq!(row.get::<bool>("got").unwrap(), *truth),
                other => assert_eq!(row.value("got"), Some(other), "case {id} in {column}"),
            }
            let found = db.read::<_, DbError>(|tx| {
                tx.rows(&format!("select id from v where id = :id and {column} = :value"), &[("id", id.into()), ("value", value.clone())])
            }).unwrap();
            assert_eq!(found.len(), usize::from(*value != Value::Null), "case {id} in {column}");
        }
    }

    fn a_reading_transaction_changes_nothing(db: &Db) {
        person(db, "irina", None);
        for sql in ["delete from users", "update users set name = 'x'", "create table x (id int)", "drop table journal_changes"] {
            let refused = db.read::<_, DbError>(|tx| tx.run(sql, &[]));
            assert!(refused.is_err(), "{sql}");
        }
        assert_eq!(db.read(users::all).unwrap()[0].name, "Name of irina");
    }

    fn an_error_and_a_panic_take_everything_back(db: &Db) {
        let change = |tx: &mut db::Tx| tx.run("insert into groups (name) values ('x')", &[]).map(|_| ());
        let before = count(db, "groups");
        let failed: Result<(), DbError> = db.write(|tx| { change(tx)?; Err(DbError::Busy) });
        assert!(matches!(failed, Err(DbError::Busy)));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            db.write::<(), DbError>(|tx| { change(tx)?; panic!("in the middle") })
        }));
        assert!(panicked.is_err());
        let refused: Result<u64, DbError> = db.write(|tx| { change(tx)?; tx.run("insert into nothing values (1)", &[]) });
        assert!(matches!(refused, Err(DbError::Sql(_))));
        assert_eq!(count(db, "groups"), before);
        db.write::<_, DbError>(change).unwrap();
        assert_eq!(count(db, "groups"), before + 1);
    }

    fn parameters_must_fit_the_statement(db: &Db) {
        let run = |sql: &str, params: &[(&str, Value)]| db.read::<_, DbError>(|tx| tx.rows(sql, params)).unwrap_err();
        for error in [
            run("select id from users where id = :id", &[]),
            run("select id from users where id = :id", &[("other", 1i64.into())]),
            run("select id from users where id = :id", &[("id", 1i64.into()), ("other", 1i64.into())]),
            run("select id from users", &[("id", 1i64.into())]),
        ] {
            assert!(matches!(error, DbError::Parameter(_)), "{error:?}");
        }
        person(db, "irina", None);
        let row = db.read::<_, DbError>(|tx| tx.row("select login, id from users", &[])).unwrap().unwrap();
        assert!(matches!(row.get::<i64>("login"), Err(DbError::Column { .. })));
        assert!(matches!(row.get::<i64>("nothing"), Err(DbError::Column { .. })));
        assert_eq!(row.columns(), ["login", "id"]);
    }

    fn a_reader_sees_one_moment_whatever_others_write(db: &Db) {
        person(db, "irina", None);
        let seen = db.read::<_, DbError>(|tx| {
            let before = users::all(tx)?.len();
            thread::scope(|scope| scope.spawn(|| person(db, "oleg", None)).join().unwrap());
            Ok((before, users::all(tx)?.len()))
        }).unwrap();
        assert_eq!(seen, (1, 1));
        assert_eq!(db.read(users::all).unwrap().len(), 2);
    }

    fn no_change_of_many_writers_is_lost(db: &Db) {
        let user = person(db, "irina", None);
        let start = Barrier::new(6);
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    start.wait();
                    for _ in 0..20 {
                        db.write::<_, DbError>(|tx| {
                            tx.lock_row("users", user)?;
                            let version = users::by_id(tx, user)?.unwrap().password_version;
                            tx.run(
                                "update users set password_version = :version where id = :id",
                                &[("version", (version + 1).into()), ("id", user.into())],
                            )
                        }).unwrap();
                    }
                });
            }
        });
        assert_eq!(db.read(|tx| users::by_id(tx, user)).unwrap().unwrap().password_version, 121);
    }

    fn text_is_ordered_by_code_points(db: &Db) {
        for login in ["б", "B", "a", "_", "я", "Z", "1"] {
            person(db, login, None);
        }
        let rows = db.read::<_, DbError>(|tx| tx.rows("select login from users order by login", &[])).unwrap();
        let order: Vec<String> = rows.iter().map(|row| row.get("login").unwrap()).collect();
        assert_eq!(order, ["1", "B", "Z", "_", "a", "б", "я"]);
    }
}

#[test]
fn another_process_may_write_the_same_file_at_the_same_time() {
    let place = Fixture::sqlite();
    let first = place.seeded();
    let second = place.open();
    thread::scope(|scope| {
        for (name, db) in [("a", &*first), ("b", &second)] {
            scope.spawn(move || {
                for n in 0..40 {
                    person(db, &format!("{name}{n}"), None);
                }
            });
        }
    });
    assert_eq!(first.read(users::all).unwrap().len(), 80);
    assert_eq!(second.read(users::all).unwrap().len(), 80);
}

#[test]
fn a_connection_closed_by_the_server_is_replaced() {
    let Some(place) = Fixture::postgres() else { return };
    let db = place.seeded();
    person(&db, "irina", None);
    let killer = place.open();
    let sql = "select pg_terminate_backend(pid) as done from pg_stat_activity
               where pid <> pg_backend_pid() and query not like '%pg_terminate%'
               and pid in (select pid from pg_locks where false union select pid from pg_stat_activity
                           where application_name = 'victim')";
    let victim = Db::open(&format!("{}&application_name=victim", place.url), place.root()).unwrap();
    assert_eq!(victim.read(users::all).unwrap().len(), 1);
    let killed = killer.write::<_, DbError>(|tx| tx.rows(sql, &[])).unwrap();
    assert_eq!(killed.len(), 1);
    assert_eq!(victim.read(users::all).unwrap().len(), 1);
}

#[test]
fn a_commit_of_sqlite_waits_for_the_disk() {
    let place = Fixture::sqlite();
    let db = place.seeded();
    let pragma = |name: &str| {
        let rows = db.write::<_, DbError>(|tx| tx.rows(&format!("pragma {name}"), &[])).unwrap();
        rows[0].values()[0].clone()
    };
    // 2 is `full`.
    assert_eq!(pragma("synchronous"), Value::Int(2));
    assert_eq!(pragma("journal_mode"), Value::Text("wal".to_owned()));
    assert_eq!(pragma("foreign_keys"), Value::Int(1));
}
