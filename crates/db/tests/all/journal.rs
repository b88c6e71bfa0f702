//! The journal says what the rows say.

use std::collections::{BTreeMap, BTreeSet};

use db::journal::{self, Actor, Change, Entry};
use db::notes::{self, Owner};
use db::{Db, DbError, Dialect, schema};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::{Fixture, count, later, now, on_both, person};
use crate::work::fields;

/// The triggers that there are, as `change table`.
fn triggers(db: &Db) -> BTreeSet<String> {
    let sql = match db.dialect() {
        Dialect::Sqlite => {
            "select substr(name, 9, instr(substr(name, 9), '_') - 1) || ' ' || tbl_name as name from sqlite_master
             where type = 'trigger' and substr(name, 1, 8) = 'journal_'"
        }
        Dialect::Postgres => {
            "select substr(t.tgname, 9) || ' ' || c.relname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
             where c.relnamespace = current_schema()::regnamespace and t.tgname like 'journal%'
               and t.tgname <> 'journal_truncate'"
        }
    };
    db.read::<_, DbError>(|tx| tx.rows(sql, &[]))
        .unwrap()
        .iter()
        .map(|row| row.get("name").unwrap())
        .collect()
}

/// What the newest entry changed.
fn newest(db: &Db) -> Vec<Change> {
    db.read(|tx| journal::list(tx, None, 1)).unwrap().remove(0).changes
}

fn run(db: &Db, sql: &str, params: &[(&str, db::Value)]) {
    assert!(db.write::<_, DbError>(|tx| tx.run(sql, params)).unwrap() > 0, "{sql}");
}

