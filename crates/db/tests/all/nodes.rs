//! What nodes share: tickets, idempotency keys, wrong passwords, leases.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use db::idempotency::StoredAnswer;
use db::leases::Take;
use db::signal::{self, Signal};
use db::tickets::NewTicket;
use db::{Db, DbError, idempotency, leases, sign_in_attempts, tickets, users};
use jiff::Timestamp;

use crate::fixture::{Fixture, count, later, now, on_both, person};

fn ticket(user: i64, byte: u8, now: Timestamp) -> NewTicket {
    NewTicket {
        hash: [byte; 32],
        user_id: user,
        password_version: 1,
        address: "10.0.0.1".into(),
        kind: "agent".into(),
        now,
    }
}

fn take<'a>(table: &'a str, holder: &'a str, user: i64, from: i64, seconds: i64) -> Take<'a> {
    Take { table, holder, user_id: user, what: "Editing", now: later(from), until: later(from + seconds) }
}

on_both! {
    fn a_ticket_lives_while_it_is_used(db: &Db) {
        let user = person(db, "irina", None);
        db.write(|tx| tickets::create(tx, &ticket(user, 1, now()))).unwrap();
        db.write(|tx| tickets::create(tx, &ticket(user, 2, now()))).unwrap();
        db.write(|tx| tickets::touch(tx, &[1; 32], later(3600))).unwrap();
        db.write(|tx| tickets::touch(tx, &[1; 32], later(1800))).unwrap();
        let found = db.read(|tx| tickets::find(tx, &[1; 32])).unwrap().unwrap();
        assert_eq!((found.user_id, found.used, found.address.as_str()), (user, later(3600), "10.0.0.1"));
        let day = tickets::LIFE.as_secs();
        assert_eq!(db.write(|tx| tickets::drop_expired(tx, later(day + 2))).unwrap(), 0);
        assert_eq!(db.write(|tx| tickets::drop_expired(tx, later(day + 3))).unwrap(), 1);
        assert_eq!(db.read(|tx| tickets::find(tx, &[2; 32])).unwrap(), None);
        // A call that had passed the gate before the block does not bring the ticket back.
        db.write(|tx| tickets::end_of_user(tx, user)).unwrap();
        let ended = db.read(|tx| tickets::find(tx, &[1; 32])).unwrap();
        db.write(|tx| tickets::touch(tx, &[1; 32], later(day))).unwrap();
        assert_eq!(db.read(|tx| tickets::find(tx, &[1; 32])).unwrap(), ended);
        db.write(|tx| tickets::drop_one(tx, &[1; 32])).unwrap();
        assert_eq!(db.read(|tx| tickets::find(tx, &[1; 32])).unwrap(), None);
    }

    fn blocking_ends_tickets_and_a_new_password_outdates_them(db: &Db) {
        let (irina, oleg) = (person(db, "irina", None), person(db, "oleg", None));
        db.write(|tx| tickets::create(tx, &ticket(irina, 1, now()))).unwrap();
        db.write(|tx| tickets::create(tx, &ticket(oleg, 2, now()))).unwrap();
        db.write(|tx| users::set_password(tx, oleg, "new")).unwrap();
        let user = db.read(|tx| users::by_id(tx, oleg)).unwrap().unwrap();
        let found = db.read(|tx| tickets::find(tx, &[2; 32])).unwrap().unwrap();
        assert_eq!((user.password_hash.as_str(), user.password_version, found.password_version), ("new", 2, 1));
        db.write(|tx| users::set_blocked(tx, irina, true)).unwrap();
        assert!(db.read(|tx| users::by_id(tx, irina)).unwrap().unwrap().blocked);
        db.write(|tx| users::set_blocked(tx, irina, false)).unwrap();
        assert!(!db.read(|tx| users::by_id(tx, irina)).unwrap().unwrap().blocked);
        let ended = db.read(|tx| tickets::find(tx, &[1; 32])).unwrap().unwrap();
        assert_eq!(ended.used, Timestamp::UNIX_EPOCH, "the end of a ticket outlives the block");
        assert_eq!(db.write(|tx| tickets::drop_expired(tx, now())).unwrap(), 1);
        assert_eq!(count(db, "tickets"), 1);
    }

    fn an_answer_is_kept_for_its_person_for_a_day(db: &Db) {
        let (irina, oleg) = (person(db, "irina", None), person(db, "oleg", None));
        let kept = StoredAnswer { command: "AGENT_MEMORY_SAVE".into(), params_hash: vec![0, 255], answer_json: "{\"id\":1}".into() };
        db.write(|tx| idempotency::keep(tx, "k", irina, &kept, now())).unwrap();
        assert_eq!(db.read(|tx| idempotency::find(tx, "k", irina)).unwrap(), Some(kept.clone()));
        assert_eq!(db.read(|tx| idempotency::find(tx, "k", oleg)).unwrap(), None);
        let again = db.write(|tx| idempotency::keep(tx, "k", irina, &kept, now()));
        assert!(matches!(again, Err(DbError::Conflict(_))));
        let day = idempotency::LIFE.as_secs();
        assert_eq!(db.write(|tx| idempotency::drop_old(tx, later(day + 2))).unwrap(), 0);
        assert_eq!(db.write(|tx| idempotency::drop_old(tx, later(day + 3))).unwrap(), 1);
    }

    fn a_call_repeated_at_the_same_moment_is_done_once(db: &Db) {
        let user = person(db, "irina", None);
        let both = Barrier::new(2);
        let call = |name: &str| {
            both.wait();
            db.write(|tx| -> Result<String, DbError> {
                if let Some(kept) = idempotency::find(tx, "k", user)? {
                    return Ok(kept.answer_json);
                }
                tx.run("update users set name = name || '!' where id = :id", &[("id", user.into())])?;
                thread::sleep(Duration::from_millis(30));
                let kept = StoredAnswer { command: "X".into(), params_hash: Vec::new(), answer_json: name.into() };
                idempotency::keep(tx, "k", user, &kept, now())?;
                Ok(kept.answer_json)
            }).unwrap()
        };
        let (first, second) = thread::scope(|scope| {
            let one = scope.spawn(|| call("one"));
            let two = scope.spawn(|| call("two"));
            (one.join().unwrap(), two.join().unwrap())
        });
        assert_eq!(first, second);
        assert_eq!(db.read(|tx| users::by_id(tx, user)).unwrap().unwrap().name, "Name of irina!");
    }

    fn wrong_passwords_make_the_next_one_wait_and_others_need_not(db: &Db) {
        let wait = |login: &str, address: &str, at: i64| {
            let until = db.read(|tx| sign_in_attempts::delay_until(tx, login, address, later(at))).unwrap();
            until.map_or(0, |until| until.duration_since(later(at)).as_millis())
        };
        let mut waits = Vec::new();
        for _ in 0..8 {
            db.write(|tx| sign_in_attempts::record(tx, "irina", "10.0.0.1", now())).unwrap();
            waits.push(wait("irina", "10.0.0.1", 0));
        }
        assert!(waits[..4].iter().all(|wait| *wait == 0) && waits[4..].is_sorted() && waits[4] > 0, "{waits:?}");
        assert_eq!(wait("irina", "10.9.9.9", 0), waits[7]);
        assert_eq!(wait("oleg", "10.9.9.9", 0), 0);
        assert_eq!(wait("irina", "10.0.0.1", 60), 0);
        for _ in 0..192 {
            db.write(|tx| sign_in_attempts::record(tx, "irina", "10.0.0.1", now())).unwrap();
        }
        assert!(wait("irina", "10.0.0.1", 0) > 900);
        assert!(wait("oleg", "10.0.0.1", 0) > 900);
        assert_eq!(wait("oleg", "10.9.9.9", 0), 0);
        db.write(|tx| sign_in_attempts::clear(tx, "irina")).unwrap();
        assert_eq!(wait("irina", "10.9.9.9", 0), 0);
        assert!(wait("irina", "10.0.0.1", 0) > 900);
    }

    fn tries_at_once_come_one_after_the_other_and_the_queue_ends(db: &Db) {
        let turn = |login: &str, address: &str| db.write(|tx| sign_in_attempts::take_turn(tx, login, address, now())).unwrap();
        let turns: Vec<_> = (0..60).map(|_| turn("irina", "10.0.0.1").unwrap()).collect();
        assert!(turns.is_sorted() && turns[0] == now() && turns[59] > later(1));
        let mut last = Some(now());
        for _ in 0..200 {
            last = turn("irina", "10.0.0.1");
        }
        assert_eq!(last, None);
        assert_eq!(turn("oleg", "10.9.9.9"), Some(now()));
        db.write(|tx| sign_in_attempts::take_back(tx, "10.9.9.9")).unwrap();
        let left = db.read::<_, DbError>(|tx| tx.row("select count as n from attempts where subject = '10.9.9.9'", &[]));
        assert_eq!(left.unwrap().unwrap().get::<i64>("n").unwrap(), 0);
    }

    fn wrong_passwords_are_forgotten_after_half_an_hour(db: &Db) {
        for _ in 0..6 {
            db.write(|tx| sign_in_attempts::record(tx, "irina", "10.0.0.1", now())).unwrap();
        }
        let half_an_hour = 30 * 60;
        assert_eq!(db.write(|tx| sign_in_attempts::drop_old(tx, later(half_an_hour))).unwrap(), 0);
        db.write(|tx| sign_in_attempts::record(tx, "irina", "10.0.0.1", later(half_an_hour + 1))).unwrap();
        assert_eq!(db.read(|tx| sign_in_attempts::delay_until(tx, "irina", "10.0.0.1", later(half_an_hour + 1))).unwrap(), None);
        assert_eq!(db.write(|tx| sign_in_attempts::drop_old(tx, later(2 * half_an_hour + 2))).unwrap(), 2);
    }

    fn a_node_with_another_clock_makes_nobody_wait_for_long(db: &Db) {
        for _ in 0..6 {
            db.write(|tx| sign_in_attempts::record(tx, "irina", "10.0.0.1", later(7200))).unwrap();
        }
        let until = db.read(|tx| sign_in_attempts::delay_until(tx, "irina", "10.0.0.1", now())).unwrap().unwrap();
        assert!(until < later(30), "{until}");
    }

    fn a_table_is_held_by_one_until_freed_or_run_out(db: &Db) {
        let (irina, oleg) = (person(db, "irina", None), person(db, "oleg", None));
        let take = |holder: &str, user, from, seconds| db.write(|tx| leases::take(tx, &take("notes", holder, user, from, seconds))).unwrap();
        let held = |at| db.read(|tx| leases::held(tx, "notes", later(at))).unwrap();
        assert_eq!(held(0), None);
        assert!(take("a", irina, 0, 60));
        assert!(!take("b", oleg, 1, 60));
        let lease = held(1).unwrap();
        assert_eq!((lease.login.as_str(), lease.name.as_str(), lease.since, lease.until), ("irina", "Name of irina", now(), later(60)));
        assert!(take("a", irina, 10, 60));
        assert_eq!(held(11).unwrap().since, now());
        assert!(db.write(|tx| leases::renew(tx, "notes", "a", later(60), later(120))).unwrap());
        assert!(!db.write(|tx| leases::renew(tx, "notes", "b", later(60), later(120))).unwrap());
        assert_eq!(held(122), None);
        assert!(!db.write(|tx| leases::renew(tx, "notes", "a", later(122), later(180))).unwrap());
        assert!(take("b", oleg, 122, 60));
        assert!(!db.write(|tx| leases::free(tx, "notes", "a")).unwrap());
        assert_eq!(db.read(|tx| leases::all(tx, later(123))).unwrap().len(), 1);
        assert!(db.write(|tx| leases::free(tx, "notes", "b")).unwrap());
        assert!(take("a", irina, 130, 60));
        assert!(db.write(|tx| leases::release(tx, "notes")).unwrap());
        assert!(take("b", oleg, 131, 60));
        assert_eq!(db.write(|tx| leases::drop_old(tx, later(193))).unwrap(), 1);
        assert!(db.read(|tx| leases::all(tx, later(131))).unwrap().is_empty());
    }

    fn clocks_that_differ_end_no_lease_that_its_holder_counts_on(db: &Db) {
        let (irina, oleg) = (person(db, "irina", None), person(db, "oleg", None));
        // Given until 60 by a node that is two seconds behind; asked of one with the right time.
        assert!(db.write(|tx| leases::take(tx, &take("notes", "a", irina, 0, 60))).unwrap());
        let other = |from| db.write(|tx| leases::take(tx, &take("notes", "b", oleg, from, 60))).unwrap();
        assert!(!other(61));
        assert!(db.read(|tx| leases::held(tx, "notes", later(61))).unwrap().is_some());
        assert_eq!(db.write(|tx| leases::drop_old(tx, later(61))).unwrap(), 0);
        // Its holder renews it over the node ahead.
        assert!(db.write(|tx| leases::renew(tx, "notes", "a", later(61), later(121))).unwrap());
        assert!(!other(122));
        assert!(other(123));
    }

    fn a_wrong_password_on_a_node_ahead_makes_nobody_wait_on_one_behind(db: &Db) {
        db.write(|tx| sign_in_attempts::record(tx, "irina", "10.0.0.1", later(2))).unwrap();
        let wait = db.read(|tx| sign_in_attempts::delay_until(tx, "irina", "10.0.0.1", now())).unwrap();
        assert_eq!(wait, None);
        assert_eq!(db.write(|tx| sign_in_attempts::take_turn(tx, "irina", "10.0.0.1", now())).unwrap(), Some(now()));
    }

    fn of_many_who_take_a_table_at_once_one_gets_it(db: &Db) {
        let user = person(db, "irina", None);
        let start = Barrier::new(8);
        let got: usize = thread::scope(|scope| {
            let start = &start;
            let takers: Vec<_> = (0..8).map(|n| scope.spawn(move || {
                let holder = n.to_string();
                start.wait();
                db.write(|tx| leases::take(tx, &take("notes", &holder, user, 0, 60))).unwrap()
            })).collect();
            takers.into_iter().map(|taker| usize::from(taker.join().unwrap())).sum()
        });
        assert_eq!(got, 1);
    }

    fn a_table_is_not_taken_while_a_call_that_found_it_free_writes(db: &Db) {
        let user = person(db, "irina", None);
        let found = Barrier::new(2);
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                db.write(|tx| -> Result<_, DbError> {
                    assert_eq!(leases::held(tx, "notes", now())?, None);
                    found.wait();
                    thread::sleep(Duration::from_millis(100));
                    tx.run("update users set name = 'written' where id = :id", &[("id", user.into())])
                }).unwrap();
            });
            found.wait();
            let taken = db.write(|tx| -> Result<_, DbError> {
                let taken = leases::take(tx, &take("notes", "a", user, 0, 60))?;
                Ok((taken, users::by_id(tx, user)?.unwrap().name))
            }).unwrap();
            assert_eq!(taken, (true, "written".to_owned()));
            writer.join().unwrap();
        });
    }

    fn what_a_transaction_says_is_heard_once_it_is_committed(db: &Db) {
        let mut first = db.listen().unwrap();
        let mut second = db.listen().unwrap();
        let lost: Result<(), DbError> = db.write(|tx| { tx.signal("notes", "taken back")?; Err(DbError::Busy) });
        assert!(lost.is_err());
        db.write(|tx| tx.signal("notes", "{\"id\": 1, \"name\": \"Ёлка\"}")).unwrap();
        db.signal("events", "").unwrap();
        for signals in [&mut first, &mut second] {
            let mut next = || match signals.wait() {
                Some(Signal::Said { channel, payload }) => (channel, payload),
                other => panic!("{other:?}"),
            };
            assert_eq!(next(), ("notes".to_owned(), "{\"id\": 1, \"name\": \"Ёлка\"}".to_owned()));
            assert_eq!(next(), ("events".to_owned(), String::new()));
        }
        let long = db.signal("notes", &"x".repeat(signal::LONGEST));
        assert!(matches!(long, Err(DbError::Parameter(_))));
    }
}

#[test]
fn nodes_hear_each_other_and_learn_of_a_broken_line() {
    let Some(place) = Fixture::postgres() else { return };
    let here = place.seeded();
    let there =
        Db::open(&format!("{}&application_name=listener{}", place.url, std::process::id()), place.root())
            .unwrap();
    let elsewhere = Fixture::postgres().unwrap();
    let elsewhere = elsewhere.open();
    let mut signals = there.listen().unwrap();
    elsewhere.signal("notes", "of another store").unwrap();
    here.signal("notes", "1").unwrap();
    let said = |payload: &str| Some(Signal::Said { channel: "notes".into(), payload: payload.into() });
    assert_eq!(signals.wait(), said("1"));
    let sql = "select pg_terminate_backend(pid) as done from pg_stat_activity where application_name = :name";
    let name = format!("listener{}", std::process::id());
    here.write::<_, DbError>(|tx| tx.rows(sql, &[("name", name.into())])).unwrap();
    assert_eq!(signals.wait(), Some(Signal::Missed));
    // Heard again.
    assert_eq!(signals.wait(), Some(Signal::Missed));
    here.signal("notes", "2").unwrap();
    assert_eq!(signals.wait(), said("2"));
}
