//! A whole database out and in: the same rows on both sides, whatever they hold, all of them or none.

use std::collections::BTreeMap;

use db::notes::{self, Owner};
use db::transfer::{self, Contents, TableSum, TransferError};
use db::{Db, DbError, FreezeReason, WriteFreeze, users};

use crate::fixture::{Fixture, later, now, person};
use crate::work::fields;

/// Sums of all tables.
fn sums(db: &Db) -> BTreeMap<String, TableSum> {
    let tables = transfer::tables().unwrap();
    db.read::<_, TransferError>(|tx| {
        tables
            .iter()
            .map(|table| Ok((table.name.clone(), transfer::read(tx, table, &mut |_, _| Ok(()))?)))
            .collect()
    })
    .unwrap()
}

fn copy(from: &Db, to: &Db) -> Result<u64, TransferError> {
    let sums = from.read(|from| to.bulk_write(|to| transfer::copy(from, to, &mut |_| Ok(()))))?;
    Ok(sums.iter().map(|(_, sum)| sum.rows).sum())
}

fn run(db: &Db, sql: &str) {
    db.write::<_, DbError>(|tx| tx.run(sql, &[])).unwrap();
}

/// Values that databases like to take for others.
fn fill_with_odd_rows(db: &Db) {
    let irina = person(db, "irina", None);
    let oleg = person(db, "Олег \u{1F600} \"'\\", None);
    run(db, "update users set blocked = true where login = 'irina'");
    run(
        db,
        "update operations set load_1 = 0.1, load_5 = 1e300, load_15 = 123456789.125 where skey = 'kUsers'",
    );
    run(db, "update operations set load_1 = 0.30000000000000004, load_5 = 5e-324 where command = 'ORDERS'");
    for text in [
        "",
        " ",
        "a\tb\nc\r\n\\N \\. \\x00",
        "\u{feff}bom",
        "nul",
        "null",
        "{\"a\":[1]}",
        "\u{1}\u{7f}\u{2028}",
    ] {
        let mut note = fields(text, "kDefault");
        note.body = text.repeat(3);
        db.write(|tx| notes::create(tx, Owner::Own(irina), &note, now())).unwrap();
    }
    // Sections whose parents came after them, and after them in the order of the key.
    run(
        db,
        "insert into repo_sections (id, parent_id, name, kind_key) values (900, null, 'z', 'kKnowledge'), \
         (10, 900, 'a', 'kKnowledge'), (5, 10, 'b', 'kKnowledge')",
    );
    let long = "я".repeat(2_000_000);
    db.write::<_, DbError>(|tx| {
        tx.run(
            "insert into tickets (hash, user_id, password_version, address, kind, created, used)
             values (:hash, :user, 1, '::1', 'agent', 'x', 'x')",
            &[("hash", (0..=255).collect::<Vec<u8>>().into()), ("user", oleg.into())],
        )?;
        tx.run(
            "insert into secrets (skey, value) values ('key', 'of the store'), ('reader_password', 'of a server')
             on conflict (skey) do update set value = 'of a server'",
            &[],
        )?;
        tx.run(
            "insert into calls (key, user_id, command, params_hash, answer, time)
             values ('k', :user, 'C', :hash, :answer, 'x')",
            &[("user", oleg.into()), ("hash", Vec::<u8>::new().into()), ("answer", long.into())],
        )
    })
    .unwrap();
    // The last number is given, and its row is gone.
    let last =
        db.write(|tx| notes::create(tx, Owner::Own(oleg), &fields("gone", "kDefault"), later(5))).unwrap();
    run(db, &format!("delete from notes where id = {last}"));
}

/// The next number of a note.
fn next_note(db: &Db) -> i64 {
    let user = db.read(|tx| users::by_login(tx, "irina")).unwrap().unwrap().id;
    db.write(|tx| notes::create(tx, Owner::Own(user), &fields("next", "kDefault"), now())).unwrap()
}

fn without_reader(db: &Db) -> Vec<String> {
    let rows = db
        .read::<_, DbError>(|tx| {
            tx.rows("select skey || '=' || value as line from secrets order by skey", &[])
        })
        .unwrap();
    rows.iter().map(|row| row.get("line").unwrap()).collect()
}

