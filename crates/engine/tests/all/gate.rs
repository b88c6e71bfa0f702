//! Every refusal of the gate: provoked, without effect, cured.

use db::rights::{self, Limits};
use db::users;
use licence::{Claims, Keys, sign};
use serde_json::{Value, json};

use crate::ask::{Ask, Line, ticket};
use crate::house::{GRANTED, House, NOON, PASSWORD, on_both};

/// A writing call of the manager.
async fn save(house: &House) -> Ask {
    let ticket = ticket(house, "irina").await;
    Ask::tool("memory_save", json!({"name": "a note", "body": "text"})).with("session", ticket)
}

/// The call is refused with these words and changes nothing.
async fn refused(house: &House, ask: &Ask, words: &str) {
    let before = house.dump();
    assert_eq!(ask.result(house).await, Err(words.to_owned()));
    assert!(house.dump() == before, "`{words}` had an effect");
}

async fn passes(house: &House, ask: &Ask) {
    let before = house.count("notes");
    ask.result(house).await.unwrap();
    assert_eq!(house.count("notes"), before + 1);
}

fn limits(hours: Option<(&str, &str)>, load: [f64; 3]) -> Limits {
    let time = |text: &str| shop::clock::parse_clock(text).unwrap();
    Limits { hours: hours.map(|(begin, end)| (time(begin), time(end))), load, ..Limits::default() }
}

fn limit(house: &House, limits: &Limits) {
    assert!(house.db.write(|tx| rights::set_limits(tx, "AGENT_MEMORY_SAVE", limits)).unwrap());
}

fn block(house: &House, blocked: bool) {
    let irina = house.id("irina");
    house.db.write(|tx| users::set_blocked(tx, irina, blocked)).unwrap();
}

