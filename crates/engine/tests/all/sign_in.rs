//! Signing in: what the session is told, what wrong passwords cost.

use std::time::{Duration, Instant};

use db::events::NewEvent;
use db::tasks::NewTask;
use db::{ai_tools, events, groups, options, rights, sign_in_attempts, tasks, users};
use serde_json::{Value, json};

use crate::client::{TestRequest, signed_in, ticket};
use crate::test_store::{GRANTED, NOON, PASSWORD, TestStore, on_both};

fn event(store: &TestStore, to_user: Option<&str>, princ: Option<&str>) -> i64 {
    let new = NewEvent {
        user_id: None,
        to_user: to_user.map(|login| store.id(login)),
        to_group: None,
        princ_id: princ.map(|login| store.id(login)),
        key: "kOrderNew".to_owned(),
        data: json!({"order": 7}),
        now: NOON.parse().unwrap(),
    };
    store.db.write(|tx| events::create(tx, &new)).unwrap()
}

async fn launched(store: &TestStore, event: i64) -> Value {
    let params = json!({"login": "irina", "password": PASSWORD, "event": event});
    TestRequest::new("AGENT_SESSION_CONNECT").with("params", params).result(store).await.unwrap()
}

async fn timed(store: &TestStore, ask: &TestRequest) -> (Result<Value, String>, Duration) {
    let started = Instant::now();
    let result = ask.result(store).await;
    (result, started.elapsed())
}

/// Whether two times differ by less than half.
fn are_alike([one, other]: [f64; 2]) -> bool {
    one / other < 1.5 && other / one < 1.5
}