on_both! {
    fn every_journalled_table_has_its_triggers_and_no_other(db: &Db) {
        let wanted = |with: &dyn Fn(&schema::TableSpec) -> bool| -> BTreeSet<String> {
            let tables = schema::tables().filter(|table| with(table));
            tables.flat_map(|table| ["insert", "update", "delete"].map(|change| format!("{change} {}", table.name))).collect()
        };
        assert_eq!(triggers(db), wanted(&|table| table.not_journalled.is_none()));
        // One that is lost is made anew by the next start.
        let lose = match db.dialect() {
            Dialect::Sqlite => "drop trigger journal_update_products",
            Dialect::Postgres => "drop trigger journal_update on products",
        };
        db.write::<_, DbError>(|tx| tx.run(lose, &[])).unwrap();
        assert_ne!(triggers(db), wanted(&|table| table.not_journalled.is_none()));
        db.migrate().unwrap();
        assert_eq!(triggers(db), wanted(&|table| table.not_journalled.is_none()));
    }

    fn what_every_store_has_is_nobodys_doing(db: &Db) {
        assert_eq!((count(db, "journal"), count(db, "journal_changes")), (0, 0));
        assert!(count(db, "operations") > 0);
    }

    fn one_transaction_is_one_entry_of_whoever_says_so(db: &Db) {
        let user = person(db, "irina", None);
        let mut entry = Entry::new(later(1), user, "AGENT_MEMORY_SAVE");
        (entry.tool, entry.application, entry.topic) = ("memory_save".into(), "claude-code".into(), "prices".into());
        (entry.key, entry.event, entry.princ_id) = (Some("k".into()), Some(7), Some(user));
        db.write(|tx| -> Result<(), DbError> {
            journal::by(tx, entry.clone());
            notes::create(tx, Owner::Own(user), &fields("one", "kDefault"), now())?;
            notes::create(tx, Owner::Own(user), &fields("two", "kDefault"), now())?;
            Ok(())
        }).unwrap();
        // One that changes nothing leaves nothing.
        db.write(|tx| -> Result<(), DbError> {
            journal::by(tx, Entry::new(now(), user, "AGENT_MEMORY_LIST"));
            tx.run("update notes set name = name", &[])?;
            tx.run("update counters set next = next + 1", &[])?;
            Ok(())
        }).unwrap();
        let list = db.read(|tx| journal::list(tx, None, 10)).unwrap();
        assert_eq!(list.len(), 2);
        entry.id = list[0].entry.id;
        assert_eq!(list[0].entry, entry);
        let names: Vec<_> = list[0].changes.iter().map(|change| &change.after.as_ref().unwrap()["name"]).collect();
        assert_eq!(names, ["one", "two"]);
        // The fixture's person was added by nobody who said so.
        assert_eq!((list[1].entry.actor, list[1].entry.user_id, list[1].changes[0].table.as_str()), (Actor::Store, None, "users"));
        assert_eq!(list[1].changes[0].after.as_ref().unwrap()["password_hash"], json!({"changed": true}));
        assert_eq!(db.read(|tx| journal::list(tx, list[0].entry.id, 10)).unwrap(), list[1..]);
        assert_eq!(db.read(|tx| journal::list(tx, None, 1)).unwrap(), list[..1]);
    }

    fn a_change_taken_back_leaves_no_entry(db: &Db) {
        let user = person(db, "irina", None);
        let before = (count(db, "journal"), count(db, "journal_changes"));
        let done: Result<(), DbError> = db.write(|tx| {
            notes::create(tx, Owner::Own(user), &fields("one", "kDefault"), now())?;
            Err(DbError::Busy)
        });
        assert!(done.is_err());
        assert_eq!((count(db, "journal"), count(db, "journal_changes")), before);
        // A part that is taken back takes its changes along, and the entry stays the transaction's.
        db.write(|tx| -> Result<(), DbError> {
            journal::by(tx, Entry::new(now(), user, "X"));
            tx.mark("part")?;
            notes::create(tx, Owner::Own(user), &fields("gone", "kDefault"), now())?;
            tx.end_mark("part", false)?;
            notes::create(tx, Owner::Own(user), &fields("kept", "kDefault"), now())?;
            Ok(())
        }).unwrap();
        let list = db.read(|tx| journal::list(tx, None, 1)).unwrap();
        assert_eq!((list[0].entry.command.as_str(), list[0].changes.len()), ("X", 1));
        assert_eq!(list[0].changes[0].after.as_ref().unwrap()["name"], "kept");
    }

    fn of_a_changed_row_the_columns_that_differ_are_kept_exactly(db: &Db) {
        let (_, variant) = db.write(|tx| Ok::<_, DbError>(crate::shop::product(tx, "p", None, 100, 0))).unwrap();
        let huge = i64::MAX - 1;
        run(db, "update variants set weight = :huge where id = :id", &[("huge", huge.into()), ("id", variant.into())]);
        let change = newest(db).remove(0);
        assert_eq!((change.table.as_str(), change.row_id), ("variants", variant));
        assert_eq!(change.after, Some(json!({"weight": huge})));
        // A cascade, a replaced row and a truth.
        run(db, "update operations set load_1 = 0.1, command = null where id = 1", &[]);
        assert_eq!(newest(db)[0].after.as_ref().unwrap()["load_1"], json!(0.1));
        run(db, "insert into menus (skey, name) values ('m', 'Ёлка \"x\" \\ \n')", &[]);
        assert_eq!(newest(db)[0].after.as_ref().unwrap()["name"], "Ёлка \"x\" \\ \n");
        // What a removed row takes along.
        let (irina, admins) = (person(db, "irina", None), crate::fixture::administrators(db));
        db.write(|tx| db::users::add_group(tx, irina, admins)).unwrap();
        run(db, "delete from users where id = :id", &[("id", irina.into())]);
        let gone: BTreeSet<_> = newest(db).into_iter().map(|change| (change.table, change.after.is_none())).collect();
        assert!(gone.contains(&("users".to_owned(), true)) && gone.contains(&("user_groups".to_owned(), true)), "{gone:?}");
        if db.dialect() == Dialect::Sqlite {
            run(db, "insert or replace into menus (id, skey, name) select id, skey, 'other' from menus where skey = 'm'", &[]);
            let both: Vec<_> = newest(db).into_iter().map(|change| (change.before.is_some(), change.after.is_some())).collect();
            assert_eq!(both, [(true, false), (false, true)]);
        } else {
            run_truncate(db);
        }
    }

    fn rows_without_numbers_are_known_by_the_whole_row(db: &Db) {
        let irina = person(db, "irina", None);
        let admins = crate::fixture::administrators(db);
        db.write(|tx| db::users::add_group(tx, irina, admins)).unwrap();
        let change = newest(db).remove(0);
        assert_eq!((change.table.as_str(), change.row_id, change.after), ("user_groups", 0, Some(json!({"user_id": irina, "group_id": admins}))));
    }

    fn a_long_value_lies_once_beside_the_journal(db: &Db) {
        let user = person(db, "irina", None);
        let body = "Ё\"".repeat(40_000);
        let save = |name: &str| {
            let fields = notes::Fields { body: body.clone(), ..fields(name, "kDefault") };
            db.write(|tx| notes::create(tx, Owner::Own(user), &fields, now())).unwrap();
            newest(db).remove(0).after.unwrap()["body"].clone()
        };
        let (one, two) = (save("one"), save("two"));
        assert_eq!(one, two);
        assert_eq!(one["size"], serde_json::to_string(&body).unwrap().len());
        assert_eq!(count(db, "journal_values"), 1);
        let kept = db.read::<_, DbError>(|tx| tx.row("select hash, value from journal_values", &[])).unwrap().unwrap();
        assert_eq!((kept.get::<Value>("value").unwrap(), Value::from(kept.get::<String>("hash").unwrap())), (Value::from(body), one["hash"].clone()));
    }

    fn old_entries_are_removed_in_steps(db: &Db) {
        let user = person(db, "irina", None);
        let left = count(db, "journal");
        for day in 0..3 {
            db.write(|tx| -> Result<(), DbError> {
                journal::by(tx, Entry::new(later(day * 86400), user, "X"));
                let body = "x".repeat(100_000);
                let fields = notes::Fields { body, ..fields("n", "kDefault") };
                for _ in 0..300 {
                    notes::create(tx, Owner::Own(user), &crate::work::fields("n", "kDefault"), now())?;
                }
                if day == 0 {
                    notes::create(tx, Owner::Own(user), &fields, now())?;
                }
                Ok(())
            }).unwrap();
        }
        assert_eq!(count(db, "journal_values"), 1);
        let mut steps = 0;
        // The fixture's entries are of the real day.
        while db.write(|tx| journal::prune(tx, later(86400 + 1))).unwrap() > 0 {
            steps += 1;
        }
        assert!(steps > 1, "{steps}");
        assert_eq!((count(db, "journal"), count(db, "journal_values")), (left + 1, 0));
        assert!(count(db, "journal_changes") >= 300);
    }
}