fn regrant(house: &House, granted: bool) {
    let managers = house.db.read(|tx| db::groups::by_skey(tx, "MANAGER", "en")).unwrap().unwrap().id;
    house
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
    async fn a_locked_shop_lets_nobody_in(house: House) {
        let ask = save(house).await;
        house.mark("shop.lock", true);
        refused(house, &ask, "SHOP_IS_LOCK").await;
        refused(house, &Ask::sign_in("admin", PASSWORD), "SHOP_IS_LOCK").await;
        refused(house, &Ask::sign_in("admin", "wrong"), "SHOP_IS_LOCK").await;
        house.mark("shop.lock", false);
        passes(house, &ask).await;
    }

    async fn builds_that_do_not_fit_are_told_both_ways(house: House) {
        let ask = save(house).await;
        let words = format!("VERSION_SERVER: engine {}, the program needs 99.0 or newer", wire::BUILD);
        refused(house, &ask.clone().with("least", "99.0"), &words).await;
        house.settings(json!({"program_least": "0.0.9"})).await;
        let words = "VERSION_CLIENT: program 0.0.8, the engine needs 0.0.9 or newer";
        refused(house, &ask.clone().with("build", "0.0.8"), words).await;
        let words = "VERSION_CLIENT: program , the engine needs 0.0.9 or newer";
        refused(house, &ask.clone().with("build", ""), words).await;
        passes(house, &ask.clone().with("build", "0.0.10")).await;
        house.settings(json!({"program_exact": true})).await;
        let words = format!("VERSION_FAIL: program 0.0.10, engine {}", wire::BUILD);
        refused(house, &ask.clone().with("build", "0.0.10"), &words).await;
        passes(house, &ask).await;
    }

    async fn a_licence_is_for_a_clock_a_domain_a_login_and_a_day(house: House) {
        let ask = save(house).await;
        let licensed = Licensed::new();
        house.settings(licensed.settings()).await;
        let with = |token: String| ask.clone().with("licence", token);
        let ask_right = with(licensed.right());
        for time in ["2026-11-30T12:10:01Z", "2026-11-30T11:49:00Z", "2026-11-30T12:11:00Z", "", "noon"] {
            refused(house, &ask_right.clone().with("time", time), "LICENCE_DATE").await;
        }
        passes(house, &ask_right.clone().with("time", "2026-11-30T14:09:00+02:00")).await;
        let elsewhere = Ask { host: "www.example.com".to_owned(), ..ask_right.clone() };
        refused(house, &elsewhere, "LICENCE_DOMAIN").await;
        refused(house, &with(licensed.token("other.example.com", "irina", "2026-11-30")), "LICENCE_DOMAIN").await;
        refused(house, &ask, "LICENCE_ERROR").await;
        refused(house, &with("v4.public.nonsense".to_owned()), "LICENCE_ERROR").await;
        refused(house, &with(licensed.token("shop.example.com", "irina", "2026-11-29")), "LICENCE_ERROR").await;
        refused(house, &with(licensed.token("shop.example.com", "oleg", "2026-11-30")), "LICENCE_ERROR").await;
        refused(house, &with(Licensed::new().right()), "LICENCE_ERROR").await;
        refused(house, &Ask::sign_in("irina", PASSWORD), "LICENCE_ERROR").await;
        let upper = Ask { host: "SHOP.example.com:8443".to_owned(), ..ask_right.clone() };
        passes(house, &upper).await;
    }

    async fn near_midnight_the_day_of_the_callers_clock_counts_too(house: House) {
        let ask = save(house).await;
        let licensed = Licensed::new();
        house.settings(licensed.settings()).await;
        house.world.set_now("2026-12-01T00:05:00Z");
        let ask = ask.with("licence", licensed.right());
        passes(house, &ask.clone().with("time", "2026-11-30T23:58:00Z")).await;
        refused(house, &ask.clone().with("time", "2026-12-01T00:05:00Z"), "LICENCE_ERROR").await;
        passes(house, &ask.with("time", "2026-12-01T00:05:00Z").with("licence",
            licensed.token("shop.example.com", "irina", "2026-12-01"))).await;
    }

    async fn a_ticket_is_bound_to_its_address_and_ends_a_day_after_its_last_use(house: House) {
        let ask = save(house).await;
        refused(house, &ask.clone().with("session", "nonsense"), "SESSION_EXPIRED").await;
        refused(house, &ask.clone().with("session", Value::Null), "SESSION_EXPIRED").await;
        refused(house, &ask.clone().from(2), "SESSION_EXPIRED").await;
        for (now, lives) in [("2026-12-01T11:00:00Z", true), ("2026-12-02T10:59:00Z", true),
            ("2026-12-03T11:00:00Z", false)] {
            house.world.set_now(now);
            if lives {
                passes(house, &ask).await;
            } else {
                refused(house, &ask, "SESSION_EXPIRED").await;
            }
        }
    }

    async fn reading_keeps_a_ticket_alive_as_writing_does(house: House) {
        let list = Ask::tool("memory_list", json!({})).with("session", ticket(house, "irina").await);
        for now in ["2026-12-01T11:00:00Z", "2026-12-02T10:00:00Z", "2026-12-03T09:00:00Z"] {
            house.world.set_now(now);
            list.result(house).await.unwrap();
        }
    }

    async fn a_program_ticket_does_not_work_at_the_agents_endpoint(house: House) {
        let params = json!({"login": "irina", "password": PASSWORD});
        let signed = Ask::new("PROGRAM_SIGN_IN").with("params", params).result(house).await.unwrap();
        let ask = save(house).await.with("session", signed["ticket"].clone());
        refused(house, &ask, "SESSION_EXPIRED").await;
    }

    async fn a_changed_password_ends_the_session(house: House) {
        let ask = save(house).await;
        let (root, fresh) = (house.root().to_owned(), "another horse");
        tokio::task::spawn_blocking(move || engine::store::set_password(&root, "irina", fresh)).await.unwrap().unwrap();
        refused(house, &ask, "WRONG_PASSWORD").await;
        refused(house, &Ask::sign_in("irina", PASSWORD), "WRONG_PASSWORD").await;
        let signed = Ask::sign_in("irina", fresh).result(house).await.unwrap();
        passes(house, &ask.with("session", signed["ticket"].clone())).await;
    }

    async fn a_blocked_person_is_told_so_and_their_ticket_does_not_come_back(house: House) {
        let ask = save(house).await;
        block(house, true);
        refused(house, &ask, "ACCESS_DENIED").await;
        refused(house, &Ask::sign_in("irina", PASSWORD), "ACCESS_DENIED").await;
        refused(house, &Ask::sign_in("irina", "wrong"), "WRONG_PASSWORD").await;
        block(house, false);
        refused(house, &ask, "SESSION_EXPIRED").await;
        passes(house, &save(house).await).await;
    }

    async fn only_listed_addresses_may_come_and_administrators(house: House) {
        let ask = save(house).await;
        house.settings(json!({"ip_list": ["10.0.0.0/8", "127.0.0.2-9"]})).await;
        refused(house, &ask, "IP_BLOCKED").await;
        refused(house, &Ask::sign_in("irina", PASSWORD), "IP_BLOCKED").await;
        Ask::sign_in("admin", PASSWORD).result(house).await.unwrap();
        Ask::sign_in("irina", PASSWORD).from(2).result(house).await.unwrap();
        house.settings(json!({"ip_list": ["127.0.0-127.*"]})).await;
        passes(house, &ask).await;
    }

    async fn only_a_trusted_proxy_is_believed(house: House) {
        house.settings(json!({"ip_list": ["192.0.2.7"], "trusted_proxies": ["127.0.0.5"]})).await;
        let ask = Ask::sign_in("irina", PASSWORD).header("x-forwarded-for", "192.0.2.7");
        refused(house, &ask, "IP_BLOCKED").await;
        let signed = ask.clone().from(5).result(house).await.unwrap();
        let list = Ask::tool("memory_list", json!({})).with("session", signed["ticket"].clone()).from(5);
        list.clone().header("x-forwarded-for", "192.0.2.7").result(house).await.unwrap();
        refused(house, &list.header("x-forwarded-for", "192.0.2.8"), "SESSION_EXPIRED").await;
    }

    async fn a_forwarded_address_that_is_no_text_is_not_the_proxys_own(house: House) {
        house.settings(json!({"ip_list": ["127.0.0.5", "192.0.2.7"], "trusted_proxies": ["127.0.0.5"]})).await;
        for (forwarded, passes) in [("@, 192.0.2.7", true), ("@, 203.0.113.9", false), ("192.0.2.7, @", false)] {
            let ask = Ask::sign_in("irina", PASSWORD).header("x-forwarded-for", forwarded).from(5);
            let bytes: Vec<u8> = ask.bytes().iter().map(|byte| if *byte == b'@' { 0xff } else { *byte }).collect();
            let result = Line::open(house, ask.from).await.send(&bytes).await.result();
            assert_eq!(result.map(|_| ()), if passes { Ok(()) } else { Err("IP_BLOCKED".to_owned()) }, "{forwarded}");
        }
    }

    async fn during_the_backup_nobody_works(house: House) {
        let ask = save(house).await;
        house.settings(json!({"backup_begin": "23:30", "backup_end": "00:30", "time_zone": "Asia/Tokyo"})).await;
        for now in ["2026-11-30T14:30:00Z", "2026-11-30T15:29:59Z"] {
            house.world.set_now(now);
            refused(house, &ask, "BACKUP_TIME: 23:30 - 00:30").await;
            refused(house, &Ask::sign_in("admin", PASSWORD), "BACKUP_TIME: 23:30 - 00:30").await;
        }
        house.world.set_now("2026-11-30T15:30:00Z");
        passes(house, &ask).await;
    }

    async fn a_withdrawn_right_is_missed_at_once(house: House) {
        let ask = save(house).await;
        regrant(house, false);
        refused(house, &ask, "ACCESS_DENIED").await;
        regrant(house, true);
        passes(house, &ask).await;
        let oleg = ticket(house, "oleg").await;
        refused(house, &ask.with("session", oleg), "ACCESS_DENIED").await;
    }

    async fn a_command_has_its_hours_and_its_load(house: House) {
        let ask = save(house).await;
        house.settings(json!({"time_zone": "Europe/Berlin"})).await;
        limit(house, &limits(Some(("20:00", "13:00")), [0.0; 3]));
        refused(house, &ask, "COMMAND_TIMEOUT: 20:00 - 13:00").await;
        house.world.set_now("2026-11-30T11:59:00Z");
        passes(house, &ask).await;
        limit(house, &limits(None, [0.0, 2.0, 0.0]));
        house.world.set_load([9.0, 2.125, 1.0]);
        refused(house, &ask, "COMMAND_LOAD_MAX: 9.00 2.12 1.00").await;
        house.world.set_load([9.0, 2.0, 9.0]);
        passes(house, &ask).await;
    }

    async fn hours_that_are_no_times_close_their_command_and_nothing_else(house: House) {
        let ask = save(house).await;
        let spoil = "update operations set hours_begin = '9' where command = 'AGENT_MEMORY_SAVE'";
        house.db.write(|tx| tx.run(spoil, &[])).unwrap();
        refused(house, &ask, "COMMAND_TIMEOUT: 9 - ").await;
        let signed = Ask::sign_in("irina", PASSWORD).result(house).await.unwrap();
        assert_eq!(signed["rights"]["not_now"], json!([{"command": "AGENT_MEMORY_SAVE",
            "refusal": "command_timeout", "error": "COMMAND_TIMEOUT: 9 - "}]));
        let list = Ask::tool("memory_list", json!({})).with("session", signed["ticket"].clone());
        list.result(house).await.unwrap();
    }

    async fn with_several_causes_the_first_of_the_order_is_said(house: House) {
        let mut ask = save(house).await;
        let licensed = Licensed::new();
        let mut settings = licensed.settings();
        for (key, value) in [("program_least", json!("0.0.9")), ("program_exact", json!(true)),
            ("ip_list", json!(["10.0.0.0/8"])), ("backup_begin", json!("11:00")), ("backup_end", json!("13:00"))] {
            settings[key] = value;
        }
        house.settings(settings).await;
        house.mark("shop.lock", true);
        let good = ask.clone();
        ask = ask.with("least", "99").with("build", "0.0.8").with("time", "2026-11-30T13:00:00Z").with("session", "?");
        ask.host = "elsewhere.example.com".to_owned();
        block(house, true);
        regrant(house, false);
        limit(house, &limits(Some(("01:00", "02:00")), [0.05, 0.0, 0.0]));

        refused(house, &ask, "SHOP_IS_LOCK").await;
        house.mark("shop.lock", false);
        refused(house, &ask, &format!("VERSION_SERVER: engine {}, the program needs 99 or newer", wire::BUILD)).await;
        ask = ask.with("least", Value::Null);
        refused(house, &ask, "VERSION_CLIENT: program 0.0.8, the engine needs 0.0.9 or newer").await;
        ask = ask.with("build", "0.0.9");
        refused(house, &ask, &format!("VERSION_FAIL: program 0.0.9, engine {}", wire::BUILD)).await;
        ask = ask.with("build", wire::BUILD);
        refused(house, &ask, "LICENCE_DATE").await;
        ask = ask.with("time", NOON);
        refused(house, &ask, "LICENCE_DOMAIN").await;
        ask.host = "shop.example.com".to_owned();
        refused(house, &ask, "LICENCE_ERROR").await;
        ask = ask.with("licence", licensed.right());
        refused(house, &ask, "SESSION_EXPIRED").await;
        ask = ask.with("session", good.body["session"].clone());
        house.db.write(|tx| tx.run("update users set password_version = 2 where login = 'irina'", &[])).unwrap();
        refused(house, &ask, "WRONG_PASSWORD").await;
        house.db.write(|tx| tx.run("update users set password_version = 1 where login = 'irina'", &[])).unwrap();
        refused(house, &ask, "ACCESS_DENIED").await;
        house.db.write(|tx| tx.run("update users set blocked = :no", &[("no", false.into())])).unwrap();
        house.db.write(|tx| tx.run("update tickets set used = :now", &[("now", NOON.into())])).unwrap();
        refused(house, &ask, "IP_BLOCKED").await;
        house.settings(json!({"ip_list": []})).await;
        refused(house, &ask, "BACKUP_TIME: 11:00 - 13:00").await;
        house.settings(json!({"backup_begin": "", "backup_end": ""})).await;
        refused(house, &ask, "ACCESS_DENIED").await;
        regrant(house, true);
        refused(house, &ask, "COMMAND_TIMEOUT: 01:00 - 02:00").await;
        limit(house, &limits(None, [0.05, 0.0, 0.0]));
        refused(house, &ask, "COMMAND_LOAD_MAX: 0.10 0.20 0.30").await;
        limit(house, &Limits::default());
        passes(house, &ask).await;
    }

    async fn signing_in_keeps_the_same_order(house: House) {
        let licensed = Licensed::new();
        let mut settings = licensed.settings();
        for (key, value) in [("ip_list", json!(["10.0.0.0/8"])), ("backup_begin", json!("11:00")),
            ("backup_end", json!("13:00"))] {
            settings[key] = value;
        }
        house.settings(settings).await;
        block(house, true);
        let wrong = Ask::sign_in("irina", "wrong");
        refused(house, &wrong, "LICENCE_ERROR").await;
        let right = Ask::sign_in("irina", PASSWORD).with("licence", licensed.right());
        refused(house, &wrong.with("licence", licensed.right()), "WRONG_PASSWORD").await;
        refused(house, &right, "ACCESS_DENIED").await;
        block(house, false);
        refused(house, &right, "IP_BLOCKED").await;
        house.settings(json!({"ip_list": []})).await;
        refused(house, &right, "BACKUP_TIME: 11:00 - 13:00").await;
        house.settings(json!({"backup_begin": "", "backup_end": ""})).await;
        right.result(house).await.unwrap();
    }

    async fn an_unknown_command_is_told_only_to_those_inside(house: House) {
        let ask = Ask::new("AGENT_NO_SUCH").with("session", "?");
        refused(house, &ask, "SESSION_EXPIRED").await;
        let ask = ask.with("session", ticket(house, "irina").await);
        refused(house, &ask, "Unknown command: AGENT_NO_SUCH").await;
        let other = ask.with("command", GRANTED[0]).with("tool", "memory_save");
        refused(house, &other, &format!("Unknown command: {}", GRANTED[0])).await;
    }

    async fn what_a_tool_refuses_is_taken_back_with_all_it_did(house: House) {
        let ask = save(house).await;
        refused(house, &ask.clone().with("params", json!({"id": 777, "name": "x"})), "No such note: 777.").await;
        let words = ask.with("params", json!({"name": 7})).result(house).await.unwrap_err();
        assert!(words.starts_with("Bad request: "), "{words}");
    }
}
