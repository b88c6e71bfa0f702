//! Two nodes on one database, whose clocks are two seconds apart.

use serde_json::{Value, json};

use crate::ask::{Ask, ticket};
use crate::house::{Base, House, PASSWORD, TestWorld, on_both};

/// The clock of the node ahead when that of the house stands at noon.
const AHEAD: &str = "2026-11-30T12:00:02Z";

fn save(ticket: &Value, name: &str) -> Ask {
    Ask::tool("memory_save", json!({"name": name})).with("session", ticket.clone())
}

on_both! {
    async fn a_ticket_of_one_node_is_good_on_the_other_to_its_last_hour(house: House) {
        let world = TestWorld::at(AHEAD);
        let node = house.node(&world).await;
        let here = Value::from(ticket(house, "irina").await);
        let there = Ask::sign_in("irina", PASSWORD).result_at(&node).await.unwrap()["ticket"].clone();
        let list = |ticket: &Value| Ask::tool("memory_list", json!({})).with("session", ticket.clone());
        list(&here).result_at(&node).await.unwrap();
        list(&there).result(house).await.unwrap();
        world.set_now("2026-12-01T11:59:59Z");
        list(&here).result_at(&node).await.unwrap();
        // Its life began anew, by the clock ahead; the one behind takes nothing back.
        house.world.set_now("2026-12-01T11:59:57Z");
        list(&here).result(house).await.unwrap();
        house.world.set_now("2026-12-02T11:59:50Z");
        list(&here).result(house).await.unwrap();
    }

    async fn a_write_repeated_at_the_other_node_is_done_once(house: House) {
        let node = house.node(&TestWorld::at(AHEAD)).await;
        let ticket = Value::from(ticket(house, "irina").await);
        let one = save(&ticket, "first ahead").with("key", "7c6a");
        let answer = one.result_at(&node).await.unwrap();
        assert_eq!(one.result(house).await.unwrap(), answer);
        let two = save(&ticket, "first behind").with("key", "7c6b");
        let answer = two.result(house).await.unwrap();
        assert_eq!(two.result_at(&node).await.unwrap(), answer);
        assert_eq!((house.count("notes"), house.count("journal")), (2, 2));
    }

    async fn the_journal_keeps_the_order_of_the_writes(house: House) {
        let node = house.node(&TestWorld::at(AHEAD)).await;
        let ticket = Value::from(ticket(house, "irina").await);
        let id = save(&ticket, "ahead").result_at(&node).await.unwrap()["id"].clone();
        let again = |name: &str| save(&ticket, name).with("params", json!({"id": id, "name": name}));
        again("behind").result(house).await.unwrap();
        again("ahead again").result_at(&node).await.unwrap();
        let entries = house.db.read(|tx| db::journal::list(tx, None, 10)).unwrap();
        let names: Vec<&Value> = entries.iter().rev().map(|written| &written.changes[0].after.as_ref().unwrap()["name"]).collect();
        assert_eq!(names, ["ahead", "behind", "ahead again"]);
        let before: Vec<&Value> = entries.iter().rev().skip(1).map(|written| &written.changes[0].before.as_ref().unwrap()["name"]).collect();
        assert_eq!(before, ["ahead", "behind"]);
    }

    async fn a_lease_of_the_node_behind_holds_on_the_node_ahead(house: House) {
        let world = TestWorld::at(AHEAD);
        let node = house.node(&world).await;
        let admin = Value::from(ticket(house, "admin").await);
        let params = json!({"login": "admin", "password": PASSWORD});
        let program = Ask::new("PROGRAM_SIGN_IN").with("params", params).result(house).await.unwrap()["ticket"].clone();
        let take = |params: Value| Ask::new("PROGRAM_LEASE_TAKE").with("session", program.clone()).with("params", params);
        let taken = take(json!({"tables": ["notes"], "what": "prices", "seconds": 30})).result(house).await.unwrap();
        house.world.set_now("2026-11-30T12:00:29Z");
        world.set_now("2026-11-30T12:00:31Z");
        let words = save(&admin, "n").result_at(&node).await.unwrap_err();
        assert!(words.starts_with("The table notes is in work right now"), "{words}");
        let locks = Ask::tool("engine_db_locks", json!({})).with("session", admin.clone());
        assert!(locks.result_at(&node).await.unwrap().to_string().contains("prices"));
        let anew = take(json!({"tables": ["notes"], "seconds": 30})).result_at(&node).await.unwrap_err();
        assert!(anew.contains("Administrator (admin)"), "{anew}");
        let params = json!({"tables": ["notes"], "holder": taken["holder"], "seconds": 30});
        let renew = Ask::new("PROGRAM_LEASE_RENEW").with("session", program.clone()).with("params", params);
        assert_eq!(renew.result_at(&node).await.unwrap()["tables"], json!(["notes"]));
        world.set_now("2026-11-30T12:01:03Z");
        save(&admin, "n").result_at(&node).await.unwrap();
    }
}

/// Makes PostgreSQL end the connection in the middle of so many commits that add a note.
fn cut_commits(house: &House, most: i64) {
    let statements = [
        "create sequence if not exists cuts".to_owned(),
        format!(
            "create or replace function cut() returns trigger language plpgsql as $$ begin
               if nextval('cuts') <= {most} then perform pg_terminate_backend(pg_backend_pid()); end if;
               return null;
             end $$"
        ),
        "drop trigger if exists cut on notes".to_owned(),
        "create constraint trigger cut after insert on notes deferrable initially deferred
           for each row execute function cut()"
            .to_owned(),
    ];
    for sql in statements {
        house.db.write(|tx| tx.run(&sql, &[])).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_end_is_lost_is_looked_up_under_its_key() {
    let Some(house) = House::on(Base::Postgres).await else { return };
    let house = &house;
    let ticket = Value::from(ticket(house, "irina").await);
    cut_commits(house, 2);
    let keyed = save(&ticket, "cut twice").with("key", "7c6a");
    let answer = keyed.result(house).await.unwrap();
    assert_eq!(keyed.result(house).await.unwrap(), answer);
    assert_eq!((house.count("notes"), house.count("journal")), (1, 1));
    // A database that does not come back is told as such: nobody says that nothing was changed.
    cut_commits(house, 1000);
    let lost = save(&ticket, "cut for good").with("key", "7c6b");
    let words = lost.result(house).await.unwrap_err();
    assert!(
        words.starts_with("The store is not available right now") && words.contains("not done twice"),
        "{words}"
    );
    cut_commits(house, 0);
    lost.result(house).await.unwrap();
    assert_eq!((house.count("notes"), house.count("journal")), (2, 2));
}