#[test]
fn there_and_back_again_everything_is_the_same() {
    let Some(there) = Fixture::postgres() else { return };
    let (here, back) = (Fixture::sqlite(), Fixture::sqlite());
    let first = here.seeded();
    fill_with_odd_rows(&first);
    let middle = there.open();
    middle.migrate().unwrap();
    let own = without_reader(&middle);
    let moved = copy(&first, &middle).unwrap();
    let last = back.open();
    last.migrate().unwrap();
    assert_eq!(copy(&middle, &last).unwrap(), moved);
    assert_eq!(sums(&first), sums(&middle));
    assert_eq!(sums(&first), sums(&last));
    assert!(moved > 200);
    // The server's own login is the server's: neither lost nor taken along.
    assert_eq!(without_reader(&last), ["key=of the store"]);
    for secret in own {
        assert!(without_reader(&middle).contains(&secret));
    }
    // Numbers go on behind the last one that was ever given.
    let next = next_note(&first);
    assert_eq!(next_note(&middle), next);
    assert_eq!(next_note(&last), next);
    // Links hold in the new database.
    for db in [&middle, &last] {
        let refused = db.write::<_, DbError>(|tx| tx.run("update notes set user_id = 4711", &[]));
        assert!(matches!(refused, Err(DbError::Dangling(_))), "{refused:?}");
    }
}

#[test]
fn sqlite_keeps_every_byte_of_its_tables() {
    let (here, there) = (Fixture::sqlite(), Fixture::sqlite());
    let first = here.seeded();
    fill_with_odd_rows(&first);
    run(&first, "delete from secrets where skey = 'reader_password'");
    let last = there.open();
    last.migrate().unwrap();
    copy(&first, &last).unwrap();
    let dump = |db: &Db| -> Vec<Vec<db::Row>> {
        let tables = transfer::tables().unwrap();
        let all = |table: &transfer::Table| {
            let sql = format!("select *, 'x' as x from \"{}\"", table.name);
            let mut rows = db.read::<_, DbError>(|tx| tx.rows(&sql, &[])).unwrap();
            rows.sort_by_cached_key(whole_line);
            rows
        };
        tables.iter().map(all).collect()
    };
    assert!(dump(&first) == dump(&last));
}

fn whole_line(row: &db::Row) -> Vec<u8> {
    let mut line = Vec::new();
    transfer::row_line::write(row.values(), &mut line);
    line
}

#[test]
fn tables_come_after_those_they_point_to() {
    let tables = transfer::tables().unwrap();
    let at = |name: &str| tables.iter().position(|table| table.name == name).unwrap();
    assert!(at("groups") < at("users") && at("users") < at("tickets"));
    assert!(at("repo_sections") < at("repo_topics") && at("repo_topics") < at("repo_records"));
    assert!(at("journal") < at("journal_changes"));
    assert!(transfer::tables_of(1).unwrap().len() < tables.len());
}