fn run_truncate(db: &Db) {
    db.write::<_, DbError>(|tx| tx.run("truncate menus cascade", &[])).unwrap();
    let gone = newest(db);
    assert!(!gone.is_empty() && gone.iter().all(|change| change.after.is_none()));
}

#[test]
fn another_program_that_changes_the_file_is_the_store() {
    let place = Fixture::sqlite();
    let db = place.seeded();
    let user = person(&db, "irina", None);
    let id = db.write(|tx| notes::create(tx, Owner::Own(user), &fields("one", "kDefault"), now())).unwrap();
    let file = rusqlite::Connection::open(place.root().join("core/store.db")).unwrap();
    file.execute_batch("begin; update notes set name = 'two'; update notes set name = 'three'; commit")
        .unwrap();
    let list = db.read(|tx| journal::list(tx, None, 1)).unwrap();
    assert_eq!((list[0].entry.actor, list[0].entry.command.as_str()), (Actor::Store, ""));
    let names: Vec<_> =
        list[0].changes.iter().map(|change| (change.row_id, change.after.clone().unwrap())).collect();
    assert_eq!(names, [(id, json!({"name": "two"})), (id, json!({"name": "three"}))]);
}

/// What a random call does.
#[derive(Clone, Debug)]
enum Step {
    Create(String),
    Update(usize, String),
    Remove(usize),
    /// Changes a note and then fails.
    Fail(usize, String),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => "[a-zа-я\u{1F384}'\"\\\\]{0,8}".prop_map(Step::Create),
        3 => (any::<usize>(), "[a-z%:$]{0,8}").prop_map(|(at, name)| Step::Update(at, name)),
        1 => any::<usize>().prop_map(Step::Remove),
        1 => (any::<usize>(), "[a-z]{0,8}").prop_map(|(at, name)| Step::Fail(at, name)),
    ]
}

