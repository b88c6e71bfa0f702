//! Every refusal of the gate: provoked, without effect, cured.

use db::rights::{self, Limits};
use db::users;
use licence::{Claims, Keys, sign};
use serde_json::{Value, json};

use crate::client::{Line, TestRequest, ticket};
use crate::test_store::{GRANTED, NOON, PASSWORD, TestStore, on_both};

/// A writing call of the manager.
async fn save(store: &TestStore) -> TestRequest {
    let ticket = ticket(store, "irina").await;
    TestRequest::tool("memory_save", json!({"name": "a note", "body": "text"})).with("session", ticket)
}

/// The call is refused with these words and changes nothing.
async fn refused(store: &TestStore, ask: &TestRequest, words: &str) {
    let before = store.dump();
    assert_eq!(ask.result(store).await, Err(words.to_owned()));
    assert!(store.dump() == before, "`{words}` had an effect");
}

async fn passes(store: &TestStore, ask: &TestRequest) {
    let before = store.count("notes");
    ask.result(store).await.unwrap();
    assert_eq!(store.count("notes"), before + 1);
}

fn limits(hours: Option<(&str, &str)>, load: [f64; 3]) -> Limits {
    let time = |text: &str| shop::clock::parse_clock(text).unwrap();
    Limits { hours: hours.map(|(begin, end)| (time(begin), time(end))), load, ..Limits::default() }
}

fn limit(store: &TestStore, limits: &Limits) {
    assert!(store.db.write(|tx| rights::set_limits(tx, "AGENT_MEMORY_SAVE", limits)).unwrap());
}

fn block(store: &TestStore, blocked: bool) {
    let irina = store.id("irina");
    store.db.write(|tx| users::set_blocked(tx, irina, blocked)).unwrap();
}

fn regrant(store: &TestStore, granted: bool) {
    let managers = store.db.read(|tx| db::groups::by_skey(tx, "MANAGER", "en")).unwrap().unwrap().id;
    store
        .db
        .write(|tx| match granted {
            true => rights::grant_to_group(tx, managers, "AGENT_MEMORY_SAVE"),
            false => rights::revoke_from_group(tx, managers, "AGENT_MEMORY_SAVE"),
        })
        .unwrap();
}

/// A licensed store and a token for the manager, today.
struct Licensed {
    keys: Keys,
}

impl Licensed {
    fn new() -> Self {
        Self { keys: Keys::generate().unwrap() }
    }

    fn settings(&self) -> Value {
        json!({"licence": {"public_key": self.keys.public.to_string(), "domain": "shop.example.com"}})
    }

    fn token(&self, domain: &str, login: &str, day: &str) -> String {
        let claims = Claims { domain: domain.to_owned(), login: login.to_owned(), day: day.parse().unwrap() };
        sign(&claims, &self.keys.secret).unwrap()
    }

    fn right(&self) -> String {
        self.token("shop.example.com", "irina", "2026-11-30")
    }
}