on_both! {
    async fn the_answer_tells_all_a_session_has_to_know(store: TestStore) {
        let (irina, oleg, admin) = (store.id("irina"), store.id("oleg"), store.id("admin"));
        store.db.write(|tx| {
            let language = options::create(tx, options::Scope::User, Some("LANG"), "Language")?;
            options::set_for_user(tx, irina, language, &options::Setting::Text("ru".to_owned()))?;
            rights::grant_to_user(tx, irina, "SCHEDULER")?;
            rights::grant_to_user(tx, irina, "AGENT_TOOL_LIST")?;
            ai_tools::create_tool(tx, None, "STOCK", "Stock", "")?;
            for (creator, executor, state) in [(admin, irina, "kNew"), (admin, irina, "kNew"),
                (irina, oleg, "kAccept"), (irina, oleg, "kComplete"), (irina, oleg, "kClose")] {
                let name = "a task".to_owned();
                let now = NOON.parse().unwrap();
                let new = NewTask { creator_id: creator, executor_id: executor, state: state.to_owned(), name,
                    body: String::new(), due: None, now };
                tasks::create(tx, &new)?;
            }
            Ok(())
        }).unwrap();
        let mut signed = signed_in(store, "irina").await;
        assert_eq!(signed["ticket"].as_str().unwrap().len(), 43);
        let closed = signed["rights"]["closed"].take();
        let closed: Vec<&str> = closed.as_array().unwrap().iter().map(|row| row["command"].as_str().unwrap()).collect();
        assert!(closed.contains(&"AGENT_REPO_LIST") && closed.iter().all(|command| !GRANTED.contains(command)));
        signed["ticket"].take();
        let managers = store.db.read(|tx| groups::by_skey(tx, "MANAGER", "en")).unwrap().unwrap().id;
        assert_eq!(signed, json!({
            "ticket": null, "licensed": false, "language": "en",
            "user": {"id": irina, "login": "irina", "name": "Name of irina", "options": {"LANG": "ru"}},
            "group": {"id": managers, "skey": "MANAGER", "name": "Managers", "options": {}},
            "princ": null, "event": null, "demo": false,
            "memory": {"notes": 0, "critical": []}, "tools": 1,
            "tasks": {"waiting": [{"state": "kNew", "name": "New", "count": 2},
                                  {"state": "kComplete", "name": "Completed", "count": 1}],
                      "given": [{"state": "kAccept", "name": "Accepted", "count": 1},
                                {"state": "kComplete", "name": "Completed", "count": 1}]},
            "rights": {"granted": ["AGENT_MEMORY_LIST", "AGENT_MEMORY_LOAD", "AGENT_MEMORY_REMOVE",
                                   "AGENT_MEMORY_SAVE", "AGENT_TOOL_LIST"],
                       "closed": null, "components_path": signed["rights"]["components_path"],
                       "not_now": []},
        }));
    }

    async fn somebody_without_group_or_rights_signs_in_all_the_same(store: TestStore) {
        let signed = signed_in(store, "oleg").await;
        for field in ["group", "memory", "tools", "tasks", "princ", "event"] {
            assert_eq!(signed[field], Value::Null, "{field}");
        }
        assert_eq!(signed["rights"]["granted"], json!([]));
    }

    async fn names_come_in_the_stores_language(store: TestStore) {
        store.settings(json!({"language": "ru"})).await;
        let signed = signed_in(store, "oleg").await;
        let closed = signed["rights"]["closed"].as_array().unwrap();
        let list = closed.iter().find(|row| row["command"] == "AGENT_MEMORY_LIST").unwrap();
        let is_russian = |text: &str| text.chars().any(|c| ('а'..='я').contains(&c));
        assert!(list["path"].as_str().unwrap().split(" -> ").all(is_russian), "{list}");
    }

    async fn memory_that_can_only_be_listed_is_closed(store: TestStore) {
        let oleg = store.id("oleg");
        store.db.write(|tx| rights::grant_to_user(tx, oleg, "AGENT_MEMORY_LIST")).unwrap();
        assert_eq!(signed_in(store, "oleg").await["memory"], Value::Null);
        store.db.write(|tx| rights::grant_to_user(tx, oleg, "AGENT_MEMORY_LOAD")).unwrap();
        assert_eq!(signed_in(store, "oleg").await["memory"], json!({"notes": 0, "critical": []}));
    }

    async fn an_event_counts_for_those_it_is_addressed_to(store: TestStore) {
        let mine = event(store, Some("irina"), Some("admin"));
        let signed = launched(store, mine).await;
        assert_eq!(signed["event"], json!({"id": mine, "user_id": null, "key": "kOrderNew", "state": "kNew",
            "time": NOON, "data": {"order": 7}}));
        assert_eq!((&signed["princ"]["login"], &signed["princ"]["group"]["skey"]), (&json!("admin"), &json!("ADMIN")));
        for none in [event(store, Some("oleg"), Some("admin")), event(store, None, Some("admin")), 777_777] {
            let signed = launched(store, none).await;
            assert_eq!((&signed["event"], &signed["princ"]), (&Value::Null, &Value::Null));
        }
        let blocked = event(store, Some("irina"), Some("oleg"));
        let oleg = store.id("oleg");
        store.db.write(|tx| users::set_blocked(tx, oleg, true)).unwrap();
        let signed = launched(store, blocked).await;
        assert_eq!((&signed["event"]["id"], &signed["princ"]), (&json!(blocked), &Value::Null));
    }

    async fn a_wrong_password_and_an_unknown_login_are_one_answer(store: TestStore) {
        for (login, password) in [("irina", "wrong"), ("nobody", PASSWORD), ("", ""), ("irina", ""), ("irina ", PASSWORD),
            (&"x".repeat(60_000), PASSWORD), ("irina", &"y".repeat(60_000))] {
            let ask = TestRequest::sign_in(login, password).from(9);
            assert_eq!(ask.result(store).await, Err("WRONG_PASSWORD".to_owned()));
        }
        let ask = TestRequest::sign_in("irina", PASSWORD).with("params", json!({"login": "irina", "password": 1}));
        let words = ask.result(store).await.unwrap_err();
        assert_eq!(words, "Bad request: the parameters are not those of the command");
    }

    async fn a_login_is_one_in_all_its_capitals(store: TestStore) {
        let signed_in = TestRequest::sign_in("IrIna", PASSWORD).result(store).await.unwrap();
        assert_eq!(signed_in["user"]["login"], json!("irina"));
        for login in ["irina", "IRINA", "Irina"] {
            TestRequest::sign_in(login, "wrong").result(store).await.unwrap_err();
        }
        let counted = "select subject, count from attempts where kind = 'login'";
        let rows = store.db.read(|tx| tx.rows(counted, &[])).unwrap();
        let rows: Vec<(String, i64)> =
            rows.iter().map(|row| (row.get("subject").unwrap(), row.get("count").unwrap())).collect();
        assert_eq!(rows, [("irina".to_owned(), 3)]);
    }

    async fn guesses_from_one_network_of_ipv6_are_counted_together(store: TestStore) {
        store.settings(json!({"trusted_proxies": ["127.0.0.1"]})).await;
        for address in ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1", "192.0.2.1", "::ffff:192.0.2.1"] {
            let guess = TestRequest::sign_in("irina", "wrong").header("x-forwarded-for", address);
            guess.result(store).await.unwrap_err();
        }
        let counted = "select subject, count from attempts where kind = 'address' order by subject";
        let rows = store.db.read(|tx| tx.rows(counted, &[])).unwrap();
        let rows: Vec<(String, i64)> =
            rows.iter().map(|row| (row.get("subject").unwrap(), row.get("count").unwrap())).collect();
        let wanted = [("192.0.2.1", 2), ("2001:db8:1:2::/64", 2), ("2001:db8:1:3::/64", 1)];
        assert_eq!(rows, wanted.map(|(subject, count)| (subject.to_owned(), count)));
    }

    async fn time_does_not_tell_whether_a_login_exists(store: TestStore) {
        // The shortest of each: what else the machine does only makes them longer, and more rounds shorter.
        let mut shortest = [f64::MAX; 2];
        for round in 0..60u8 {
            for (shortest, login) in shortest.iter_mut().zip(["irina", "nobody"]) {
                // From addresses of their own and with counts forgotten, so that nothing is slowed down.
                store.db.write(|tx| tx.run("delete from attempts", &[])).unwrap();
                let (result, took) = timed(store, &TestRequest::sign_in(login, "wrong").from(20 + round)).await;
                assert_eq!(result, Err("WRONG_PASSWORD".to_owned()));
                *shortest = shortest.min(took.as_secs_f64());
            }
            if round >= 6 && are_alike(shortest) {
                break;
            }
        }
        assert!(are_alike(shortest), "a known login and an unknown one take {shortest:?} s");
    }

    async fn guessing_gets_slow_and_others_do_not_wait(store: TestStore) {
        store.with_the_real_clock().await;
        let wrong = TestRequest::sign_in("irina", "wrong");
        let (result, first) = timed(store, &wrong).await;
        assert_eq!(result, Err("WRONG_PASSWORD".to_owned()));
        for _ in 1..200 {
            store.db.write(|tx| sign_in_attempts::record(tx, "irina", "127.0.0.1", jiff::Timestamp::now())).unwrap();
        }
        let (result, late) = timed(store, &wrong).await;
        assert_eq!(result, Err("WRONG_PASSWORD".to_owned()));
        assert!(late > Duration::from_millis(800) && late > first, "{first:?}, then {late:?}");
        let (result, other) = timed(store, &TestRequest::sign_in("oleg", PASSWORD).from(3)).await;
        result.unwrap();
        assert!(other < late / 2, "{other:?}");
        // The right password of the same person waits its turn, is let in, and ends the slowness.
        timed(store, &TestRequest::sign_in("irina", PASSWORD).from(4)).await.0.unwrap();
        let (result, after) = timed(store, &TestRequest::sign_in("irina", PASSWORD).from(4)).await;
        result.unwrap();
        assert!(after < late / 2, "{after:?}");
    }

    async fn guesses_at_once_queue_up(store: TestStore) {
        store.with_the_real_clock().await;
        for _ in 0..600 {
            store.db.write(|tx| sign_in_attempts::record(tx, "irina", "127.0.0.1", jiff::Timestamp::now())).unwrap();
        }
        let store: &TestStore = store;
        let wrong = TestRequest::sign_in("irina", "wrong");
        let started = Instant::now();
        let asks = (0..12).map(|_| {
            let line = crate::client::Line::open(store, wrong.from);
            let wrong = wrong.clone();
            async move { wrong.result_on(&mut line.await).await }
        });
        let mut turned_away = 0;
        for result in crate::client::all(asks).await {
            let words = result.unwrap_err();
            turned_away += usize::from(words == "TOO_MANY_ATTEMPTS");
            assert!(words == "WRONG_PASSWORD" || words == "TOO_MANY_ATTEMPTS", "{words}");
        }
        assert!(turned_away >= 4, "{turned_away}: a pause is three seconds, a queue twenty");
        assert!(started.elapsed() > Duration::from_secs(8));
    }

    async fn nothing_is_free_for_a_thousand_guesses_at_once(store: TestStore) {
        store.with_the_real_clock().await;
        let store: &TestStore = store;
        let asks = (0..40).map(|_| {
            let wrong = TestRequest::sign_in("irina", "wrong");
            let line = crate::client::Line::open(store, wrong.from);
            async move { wrong.result_on(&mut line.await).await }
        });
        for result in crate::client::all(asks).await {
            assert_eq!(result, Err("WRONG_PASSWORD".to_owned()));
        }
        let row = store.db.read(|tx| tx.row("select count, last from attempts where kind = 'login'", &[])).unwrap();
        assert_eq!(row.unwrap().get::<i64>("count").unwrap(), 40, "every guess is counted once");
    }

    async fn signing_in_again_leaves_the_first_ticket_alone(store: TestStore) {
        let (first, second) = (ticket(store, "irina").await, ticket(store, "irina").await);
        assert_ne!(first, second);
        for ticket in [first, second] {
            TestRequest::tool("memory_list", json!({})).with("session", ticket).result(store).await.unwrap();
        }
        let kept = store.db.read(|tx| tx.rows("select hash from tickets", &[])).unwrap();
        assert_eq!(kept.len(), 2);
    }
}
