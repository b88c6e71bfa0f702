//! Two nodes on one database, whose clocks are two seconds apart.

use serde_json::{Value, json};

use crate::client::{TestRequest, ticket};
use crate::test_store::{Base, PASSWORD, TestClock, TestStore, on_both};

/// The clock of the node ahead when that of the store stands at noon.
const AHEAD: &str = "2026-11-30T12:00:02Z";

const KEYS: [&str; 2] = ["3f0a3cde-3f3a-4d8e-9b35-0d2e7e3f8a10", "5d8f2f3e-8a75-4c57-a0cc-9a6f0f1d2b44"];

fn save(ticket: &Value, name: &str) -> TestRequest {
    TestRequest::tool("memory_save", json!({"name": name})).with("session", ticket.clone())
}

on_both! {
    async fn a_ticket_of_one_node_is_good_on_the_other_to_its_last_hour(store: TestStore) {
        let clock = TestClock::at(AHEAD);
        let node = store.node(&clock).await;
        let here = Value::from(ticket(store, "irina").await);
        let there = TestRequest::sign_in("irina", PASSWORD).result_at(&node).await.unwrap()["ticket"].clone();
        let list = |ticket: &Value| TestRequest::tool("memory_list", json!({})).with("session", ticket.clone());
        list(&here).result_at(&node).await.unwrap();
        list(&there).result(store).await.unwrap();
        clock.set_now("2026-12-01T11:59:59Z");
        list(&here).result_at(&node).await.unwrap();
        // Its life began anew, by the clock ahead; the one behind takes nothing back.
        store.clock.set_now("2026-12-01T11:59:57Z");
        list(&here).result(store).await.unwrap();
        store.clock.set_now("2026-12-02T11:59:50Z");
        list(&here).result(store).await.unwrap();
    }

    async fn a_write_repeated_at_the_other_node_is_done_once(store: TestStore) {
        let node = store.node(&TestClock::at(AHEAD)).await;
        let ticket = Value::from(ticket(store, "irina").await);
        let one = save(&ticket, "first ahead").with("key", KEYS[0]);
        let answer = one.result_at(&node).await.unwrap();
        assert_eq!(one.result(store).await.unwrap(), answer);
        let two = save(&ticket, "first behind").with("key", KEYS[1]);
        let answer = two.result(store).await.unwrap();
        assert_eq!(two.result_at(&node).await.unwrap(), answer);
        assert_eq!((store.count("notes"), store.count("journal where actor = 'agent'")), (2, 2));
    }

    async fn the_journal_keeps_the_order_of_the_writes(store: TestStore) {
        let node = store.node(&TestClock::at(AHEAD)).await;
        let ticket = Value::from(ticket(store, "irina").await);
        let id = save(&ticket, "ahead").result_at(&node).await.unwrap()["id"].clone();
        let again = |name: &str| save(&ticket, name).with("params", json!({"id": id, "name": name}));
        again("behind").result(store).await.unwrap();
        again("ahead again").result_at(&node).await.unwrap();
        let mut entries = store.db.read(|tx| db::journal::list(tx, None, 10)).unwrap();
        entries.retain(|written| written.entry.actor == db::journal::Actor::Agent);
        let names: Vec<&Value> = entries.iter().rev().map(|written| &written.changes[0].after.as_ref().unwrap()["name"]).collect();
        assert_eq!(names, ["ahead", "behind", "ahead again"]);
        let before: Vec<&Value> = entries.iter().rev().skip(1).map(|written| &written.changes[0].before.as_ref().unwrap()["name"]).collect();
        assert_eq!(before, ["ahead", "behind"]);
    }

    async fn a_lease_of_the_node_behind_holds_on_the_node_ahead(store: TestStore) {
        let clock = TestClock::at(AHEAD);
        let node = store.node(&clock).await;
        let admin = Value::from(ticket(store, "admin").await);
        let params = json!({"login": "admin", "password": PASSWORD});
        let program = TestRequest::new("PROGRAM_SIGN_IN").with("params", params).result(store).await.unwrap()["ticket"].clone();
        let take = |params: Value| TestRequest::new("PROGRAM_LEASE_TAKE").with("session", program.clone()).with("params", params);
        let taken = take(json!({"tables": ["notes"], "what": "prices", "seconds": 30})).result(store).await.unwrap();
        store.clock.set_now("2026-11-30T12:00:29Z");
        clock.set_now("2026-11-30T12:00:31Z");
        let words = save(&admin, "n").result_at(&node).await.unwrap_err();
        assert!(words.starts_with("The table notes is in work right now"), "{words}");
        let locks = TestRequest::tool("engine_db_locks", json!({})).with("session", admin.clone());
        assert!(locks.result_at(&node).await.unwrap().to_string().contains("prices"));
        let anew = take(json!({"tables": ["notes"], "seconds": 30})).result_at(&node).await.unwrap_err();
        assert!(anew.contains("Administrator (admin)"), "{anew}");
        let params = json!({"tables": ["notes"], "holder": taken["holder"], "seconds": 30});
        let renew = TestRequest::new("PROGRAM_LEASE_RENEW").with("session", program.clone()).with("params", params);
        assert_eq!(renew.result_at(&node).await.unwrap()["tables"], json!(["notes"]));
        clock.set_now("2026-11-30T12:01:03Z");
        save(&admin, "n").result_at(&node).await.unwrap();
    }
}