crate::fixture::on_both! {
    fn what_stops_in_the_middle_changes_nothing(db: &Db) {
        let target = Fixture::sqlite();
        let other = target.seeded();
        person(&other, "kept", None);
        let (before, from) = (sums(&other), sums(db));
        let mut rows = 0;
        let stopped = db.read(|from| {
            other.bulk_write(|to| {
                transfer::copy(from, to, &mut |progress| {
                    rows = progress.done;
                    if progress.phase == transfer::Phase::Check { Err(TransferError::Stopped) } else { Ok(()) }
                })
            })
        });
        assert!(matches!(stopped, Err(TransferError::Stopped)), "{stopped:?}");
        assert_eq!(sums(&other), before);
        assert_eq!(sums(db), from);
        // The other way round, into this database.
        let stopped = other.read(|from| {
            db.bulk_write(|to| -> Result<(), TransferError> {
                transfer::copy(from, to, &mut |_| Ok(()))?;
                Err(TransferError::Stopped)
            })
        });
        assert!(stopped.is_err());
        assert_eq!(sums(db), from);
        // Numbers that were not given are not lost either: the next one is free.
        person(db, "next", None);
    }

    fn a_value_of_another_kind_is_named_and_nothing_is_moved(db: &Db) {
        let source = Fixture::sqlite();
        let source = source.seeded();
        let id = person(&source, "irina", None);
        for (sql, column) in [
            ("update users set password_version = 'many' where login = 'irina'", "password_version"),
            ("update users set blocked = 2 where login = 'irina'", "blocked"),
            ("update users set name = x'ff' where login = 'irina'", "name"),
            ("update users set name = cast(x'ff41' as text) where login = 'irina'", "name"),
        ] {
            run(&source, sql);
            let before = sums(db);
            match copy(&source, db) {
                Err(TransferError::Value { table, row, column: at, .. }) => {
                    assert_eq!((table.as_str(), at.as_str(), row), ("users", column, id.to_string()), "{sql}");
                }
                other => panic!("{sql}: {other:?}"),
            }
            assert_eq!(sums(db), before);
            run(&source, "update users set password_version = 1, blocked = 0, name = 'x' where login = 'irina'");
        }
        copy(&source, db).unwrap();
    }

    fn what_a_database_holds_is_told(db: &Db) {
        assert_eq!(transfer::contents(db).unwrap(), Contents::Rows);
        db.bulk_write(|tx| transfer::clear(tx, &transfer::tables().unwrap())).unwrap();
        assert_eq!(transfer::contents(db).unwrap(), Contents::Tables);
        let fresh = Fixture::sqlite();
        assert_eq!(transfer::contents(&fresh.open()).unwrap(), Contents::Nothing);
        assert!(!fresh.root().join("core").exists(), "looking makes nothing");
    }

    fn a_zero_byte_in_text_stays_with_sqlite(db: &Db) {
        let source = Fixture::sqlite();
        let source = source.seeded();
        person(&source, "irina", None);
        run(&source, "update users set name = 'a' || char(0) || 'b'");
        match (copy(&source, db), db.dialect()) {
            (Ok(_), db::Dialect::Sqlite) => assert_eq!(sums(&source), sums(db)),
            (Err(TransferError::Value { column, .. }), db::Dialect::Postgres) => assert_eq!(column, "name"),
            other => panic!("{other:?}"),
        }
    }

    fn a_link_to_nothing_is_not_let_in(db: &Db) {
        let source = Fixture::sqlite();
        let seeded = source.seeded();
        let before = sums(db);
        // As a client that does not look at links could leave it.
        seeded.bulk_write::<_, DbError>(|tx| tx.run("update groups set id = 4711", &[])).unwrap();
        assert!(copy(&seeded, db).is_err());
        assert_eq!(sums(db), before);
    }

    fn a_closed_database_takes_no_change_and_gives_every_row(db: &Db) {
        let before = sums(db);
        let closure = WriteFreeze::new(FreezeReason::Moving).unwrap();
        db.freeze_writes(&closure).unwrap();
        assert_eq!(db.write_freeze().unwrap().as_ref(), Some(&closure));
        for sql in [
            "insert into groups (name) values ('x')",
            "update users set name = 'x'",
            "delete from registry",
            "update migrations set applied = 'x'",
            "insert into names (entity, elem_id, language, name) values ('a', 1, 'en', 'x')
             on conflict (entity, elem_id, language) do nothing",
        ] {
            let refused = db.write::<_, DbError>(|tx| tx.run(sql, &[]));
            // A statement that finds no row changes nothing: SQLite lets it pass.
            let is_empty = matches!(refused, Ok(0));
            assert!(is_empty || matches!(refused, Err(DbError::WritesFrozen)), "{sql}: {refused:?}");
        }
        assert!(matches!(db.write(|tx| db::registry::create(tx, "b", "k", "n")), Err(DbError::WritesFrozen)));
        assert_eq!(sums(db), before);
        // Migrating and seeding what is complete already writes nothing.
        db.migrate().unwrap();
        db.write(|tx| db::seed::base(tx, now())).unwrap();
        db.ready().unwrap();
        // Another reason takes the first one's place.
        db.freeze_writes(&closure.because(FreezeReason::Moved)).unwrap();
        assert_eq!(db.write_freeze().unwrap(), Some(closure.because(FreezeReason::Moved)));
        assert!(db.unfreeze_writes().unwrap());
        assert!(!db.unfreeze_writes().unwrap());
        assert_eq!(db.write_freeze().unwrap(), None);
        person(db, "after", None);
    }

    fn what_is_acknowledged_while_a_database_closes_is_there(db: &Db) {
        let acknowledged = std::sync::Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let acknowledged = &acknowledged;
                scope.spawn(move || {
                    for n in 0.. {
                        let login = format!("w{writer}_{n}");
                        match db.write(|tx| users::create(tx, &crate::fixture::new_user(&login, None))) {
                            Ok(_) => acknowledged.lock().unwrap().push(login),
                            Err(DbError::WritesFrozen) => break,
                            Err(DbError::Busy) => {}
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                });
            }
            std::thread::sleep(std::time::Duration::from_millis(200));
            db.freeze_writes(&WriteFreeze::new(FreezeReason::Moving).unwrap()).unwrap();
            let there: Vec<String> =
                db.read(users::all).unwrap().into_iter().map(|user| user.login).collect();
            std::thread::sleep(std::time::Duration::from_millis(100));
            let acknowledged = acknowledged.lock().unwrap();
            assert!(acknowledged.len() > 10);
            assert!(acknowledged.iter().all(|login| there.contains(login)));
            assert_eq!(acknowledged.len(), there.len());
        });
    }
}

#[test]
fn rows_of_a_newer_build_are_neither_left_behind_nor_overwritten() {
    let (old, new) = (Fixture::sqlite(), Fixture::sqlite());
    let (old, new) = (old.seeded(), new.seeded());
    run(&new, "insert into migrations (number, name, applied) values (999, 'later', '')");
    for (from, to) in [(&new, &old), (&old, &new)] {
        assert!(matches!(copy(from, to), Err(TransferError::Db(DbError::Newer))));
    }
    assert!(matches!(new.read(transfer::refuse_newer), Err(DbError::Newer)));
}
