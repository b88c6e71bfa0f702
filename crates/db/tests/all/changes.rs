//! What commits changed is told to everybody, exactly once, whoever wrote it.

use std::collections::BTreeSet;
use std::time::Duration;

use db::changes::{self, Change, Position, Told};
use db::{Db, DbError, Dialect, categories, users};

use crate::fixture::{Fixture, count, now, on_both, person};
use crate::shop::{category, product, read, write};

const AT_ONCE: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_secs(20);

fn changed(told: Told) -> BTreeSet<(String, Option<i64>)> {
    match told {
        Told::Changes { changes, .. } => changes.into_iter().map(|c| (c.table, c.row_id)).collect(),
        Told::Lost { .. } => panic!("lost"),
    }
}

fn rows(of: &[(&str, i64)]) -> BTreeSet<(String, Option<i64>)> {
    of.iter().map(|(table, id)| ((*table).to_owned(), Some(*id))).collect()
}

fn position(db: &Db) -> Position {
    read(db, |tx| changes::position(tx).unwrap())
}

fn since(db: &Db, position: &Position) -> Told {
    read(db, |tx| changes::since(tx, position).unwrap())
}

on_both! {
    fn changes_and_cascades_are_told_and_what_is_rolled_back_is_not(db: &Db) {
        let top = write(db, |tx| category(tx, "top", None));
        let mut stream = db.changes().unwrap();
        assert_eq!(changed(stream.next(AT_ONCE).unwrap()), rows(&[]));
        let refused = db.write::<(), DbError>(|tx| {
            category(tx, "never", None);
            Err(DbError::Busy)
        });
        assert!(refused.is_err());
        assert_eq!(changed(stream.next(AT_ONCE).unwrap()), rows(&[]));

        write(db, |tx| tx.run("update categories set name = 'x' where id = :id", &[("id", top.into())]).unwrap());
        assert_eq!(changed(stream.next(LONG).unwrap()), rows(&[("categories", top)]));
        // A statement that finds nothing to change tells nothing.
        write(db, |tx| tx.run("update categories set name = 'y' where id = -1", &[]).unwrap());
        assert_eq!(changed(stream.next(AT_ONCE).unwrap()), rows(&[]));

        let note = write(db, |tx| {
            tx.run("insert into menus (skey, name) values ('m', 'm')", &[]).unwrap();
            let import = "insert into carts (token_hash, currency) values (:hash, 'EUR')";
            tx.run(import, &[("hash", vec![1u8].into())]).unwrap();
            let cart = crate::shop::id_of(tx, "select id from carts");
            let (_, variant) = product(tx, "p", None, 100, 0);
            tx.run(
                "insert into cart_lines (cart_id, variant_id, quantity) values (:cart, :variant, 1)",
                &[("cart", cart.into()), ("variant", variant.into())],
            ).unwrap();
            (cart, crate::shop::id_of(tx, "select id from cart_lines"))
        });
        changed(stream.next(LONG).unwrap());
        write(db, |tx| tx.run("delete from carts", &[]).unwrap());
        assert_eq!(changed(stream.next(LONG).unwrap()), rows(&[("carts", note.0), ("cart_lines", note.1)]));
    }

    fn a_reader_knows_exactly_what_it_has_not_seen(db: &Db) {
        let one = write(db, |tx| category(tx, "one", None));
        let before = position(db);
        assert_eq!(changed(since(db, &before)), rows(&[]));
        // A transaction that began before a commit does not see it, and says so.
        read(db, |tx| {
            tx.rows("select id from categories", &[]).unwrap();
            write(db, |tx| tx.run("update categories set name = 'two' where id = :id", &[("id", one.into())]).unwrap());
            assert_eq!(changed(changes::since(tx, &before).unwrap()), rows(&[]));
            let here = changes::position(tx).unwrap();
            assert!(position(db).covers(&here));
            assert!(!here.covers(&position(db)));
        });
        assert_eq!(changed(since(db, &before)), rows(&[("categories", one)]));
        // What others begin on the same server makes a position another one, so one of many pairs must do.
        assert!((0..1000).any(|_| { let (first, second) = (position(db), position(db)); first.covers(&second) }));
    }

    fn changes_of_tables_that_no_page_shows_are_not_told(db: &Db) {
        let before = position(db);
        assert!(!changes::is_told("tickets") && !changes::is_told("nobody_knows") && changes::is_told("Products"));
        assert!(changes::is_told("variants.product_id") && changes::is_told("texts.products"));
        assert!(!changes::is_told("variants.sku") && !changes::is_told("products.id") && !changes::is_told("outbox"));
        write(db, |tx| tx.run("update counters set next = next + 1", &[]).unwrap());
        assert_eq!(changed(since(db, &before)), rows(&[]));
    }

    fn a_change_also_tells_in_which_set_of_rows_it_was(db: &Db) {
        let (one, variant) = write(db, |tx| product(tx, "one", None, 100, 0));
        let (other, _) = write(db, |tx| product(tx, "other", None, 100, 0));
        let told = |f: &dyn Fn(&mut db::Tx)| {
            let before = position(db);
            write(db, |tx| f(tx));
            changed(since(db, &before))
        };
        let run = |sql: &'static str, params: Vec<(&'static str, db::Value)>| move |tx: &mut db::Tx| assert!(tx.run(sql, &params).unwrap() > 0);

        let raised = told(&run("update variants set weight = 5 where id = :id", vec![("id", variant.into())]));
        assert_eq!(raised, rows(&[("variants", variant), ("variants.product_id", one)]));
        let text = "insert into texts (entity, elem_id, language, field, value, created, changed) values ('products', :id, 'ru', 'name', 'x', '', '')";
        let added = told(&run(text, vec![("id", one.into())]));
        assert!(added.contains(&("texts.products".to_owned(), Some(one))), "{added:?}");
        // What moves changes the set that it leaves, and the one it comes to.
        let moved = told(&run("update texts set elem_id = :id, entity = 'categories' where value = 'x'", vec![("id", other.into())]));
        assert!(moved.contains(&("texts.products".to_owned(), Some(one))), "{moved:?}");
        assert!(moved.contains(&("texts.categories".to_owned(), Some(other))), "{moved:?}");
        let removed = told(&run("delete from texts", vec![]));
        assert!(removed.contains(&("texts.categories".to_owned(), Some(other))), "{removed:?}");
    }

    fn a_mark_is_another_one_after_every_commit(db: &Db) {
        db.hear_commits().unwrap();
        let rename = |db: &Db, name: &str| {
            write(db, |tx| tx.run("update categories set name = :name", &[("name", name.into())]).unwrap());
        };
        write(db, |tx| category(tx, "one", None));
        let mark = db.commit_mark().unwrap();
        let other = db.clone();
        assert_eq!(other.commit_mark(), Some(mark));
        rename(db, "two");
        let next = db.commit_mark().unwrap();
        assert_ne!(next, mark);
        read(db, |tx| tx.rows("select id from categories", &[]).unwrap());
        let refused = db.write::<(), DbError>(|_| Err(DbError::Busy));
        assert!(refused.is_err());
        if db.dialect() == Dialect::Sqlite {
            assert_eq!(db.commit_mark(), Some(next), "nothing was committed");
        }
    }

    fn a_table_without_numbers_is_told_as_a_whole(db: &Db) {
        let irina = person(db, "irina", None);
        let admins = crate::fixture::administrators(db);
        let before = position(db);
        write(db, |tx| users::add_group(tx, irina, admins).unwrap());
        write(db, |tx| users::remove_group(tx, irina, admins).unwrap());
        assert_eq!(changed(since(db, &before)), [("user_groups".to_owned(), None)].into());
    }

    fn what_was_removed_of_old_changes_is_lost_to_those_who_did_not_see_it(db: &Db) {
        let before = position(db);
        for name in 0..5 {
            write(db, |tx| category(tx, &name.to_string(), None));
        }
        let late = position(db);
        write(db, |tx| category(tx, "late", None));
        write(db, |tx| changes::prune(tx, 1000).unwrap());
        assert!(matches!(since(db, &before), Told::Changes { .. }), "few enough are kept");
        for _ in 0..2 {
            write(db, |tx| changes::prune(tx, 1).unwrap());
            assert_eq!(count(db, "changes"), 2);
            assert!(matches!(since(db, &before), Told::Lost { .. }));
            let Told::Lost { upto } = since(db, &before) else { panic!() };
            assert!(upto.covers(&late));
            assert_eq!(changed(since(db, &upto)), rows(&[]));
            let id = write(db, |tx| category(tx, "more", None));
            assert!(changed(since(db, &upto)).contains(&("categories".to_owned(), Some(id))));
        }
    }

    fn a_filled_store_is_told_as_everything(db: &Db) {
        let before = position(db);
        let noted = count(db, "changes");
        db.bulk_write::<_, DbError>(|tx| {
            changes::pause(tx)?;
            category(tx, "one of very many", None);
            Ok(())
        }).unwrap();
        assert!(matches!(since(db, &before), Told::Lost { .. }));
        assert_eq!(count(db, "changes"), noted + 1);
        let after = position(db);
        let id = write(db, |tx| category(tx, "later", None));
        assert!(changed(since(db, &after)).contains(&("categories".to_owned(), Some(id))));
    }

    /// Many writers at once, and a reader that keeps a copy by what it is told: it never differs from the table.
    fn a_copy_kept_by_changes_is_never_older_than_what_its_reader_sees(db: &Db) {
        let ids: Vec<i64> = (0..8).map(|n| write(db, |tx| category(tx, &n.to_string(), None))).collect();
        std::thread::scope(|scope| {
            for writer in 0..4_i64 {
                let ids = &ids;
                scope.spawn(move || {
                    for round in 0..25_i64 {
                        let id = ids[((writer * 7 + round * 3) % 8) as usize];
                        let sql = "update categories set position = position + 1 where id = :id";
                        write(db, |tx| tx.run(sql, &[("id", id.into())]).unwrap());
                    }
                });
            }
            let (mut seen, mut copy) = read(db, |tx| (changes::position(tx).unwrap(), positions(tx)));
            for _ in 0..200 {
                read(db, |tx| {
                    let Told::Changes { changes, upto } = changes::since(tx, &seen).unwrap() else { panic!("lost") };
                    let real = positions(tx);
                    for Change { table, row_id } in changes {
                        if let ("categories", Some(id)) = (table.as_str(), row_id) {
                            copy.insert(id, real[&id]);
                        }
                    }
                    assert_eq!(copy, real);
                    seen = upto;
                });
            }
        });
    }
}

