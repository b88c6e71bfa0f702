//! The journal says what the rows say.

use std::collections::BTreeMap;

use db::journal::{self, Entry};
use db::notes::{self, Owner};
use db::{Db, DbError, Tx};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::{Fixture, count, later, now, on_both, person};
use crate::work::fields;

on_both! {
    fn an_entry_is_written_with_its_first_change(db: &Db) {
        let user = person(db, "irina", None);
        let mut entry = Entry::new(now(), user, "AGENT_MEMORY_SAVE");
        entry.tool = "memory_save".into();
        entry.application = "claude-code".into();
        entry.topic = "prices".into();
        entry.key = Some("k".into());
        assert_eq!(count(db, "journal"), 0);
        db.write(|tx| -> Result<(), DbError> {
            journal::change(tx, &mut entry, "notes", 1, None, Some(&json!({"a": 1})))?;
            journal::change(tx, &mut entry, "notes", 2, Some(&json!({"a": 1})), None)
        }).unwrap();
        db.write(|tx| journal::refused(tx, &Entry::new(later(1), user, "AGENT_REPO_LIST"), "ACCESS_DENIED")).unwrap();
        let list = db.read(|tx| journal::list(tx, None, 10)).unwrap();
        assert_eq!(list.len(), 2);
        assert_eq!((list[0].refusal.as_deref(), list[0].changes.len()), (Some("ACCESS_DENIED"), 0));
        assert_eq!(list[1].entry, entry);
        assert_eq!(list[1].refusal, None);
        assert_eq!(list[1].changes[0].after, Some(json!({"a": 1})));
        assert_eq!((list[1].changes[1].row_id, &list[1].changes[1].after), (2, &None));
        assert_eq!(db.read(|tx| journal::list(tx, list[0].entry.id, 10)).unwrap(), list[1..]);
        assert_eq!(db.read(|tx| journal::list(tx, None, 1)).unwrap(), list[..1]);
    }

    fn a_change_taken_back_leaves_no_entry(db: &Db) {
        let user = person(db, "irina", None);
        let done: Result<(), DbError> = db.write(|tx| {
            journal::change(tx, &mut Entry::new(now(), user, "X"), "notes", 1, None, None)?;
            Err(DbError::Busy)
        });
        assert!(done.is_err());
        assert_eq!((count(db, "journal"), count(db, "journal_changes")), (0, 0));
    }
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

/// Does a step as a call of an agent does: change and journal in one transaction.
fn play(db: &Db, user: i64, ids: &mut Vec<i64>, step: &Step) {
    let pick = |at: usize| if ids.is_empty() { 0 } else { ids[at % ids.len()] };
    let mut entry = Entry::new(now(), user, "AGENT_MEMORY_SAVE");
    let made: Result<Option<i64>, DbError> = db.write(|tx| match step {
        Step::Create(name) => {
            let id = notes::create(tx, Owner::Own(user), &fields(name, "kDefault"), now())?;
            let after = notes::row(tx, id)?;
            journal::change(tx, &mut entry, "notes", id, None, after.as_ref())?;
            Ok(Some(id))
        }
        Step::Update(at, name) => update(tx, &mut entry, pick(*at), name).map(|()| None),
        Step::Fail(at, name) => {
            update(tx, &mut entry, pick(*at), name)?;
            Err(DbError::Busy)
        }
        Step::Remove(at) => {
            let before = notes::row(tx, pick(*at))?;
            if notes::remove(tx, pick(*at))? {
                journal::change(tx, &mut entry, "notes", pick(*at), before.as_ref(), None)?;
            }
            Ok(None)
        }
    });
    ids.extend(made.ok().flatten());
}

fn update(tx: &mut Tx, entry: &mut Entry, id: i64, name: &str) -> Result<(), DbError> {
    let before = notes::row(tx, id)?;
    if notes::update(tx, id, &fields(name, "kSkill"), now())? {
        let after = notes::row(tx, id)?;
        journal::change(tx, entry, "notes", id, before.as_ref(), after.as_ref())?;
    }
    Ok(())
}

/// The rows of a table as the journal says they must be.
pub(crate) fn replayed(db: &Db) -> BTreeMap<i64, Value> {
    let mut rows = BTreeMap::new();
    let mut entries = db.read(|tx| journal::list(tx, None, 1_000_000)).unwrap();
    entries.reverse();
    for change in entries.into_iter().flat_map(|entry| entry.changes) {
        assert_eq!(rows.remove(&change.row_id), change.before, "the row before the change");
        rows.extend(change.after.map(|after| (change.row_id, after)));
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