on_both! {
    async fn a_locked_shop_lets_nobody_in(store: TestStore) {
        let ask = save(store).await;
        store.mark("shop.lock", true);
        refused(store, &ask, "SHOP_IS_LOCK").await;
        refused(store, &TestRequest::sign_in("admin", PASSWORD), "SHOP_IS_LOCK").await;
        refused(store, &TestRequest::sign_in("admin", "wrong"), "SHOP_IS_LOCK").await;
        store.mark("shop.lock", false);
        passes(store, &ask).await;
    }

    async fn builds_that_do_not_fit_are_told_both_ways(store: TestStore) {
        let ask = save(store).await;
        let words = format!("VERSION_SERVER: engine {}, the program needs 99.0 or newer", wire::BUILD);
        refused(store, &ask.clone().with("least", "99.0"), &words).await;
        store.settings(json!({"program_least": "0.0.9"})).await;
        let words = "VERSION_CLIENT: program 0.0.8, the engine needs 0.0.9 or newer";
        refused(store, &ask.clone().with("build", "0.0.8"), words).await;
        let words = "VERSION_CLIENT: program , the engine needs 0.0.9 or newer";
        refused(store, &ask.clone().with("build", ""), words).await;
        passes(store, &ask.clone().with("build", "0.0.10")).await;
        store.settings(json!({"program_exact": true})).await;
        let words = format!("VERSION_FAIL: program 0.0.10, engine {}", wire::BUILD);
        refused(store, &ask.clone().with("build", "0.0.10"), &words).await;
        passes(store, &ask).await;
    }

    async fn a_licence_is_for_a_clock_a_domain_a_login_and_a_day(store: TestStore) {
        let ask = save(store).await;
        let licensed = Licensed::new();
        store.settings(licensed.settings()).await;
        let with = |token: String| ask.clone().with("licence", token);
        let ask_right = with(licensed.right());
        for time in ["2026-11-30T12:10:01Z", "2026-11-30T11:49:00Z", "2026-11-30T12:11:00Z", "", "noon"] {
            refused(store, &ask_right.clone().with("time", time), "LICENCE_DATE").await;
        }
        passes(store, &ask_right.clone().with("time", "2026-11-30T14:09:00+02:00")).await;
        let elsewhere = TestRequest { host: "www.example.com".to_owned(), ..ask_right.clone() };
        refused(store, &elsewhere, "LICENCE_DOMAIN").await;
        refused(store, &with(licensed.token("other.example.com", "irina", "2026-11-30")), "LICENCE_DOMAIN").await;
        refused(store, &ask, "LICENCE_ERROR").await;
        refused(store, &with("v4.public.nonsense".to_owned()), "LICENCE_ERROR").await;
        refused(store, &with(licensed.token("shop.example.com", "irina", "2026-11-29")), "LICENCE_ERROR").await;
        refused(store, &with(licensed.token("shop.example.com", "oleg", "2026-11-30")), "LICENCE_ERROR").await;
        refused(store, &with(Licensed::new().right()), "LICENCE_ERROR").await;
        refused(store, &TestRequest::sign_in("irina", PASSWORD), "LICENCE_ERROR").await;
        let upper = TestRequest { host: "SHOP.example.com:8443".to_owned(), ..ask_right.clone() };
        passes(store, &upper).await;
    }

    async fn near_midnight_the_day_of_the_callers_clock_counts_too(store: TestStore) {
        let ask = save(store).await;
        let licensed = Licensed::new();
        store.settings(licensed.settings()).await;
        store.clock.set_now("2026-12-01T00:05:00Z");
        let ask = ask.with("licence", licensed.right());
        passes(store, &ask.clone().with("time", "2026-11-30T23:58:00Z")).await;
        refused(store, &ask.clone().with("time", "2026-12-01T00:05:00Z"), "LICENCE_ERROR").await;
        passes(store, &ask.with("time", "2026-12-01T00:05:00Z").with("licence",
            licensed.token("shop.example.com", "irina", "2026-12-01"))).await;
    }

    async fn a_ticket_is_bound_to_its_address_and_ends_a_day_after_its_last_use(store: TestStore) {
        let ask = save(store).await;
        refused(store, &ask.clone().with("session", "nonsense"), "SESSION_EXPIRED").await;
        refused(store, &ask.clone().with("session", Value::Null), "SESSION_EXPIRED").await;
        refused(store, &ask.clone().from(2), "SESSION_EXPIRED").await;
        for (now, lives) in [("2026-12-01T11:00:00Z", true), ("2026-12-02T10:59:00Z", true),
            ("2026-12-03T11:00:00Z", false)] {
            store.clock.set_now(now);
            if lives {
                passes(store, &ask).await;
            } else {
                refused(store, &ask, "SESSION_EXPIRED").await;
            }
        }
    }

    async fn reading_keeps_a_ticket_alive_as_writing_does(store: TestStore) {
        let list = TestRequest::tool("memory_list", json!({})).with("session", ticket(store, "irina").await);
        for now in ["2026-12-01T11:00:00Z", "2026-12-02T10:00:00Z", "2026-12-03T09:00:00Z"] {
            store.clock.set_now(now);
            list.result(store).await.unwrap();
        }
    }

    async fn a_program_ticket_does_not_work_at_the_agents_endpoint(store: TestStore) {
        let params = json!({"login": "irina", "password": PASSWORD});
        let signed = TestRequest::new("PROGRAM_SIGN_IN").with("params", params).result(store).await.unwrap();
        let ask = save(store).await.with("session", signed["ticket"].clone());
        refused(store, &ask, "SESSION_EXPIRED").await;
    }

    async fn a_changed_password_ends_the_session(store: TestStore) {
        let ask = save(store).await;
        let (root, fresh) = (store.root().to_owned(), "another horse");
        tokio::task::spawn_blocking(move || engine::store::set_password(&root, "irina", fresh)).await.unwrap().unwrap();
        refused(store, &ask, "WRONG_PASSWORD").await;
        refused(store, &TestRequest::sign_in("irina", PASSWORD), "WRONG_PASSWORD").await;
        let signed = TestRequest::sign_in("irina", fresh).result(store).await.unwrap();
        passes(store, &ask.with("session", signed["ticket"].clone())).await;
    }

    async fn a_blocked_person_is_told_so_and_their_ticket_does_not_come_back(store: TestStore) {
        let ask = save(store).await;
        block(store, true);
        refused(store, &ask, "ACCESS_DENIED").await;
        refused(store, &TestRequest::sign_in("irina", PASSWORD), "ACCESS_DENIED").await;
        refused(store, &TestRequest::sign_in("irina", "wrong"), "WRONG_PASSWORD").await;
        block(store, false);
        refused(store, &ask, "SESSION_EXPIRED").await;
        passes(store, &save(store).await).await;
    }

    async fn only_listed_addresses_may_come_and_administrators(store: TestStore) {
        let ask = save(store).await;
        store.settings(json!({"ip_list": ["10.0.0.0/8", "127.0.0.2-9"]})).await;
        refused(store, &ask, "IP_BLOCKED").await;
        refused(store, &TestRequest::sign_in("irina", PASSWORD), "IP_BLOCKED").await;
        TestRequest::sign_in("admin", PASSWORD).result(store).await.unwrap();
        TestRequest::sign_in("irina", PASSWORD).from(2).result(store).await.unwrap();
        store.settings(json!({"ip_list": ["127.0.0-127.*"]})).await;
        passes(store, &ask).await;
    }

    async fn only_a_trusted_proxy_is_believed(store: TestStore) {
        store.settings(json!({"ip_list": ["192.0.2.7"], "trusted_proxies": ["127.0.0.5"]})).await;
        let ask = TestRequest::sign_in("irina", PASSWORD).header("x-forwarded-for", "192.0.2.7");
        refused(store, &ask, "IP_BLOCKED").await;
        let signed = ask.clone().from(5).result(store).await.unwrap();
        let list = TestRequest::tool("memory_list", json!({})).with("session", signed["ticket"].clone()).from(5);
        list.clone().header("x-forwarded-for", "192.0.2.7").result(store).await.unwrap();
        refused(store, &list.header("x-forwarded-for", "192.0.2.8"), "SESSION_EXPIRED").await;
    }

    async fn a_forwarded_address_that_is_no_text_is_not_the_proxys_own(store: TestStore) {
        store.settings(json!({"ip_list": ["127.0.0.5", "192.0.2.7"], "trusted_proxies": ["127.0.0.5"]})).await;
        for (forwarded, passes) in [("@, 192.0.2.7", true), ("@, 203.0.113.9", false), ("192.0.2.7, @", false)] {
            let ask = TestRequest::sign_in("irina", PASSWORD).header("x-forwarded-for", forwarded).from(5);
            let bytes: Vec<u8> = ask.bytes().iter().map(|byte| if *byte == b'@' { 0xff } else { *byte }).collect();
            let result = Line::open(store, ask.from).await.send(&bytes).await.result();
            assert_eq!(result.map(|_| ()), if passes { Ok(()) } else { Err("IP_BLOCKED".to_owned()) }, "{forwarded}");
        }
    }

    async fn during_the_backup_nobody_works(store: TestStore) {
        let ask = save(store).await;
        store.settings(json!({"backup_begin": "23:30", "backup_end": "00:30", "time_zone": "Asia/Tokyo"})).await;
        for now in ["2026-11-30T14:30:00Z", "2026-11-30T15:29:59Z"] {
            store.clock.set_now(now);
            refused(store, &ask, "BACKUP_TIME: 23:30 - 00:30").await;
            refused(store, &TestRequest::sign_in("admin", PASSWORD), "BACKUP_TIME: 23:30 - 00:30").await;
        }
        store.clock.set_now("2026-11-30T15:30:00Z");
        passes(store, &ask).await;
    }

    async fn a_withdrawn_right_is_missed_at_once(store: TestStore) {
        let ask = save(store).await;
        regrant(store, false);
        refused(store, &ask, "ACCESS_DENIED").await;
        regrant(store, true);
        passes(store, &ask).await;
        let oleg = ticket(store, "oleg").await;
        refused(store, &ask.with("session", oleg), "ACCESS_DENIED").await;
    }

    async fn a_command_has_its_hours_and_its_load(store: TestStore) {
        let ask = save(store).await;
        store.settings(json!({"time_zone": "Europe/Berlin"})).await;
        limit(store, &limits(Some(("20:00", "13:00")), [0.0; 3]));
        refused(store, &ask, "COMMAND_TIMEOUT: 20:00 - 13:00").await;
        store.clock.set_now("2026-11-30T11:59:00Z");
        passes(store, &ask).await;
        limit(store, &limits(None, [0.0, 2.0, 0.0]));
        store.clock.set_load([9.0, 2.125, 1.0]);
        refused(store, &ask, "COMMAND_LOAD_MAX: 9.00 2.12 1.00").await;
        store.clock.set_load([9.0, 2.0, 9.0]);
        passes(store, &ask).await;
    }

    async fn hours_that_are_no_times_close_their_command_and_nothing_else(store: TestStore) {
        let ask = save(store).await;
        let spoil = "update operations set hours_begin = '9' where command = 'AGENT_MEMORY_SAVE'";
        store.db.write(|tx| tx.run(spoil, &[])).unwrap();
        refused(store, &ask, "COMMAND_TIMEOUT: 9 - ").await;
        let signed = TestRequest::sign_in("irina", PASSWORD).result(store).await.unwrap();
        assert_eq!(signed["rights"]["not_now"], json!([{"command": "AGENT_MEMORY_SAVE",
            "refusal": "command_timeout", "error": "COMMAND_TIMEOUT: 9 - "}]));
        let list = TestRequest::tool("memory_list", json!({})).with("session", signed["ticket"].clone());
        list.result(store).await.unwrap();
    }

    async fn with_several_causes_the_first_of_the_order_is_said(store: TestStore) {
        let mut ask = save(store).await;
        let licensed = Licensed::new();
        let mut settings = licensed.settings();
        for (key, value) in [("program_least", json!("0.0.9")), ("program_exact", json!(true)),
            ("ip_list", json!(["10.0.0.0/8"])), ("backup_begin", json!("11:00")), ("backup_end", json!("13:00"))] {
            settings[key] = value;
        }
        store.settings(settings).await;
        store.mark("shop.lock", true);
        let good = ask.clone();
        ask = ask.with("least", "99").with("build", "0.0.8").with("time", "2026-11-30T13:00:00Z").with("session", "?");
        ask.host = "elsewhere.example.com".to_owned();
        block(store, true);
        regrant(store, false);
        limit(store, &limits(Some(("01:00", "02:00")), [0.05, 0.0, 0.0]));

        refused(store, &ask, "SHOP_IS_LOCK").await;
        store.mark("shop.lock", false);
        refused(store, &ask, &format!("VERSION_SERVER: engine {}, the program needs 99 or newer", wire::BUILD)).await;
        ask = ask.with("least", Value::Null);
        refused(store, &ask, "VERSION_CLIENT: program 0.0.8, the engine needs 0.0.9 or newer").await;
        ask = ask.with("build", "0.0.9");
        refused(store, &ask, &format!("VERSION_FAIL: program 0.0.9, engine {}", wire::BUILD)).await;
        ask = ask.with("build", wire::BUILD);
        refused(store, &ask, "LICENCE_DATE").await;
        ask = ask.with("time", NOON);
        refused(store, &ask, "LICENCE_DOMAIN").await;
        ask.host = "shop.example.com".to_owned();
        refused(store, &ask, "LICENCE_ERROR").await;
        ask = ask.with("licence", licensed.right());
        refused(store, &ask, "SESSION_EXPIRED").await;
        ask = ask.with("session", good.body["session"].clone());
        store.db.write(|tx| tx.run("update users set password_version = 2 where login = 'irina'", &[])).unwrap();
        refused(store, &ask, "WRONG_PASSWORD").await;
        store.db.write(|tx| tx.run("update users set password_version = 1 where login = 'irina'", &[])).unwrap();
        refused(store, &ask, "ACCESS_DENIED").await;
        store.db.write(|tx| tx.run("update users set blocked = :no", &[("no", false.into())])).unwrap();
        store.db.write(|tx| tx.run("update tickets set used = :now", &[("now", NOON.into())])).unwrap();
        refused(store, &ask, "IP_BLOCKED").await;
        store.settings(json!({"ip_list": []})).await;
        refused(store, &ask, "BACKUP_TIME: 11:00 - 13:00").await;
        store.settings(json!({"backup_begin": "", "backup_end": ""})).await;
        refused(store, &ask, "ACCESS_DENIED").await;
        regrant(store, true);
        refused(store, &ask, "COMMAND_TIMEOUT: 01:00 - 02:00").await;
        limit(store, &limits(None, [0.05, 0.0, 0.0]));
        refused(store, &ask, "COMMAND_LOAD_MAX: 0.10 0.20 0.30").await;
        limit(store, &Limits::default());
        passes(store, &ask).await;
    }

    async fn signing_in_keeps_the_same_order(store: TestStore) {
        let licensed = Licensed::new();
        let mut settings = licensed.settings();
        for (key, value) in [("ip_list", json!(["10.0.0.0/8"])), ("backup_begin", json!("11:00")),
            ("backup_end", json!("13:00"))] {
            settings[key] = value;
        }
        store.settings(settings).await;
        block(store, true);
        let wrong = TestRequest::sign_in("irina", "wrong");
        refused(store, &wrong, "LICENCE_ERROR").await;
        let right = TestRequest::sign_in("irina", PASSWORD).with("licence", licensed.right());
        refused(store, &wrong.with("licence", licensed.right()), "WRONG_PASSWORD").await;
        refused(store, &right, "ACCESS_DENIED").await;
        block(store, false);
        refused(store, &right, "IP_BLOCKED").await;
        store.settings(json!({"ip_list": []})).await;
        refused(store, &right, "BACKUP_TIME: 11:00 - 13:00").await;
        store.settings(json!({"backup_begin": "", "backup_end": ""})).await;
        right.result(store).await.unwrap();
    }

    async fn an_unknown_command_is_told_only_to_those_inside(store: TestStore) {
        let ask = TestRequest::new("AGENT_NO_SUCH").with("session", "?");
        refused(store, &ask, "SESSION_EXPIRED").await;
        let ask = ask.with("session", ticket(store, "irina").await);
        refused(store, &ask, "Unknown command: AGENT_NO_SUCH").await;
        let other = ask.with("command", GRANTED[0]).with("tool", "memory_save");
        refused(store, &other, &format!("Unknown command: {}", GRANTED[0])).await;
    }

    async fn what_a_tool_refuses_is_taken_back_with_all_it_did(store: TestStore) {
        let ask = save(store).await;
        refused(store, &ask.clone().with("params", json!({"id": 777, "name": "x"})), "No such note: 777.").await;
        let words = ask.with("params", json!({"name": 7})).result(store).await.unwrap_err();
        assert!(words.starts_with("Bad request: "), "{words}");
    }
}