fn positions(tx: &mut db::Tx) -> std::collections::BTreeMap<i64, i64> {
    let rows = tx.rows("select id, position from categories", &[]).unwrap();
    rows.iter().map(|row| (row.get("id").unwrap(), row.get("position").unwrap())).collect()
}

/// Another handle is as another node or program: it hears of the commits of this one.
fn another_node_hears(place: &Fixture) {
    let here = place.seeded();
    let there = place.open();
    let mut stream = there.changes().unwrap();
    let id = write(&here, |tx| category(tx, "new", None));
    let told = changed(stream.next(LONG).unwrap());
    assert!(told.contains(&("categories".to_owned(), Some(id))));
    write(&here, |tx| assert!(categories::remove(tx, id, now()).unwrap()));
    assert!(changed(stream.next(LONG).unwrap()).contains(&("categories".to_owned(), Some(id))));
}

#[test]
fn another_node_hears_on_sqlite() {
    another_node_hears(&Fixture::sqlite());
}

#[test]
fn another_node_hears_on_postgres() {
    if let Some(place) = Fixture::postgres() {
        another_node_hears(&place);
    }
}

/// Every told table has its triggers: a row that is added is told, of whatever table.
fn triggers(db: &Db) -> BTreeSet<String> {
    let sql = match db.dialect() {
        Dialect::Sqlite => {
            "select tbl_name as name from sqlite_master where type = 'trigger' and name like 'changes_insert_%'"
        }
        Dialect::Postgres => {
            "select c.relname::text as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
             join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = current_schema() and t.tgname = 'changes_insert'"
        }
    };
    read(db, |tx| tx.rows(sql, &[]).unwrap().iter().map(|row| row.get("name").unwrap()).collect())
}

on_both! {
    fn every_table_whose_changes_are_told_has_triggers_and_no_other(db: &Db) {
        let wanted: BTreeSet<String> = db::schema::tables()
            .filter(|table| table.not_told.is_none()).map(|table| table.name.to_owned()).collect();
        assert_eq!(triggers(db), wanted);
        assert!(wanted.contains("listing") && !wanted.contains("journal"));
        db.migrate().unwrap();
        assert_eq!(triggers(db), wanted);
    }
}