/// Makes PostgreSQL end the connection in the middle of so many commits that add a row to the table.
fn cut_commits(store: &TestStore, table: &str, most: i64) {
    let statements = [
        "create sequence if not exists cuts".to_owned(),
        format!(
            "create or replace function cut() returns trigger language plpgsql as $$ begin
               if nextval('cuts') <= {most} then perform pg_terminate_backend(pg_backend_pid()); end if;
               return null;
             end $$"
        ),
        format!("drop trigger if exists cut on {table}"),
        format!(
            "create constraint trigger cut after insert on {table} deferrable initially deferred
             for each row execute function cut()"
        ),
    ];
    for sql in statements {
        store.db.write(|tx| tx.run(&sql, &[])).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_end_is_lost_is_looked_up_under_its_key() {
    let Some(store) = TestStore::on(Base::Postgres).await else { return };
    let store = &store;
    let ticket = Value::from(ticket(store, "irina").await);
    cut_commits(store, "notes", 2);
    let keyed = save(&ticket, "cut twice").with("key", KEYS[0]);
    let answer = keyed.result(store).await.unwrap();
    assert_eq!(keyed.result(store).await.unwrap(), answer);
    assert_eq!((store.count("notes"), store.count("journal where actor = 'agent'")), (1, 1));
    // A database that does not come back is told as such: nobody says that nothing was changed.
    cut_commits(store, "notes", 1000);
    let lost = save(&ticket, "cut for good").with("key", KEYS[1]);
    let words = lost.result(store).await.unwrap_err();
    assert!(
        words.starts_with("The store is not available right now") && words.contains("not done twice"),
        "{words}"
    );
    cut_commits(store, "notes", 0);
    lost.result(store).await.unwrap();
    assert_eq!((store.count("notes"), store.count("journal where actor = 'agent'")), (2, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_told_that_nothing_changed_when_the_end_of_another_commit_is_lost() {
    let Some(store) = TestStore::on(Base::Postgres).await else { return };
    let store = &store;
    let params = json!({"login": "admin", "password": PASSWORD});
    let sign_in = TestRequest::new("PROGRAM_SIGN_IN").with("params", params);
    let session = sign_in.result(store).await.unwrap()["ticket"].clone();
    let take =
        TestRequest::new("PROGRAM_LEASE_TAKE").with("params", json!({"tables": ["notes"], "seconds": 30}));
    let take = take.with("session", session);
    for (table, ask) in [("tickets", &sign_in), ("leases", &take)] {
        cut_commits(store, table, 1000);
        let words = ask.result(store).await.unwrap_err();
        assert!(words.starts_with("The store is not available right now"), "{words}");
        assert!(words.contains("may have been done"), "{words}");
        cut_commits(store, table, 0);
        ask.result(store).await.unwrap();
    }
}
