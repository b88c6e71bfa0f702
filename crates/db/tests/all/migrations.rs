//! Both databases get the same tables, however many nodes start at once.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use db::{Db, DbError, Dialect, rights, seed, users};

use crate::fixture::{Fixture, now};

/// Tables, columns and whether they take nothing, as `table.column null`.
fn schema(db: &Db) -> BTreeSet<String> {
    let sql = match db.dialect() {
        Dialect::Sqlite => {
            "select m.name || '.' || c.name || case when c.\"notnull\" = 1 then ' not null' else ' null' end as line
             from sqlite_master m join pragma_table_info(m.name) c
             where m.type = 'table' and m.name not like 'sqlite_%'"
        }
        Dialect::Postgres => {
            "select table_name || '.' || column_name || case when is_nullable = 'NO' then ' not null' else ' null' end
               as line
             from information_schema.columns where table_schema = current_schema()"
        }
    };
    lines(db, sql)
}

/// Columns with the kind of their values, in the words of the migrations.
fn kinds(db: &Db) -> BTreeSet<String> {
    let sql = match db.dialect() {
        Dialect::Sqlite => {
            "select m.name || '.' || c.name || ' ' || replace(replace(lower(c.type), 'integer', 'bigint'), 'blob', 'bytea')
               as line
             from sqlite_master m join pragma_table_info(m.name) c
             where m.type = 'table' and m.name not like 'sqlite_%'"
        }
        Dialect::Postgres => {
            "select table_name || '.' || column_name || ' ' || data_type as line
             from information_schema.columns where table_schema = current_schema()"
        }
    };
    lines(db, sql)
}

fn lines(db: &Db, sql: &str) -> BTreeSet<String> {
    let rows = db.read::<_, DbError>(|tx| tx.rows(sql, &[])).unwrap();
    rows.iter().map(|row| row.get("line").unwrap()).collect()
}

fn start_ten_at_once(place: &Fixture) {
    let start = Barrier::new(10);
    thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                let db = place.open();
                start.wait();
                db.migrate().unwrap();
                db.write(|tx| seed::base(tx, now())).unwrap();
                db.ready().unwrap();
            });
        }
    });
    let db = place.open();
    let rows = db.read::<_, DbError>(|tx| tx.rows("select number from migrations", &[])).unwrap();
    let commands = db.read(|tx| rights::paths(tx, "en")).unwrap();
    let numbers: Vec<i64> = rows.iter().map(|row| row.get("number").unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as i64).collect::<Vec<_>>());
    assert!(commands.len() > 20);
}

#[test]
fn ten_nodes_that_start_at_once_all_come_up_on_sqlite() {
    start_ten_at_once(&Fixture::sqlite());
}

#[test]
fn ten_nodes_that_start_at_once_all_come_up_on_postgres() {
    if let Some(place) = Fixture::postgres() {
        start_ten_at_once(&place);
    }
}

#[test]
fn both_databases_end_in_the_same_schema() {
    let place = Fixture::sqlite();
    let sqlite = place.seeded();
    assert!(schema(&sqlite).contains("users.main_group null"));
    assert!(schema(&sqlite).contains("users.login not null"));
    if let Some(place) = Fixture::postgres() {
        let postgres = place.seeded();
        assert_eq!(schema(&sqlite), schema(&postgres));
        assert_eq!(kinds(&sqlite), kinds(&postgres));
    }
}

fn not_ready_before_it_is_migrated(place: &Fixture) {
    let db = place.open();
    assert!(db.ready().is_err());
    db.migrate().unwrap();
    db.ready().unwrap();
    db.write::<_, DbError>(|tx| {
        tx.run("insert into migrations (number, name, applied) values (999, 'later', 'x')", &[])
    })
    .unwrap();
    // A newer build was here: its tables only add to ours.
    db.ready().unwrap();
    db.migrate().unwrap();
    db.write::<_, DbError>(|tx| tx.run("delete from migrations", &[])).unwrap();
    assert!(matches!(db.ready(), Err(DbError::NotMigrated)));
}

#[test]
fn a_database_is_ready_once_it_is_migrated_on_sqlite() {
    not_ready_before_it_is_migrated(&Fixture::sqlite());
}

#[test]
fn a_database_is_ready_once_it_is_migrated_on_postgres() {
    if let Some(place) = Fixture::postgres() {
        not_ready_before_it_is_migrated(&place);
    }
}

#[test]
fn an_address_of_no_known_kind_is_refused_without_repeating_it() {
    let folder = tempfile::tempdir().unwrap();
    for url in ["mysql://irina:secret@host/db", "postgres://irina:secret@[host", "", "store.db"] {
        let refused = Db::open(url, folder.path()).err().unwrap();
        assert!(matches!(refused, DbError::Address), "{url}");
        assert!(!format!("{refused} {refused:?}").contains("secret"));
    }
}

#[test]
fn a_database_that_cannot_be_reached_says_so_without_the_password() {
    let folder = tempfile::tempdir().unwrap();
    let unreachable = |url: &str| {
        let db = Db::open(url, folder.path()).unwrap();
        let error = db.read(users::all).unwrap_err();
        assert!(matches!(error, DbError::Unreachable(_)), "{error:?}");
        assert!(!format!("{error:?}").contains("secret"));
    };
    unreachable("postgres://irina:secret@127.0.0.1:1/none");
    unreachable("sqlite:none/store.db");
    std::fs::write(folder.path().join("text.db"), "This is no database, but it is long enough to be one.")
        .unwrap();
    unreachable("sqlite:text.db");
}

crate::fixture::on_both! {
    fn the_described_statements_work(db: &Db) {
        let text = include_str!("../../../../docs/database.md");
        let block = text.split_once("```sql\n").unwrap().1.split_once("```").unwrap().0;
        let statements: Vec<_> = block.split(";\n").filter(|sql| !sql.trim().is_empty()).collect();
        assert_eq!(statements.len(), 4);
        for sql in statements {
            db.read::<_, DbError>(|tx| tx.rows(sql, &[])).unwrap();
        }
    }
}

#[test]
fn looking_whether_tables_can_be_made_leaves_none() {
    for place in [Some(Fixture::sqlite()), Fixture::postgres()].into_iter().flatten() {
        let db = place.open();
        db.check_table_making().unwrap();
        db.check_table_making().unwrap();
        assert_eq!(schema(&db), BTreeSet::new());
        db.migrate().unwrap();
        let before = schema(&db);
        db.check_table_making().unwrap();
        assert_eq!(schema(&db), before);
        db.write(|tx| tx.run("create table shopwright_probe (id integer)", &[])).unwrap();
        assert!(matches!(db.check_table_making(), Err(DbError::Sql(_))), "{}", "it is looked for real");
    }
}