/// Does a step as a call of an agent does.
fn play(db: &Db, user: i64, ids: &mut Vec<i64>, step: &Step) {
    let pick = |at: usize| if ids.is_empty() { 0 } else { ids[at % ids.len()] };
    let made: Result<Option<i64>, DbError> = db.write(|tx| {
        journal::by(tx, Entry::new(now(), user, "AGENT_MEMORY_SAVE"));
        match step {
            Step::Create(name) => {
                notes::create(tx, Owner::Own(user), &fields(name, "kDefault"), now()).map(Some)
            }
            Step::Update(at, name) => {
                notes::update(tx, pick(*at), &fields(name, "kSkill"), now()).map(|_| None)
            }
            Step::Fail(at, name) => {
                notes::update(tx, pick(*at), &fields(name, "kSkill"), now())?;
                Err(DbError::Busy)
            }
            Step::Remove(at) => notes::remove(tx, pick(*at)).map(|_| None),
        }
    });
    ids.extend(made.ok().flatten());
}

/// The notes as the journal says they must be.
pub(crate) fn replayed(db: &Db) -> BTreeMap<i64, Value> {
    let mut rows: BTreeMap<i64, Value> = BTreeMap::new();
    let mut entries = db.read(|tx| journal::list(tx, None, 1_000_000)).unwrap();
    entries.reverse();
    let changes = entries.into_iter().flat_map(|entry| entry.changes);
    for change in changes.filter(|change| change.table == "notes") {
        match (change.before, change.after) {
            (None, Some(after)) => assert_eq!(rows.insert(change.row_id, after), None),
            (before, None) => {
                assert_eq!(rows.remove(&change.row_id), before, "the row before it was removed")
            }
            (Some(before), Some(after)) => {
                let row = rows.get_mut(&change.row_id).unwrap().as_object_mut().unwrap();
                for (column, value) in before.as_object().unwrap() {
                    let after = after[column].clone();
                    assert_ne!(&after, value, "{column} does not differ");
                    assert_eq!(row.insert(column.clone(), after).as_ref(), Some(value), "{column} before");
                }
            }
        }
    }
    rows
}

/// The rows of the notes as they are.
pub(crate) fn real(db: &Db) -> BTreeMap<i64, Value> {
    db.write(|tx| -> Result<_, DbError> {
        let ids = tx.rows("select id from notes", &[])?;
        let mut rows = BTreeMap::new();
        for id in ids {
            let id = id.get("id")?;
            rows.extend(notes::row(tx, id)?.map(|row| (id, row)));
        }
        Ok(rows)
    })
    .unwrap()
}

fn journal_equals_rows(place: Option<Fixture>, cases: u32) {
    let Some(place) = place else { return };
    let db = place.seeded();
    let user = person(&db, "irina", None);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(steps in proptest::collection::vec(step(), 1..20))| {
        let mut ids: Vec<i64> = real(&db).into_keys().collect();
        for step in &steps {
            play(&db, user, &mut ids, step);
        }
        prop_assert_eq!(replayed(&db), real(&db));
    });
}

#[test]
fn journal_and_rows_agree_after_any_calls_on_sqlite() {
    journal_equals_rows(Some(Fixture::sqlite()), 24);
}

#[test]
fn journal_and_rows_agree_after_any_calls_on_postgres() {
    journal_equals_rows(Fixture::postgres(), 12);
}
