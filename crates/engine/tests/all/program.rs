//! The program's endpoint: signing in and out, work leases, what waits for a person, licence tokens from the authority.

use db::rights;
use db::tasks::{self, NewTask};
use engine::licensor;
use jiff::civil::date;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{TestRequest, ticket};
use crate::test_store::{NOON, PASSWORD, TestStore, on_both};

async fn program(store: &TestStore, login: &str) -> Value {
    let params = json!({"login": login, "password": PASSWORD});
    TestRequest::new("PROGRAM_SIGN_IN").with("params", params).result(store).await.unwrap()
}

async fn program_ask(store: &TestStore, login: &str, command: &str, params: Value) -> TestRequest {
    TestRequest::new(command)
        .with("session", program(store, login).await["ticket"].clone())
        .with("params", params)
}

/// The authority's answer to a posted proof.
async fn post(address: std::net::SocketAddr, body: &Value) -> (u16, Value) {
    let body = body.to_string();
    let mut line = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /token HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    line.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await.unwrap();
    let mut answer = String::new();
    line.read_to_string(&mut answer).await.unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap())
}

on_both! {
    async fn the_program_signs_in_and_out(store: TestStore) {
        let mut signed = program(store, "admin").await;
        let ask = TestRequest::new("PROGRAM_SIGN_OUT").with("session", signed["ticket"].take());
        let group = signed["group"].take();
        assert_eq!(group["skey"], "ADMIN");
        assert_eq!(signed, json!({"ticket": null, "licensed": false, "language": "en", "time_zone": "UTC",
            "demo": false, "administrator": true, "group": null,
            "user": {"id": store.id("admin"), "login": "admin", "name": "Administrator", "options": {}}}));
        assert_eq!(program(store, "irina").await["administrator"], json!(false));
        assert_eq!(store.count("tickets"), 2);
        assert_eq!(ask.result(store).await, Ok(json!({})));
        assert_eq!(store.count("tickets"), 1);
        let wrong = TestRequest::new("PROGRAM_SIGN_IN").with("params", json!({"login": "admin", "password": "x"}));
        assert_eq!(wrong.result(store).await, Err("WRONG_PASSWORD".to_owned()));
        let unknown = program_ask(store, "admin", "PROGRAM_NO_SUCH", json!({})).await;
        assert_eq!(unknown.result(store).await, Err("Unknown command: PROGRAM_NO_SUCH".to_owned()));
    }

    async fn a_table_in_work_refuses_writes_until_it_is_free(store: TestStore) {
        let save = TestRequest::tool("memory_save", json!({"name": "n"})).with("session", ticket(store, "irina").await);
        let params = json!({"tables": ["notes"], "what": "memory is edited", "seconds": 30});
        let take = program_ask(store, "admin", "PROGRAM_LEASE_TAKE", params).await;
        let taken = take.result(store).await.unwrap();
        assert_eq!((&taken["tables"], &taken["until"]), (&json!(["notes"]), &json!("2026-11-30T12:00:30Z")));
        let before = store.dump();
        let words = save.result(store).await.unwrap_err();
        assert!(words.starts_with("The table notes is in work right now, and nothing was written"), "{words}");
        assert!(store.dump() == before);
        let words = take.result(store).await.unwrap_err();
        assert!(words.contains("Administrator (admin)"), "{words}");
        let session = take.body["session"].clone();
        let follow = |command: &str, seconds: Option<u64>| {
            let mut params = json!({"holder": taken["holder"], "tables": ["notes"]});
            if let Some(seconds) = seconds {
                params["seconds"] = seconds.into();
            }
            TestRequest::new(command).with("session", session.clone()).with("params", params)
        };
        store.clock.set_now("2026-11-30T12:00:29Z");
        let renewed = follow("PROGRAM_LEASE_RENEW", Some(30)).result(store).await.unwrap();
        assert_eq!(renewed["until"], json!("2026-11-30T12:00:59Z"));
        save.result(store).await.unwrap_err();
        follow("PROGRAM_LEASE_FREE", None).result(store).await.unwrap();
        save.result(store).await.unwrap();
        let lost = follow("PROGRAM_LEASE_RENEW", Some(30)).result(store).await.unwrap();
        assert_eq!(lost["tables"], json!([]));
    }

    async fn a_lease_that_nobody_renews_ends_by_itself(store: TestStore) {
        let save = TestRequest::tool("memory_save", json!({"name": "n"})).with("session", ticket(store, "irina").await);
        let params = json!({"tables": ["notes", "ai_tools"], "seconds": 999_999});
        let take = program_ask(store, "admin", "PROGRAM_LEASE_TAKE", params).await;
        let taken = take.result(store).await.unwrap();
        assert_eq!(taken["until"], json!("2026-11-30T13:00:00Z"), "an hour at most");
        save.result(store).await.unwrap_err();
        store.clock.set_now("2026-11-30T13:00:02Z");
        save.result(store).await.unwrap();
    }

    async fn taking_tables_needs_the_right_to_edit_them(store: TestStore) {
        let params = json!({"tables": ["notes"], "seconds": 30});
        let take = program_ask(store, "irina", "PROGRAM_LEASE_TAKE", params).await;
        assert_eq!(take.result(store).await, Err("ACCESS_DENIED".to_owned()));
        let take = program_ask(store, "admin", "PROGRAM_LEASE_TAKE", json!({"tables": ["tickets"], "seconds": 30})).await;
        assert_eq!(take.result(store).await, Err("Bad request: no such table: `tickets`".to_owned()));
        let take = program_ask(store, "admin", "PROGRAM_LEASE_TAKE", json!({"tables": [], "seconds": 30})).await;
        assert_eq!(take.result(store).await, Err("Bad request: `tables` names none, or too many".to_owned()));
        assert_eq!(store.count("leases"), 0);
    }

    async fn a_zero_byte_is_refused_before_the_database_sees_it(store: TestStore) {
        let words = "Bad request: `holder` is no holder's word".to_owned();
        for (command, params) in [
            ("PROGRAM_LEASE_RENEW", json!({"holder": "a\0b", "tables": ["notes"], "seconds": 9})),
            ("PROGRAM_LEASE_FREE", json!({"holder": "a\0b", "tables": ["notes"]})),
        ] {
            assert_eq!(program_ask(store, "irina", command, params).await.result(store).await, Err(words.clone()));
        }
        let free = json!({"holder": "a", "tables": ["a\0b"]});
        let free = program_ask(store, "irina", "PROGRAM_LEASE_FREE", free).await;
        assert_eq!(free.result(store).await, Err("Bad request: `tables` holds what is no table's name".to_owned()));
        for sign_in in ["PROGRAM_SIGN_IN", "AGENT_SESSION_CONNECT"] {
            let sign_in = TestRequest::new(sign_in).with("params", json!({"login": "irina\0", "password": PASSWORD}));
            assert_eq!(sign_in.result(store).await, Err("WRONG_PASSWORD".to_owned()));
        }
        assert_eq!(store.count("attempts"), 2, "counted, for the login and for the address");
    }

    async fn all_tables_are_taken_or_none(store: TestStore) {
        let first = json!({"tables": ["repo_topics"], "seconds": 30});
        program_ask(store, "admin", "PROGRAM_LEASE_TAKE", first).await.result(store).await.unwrap();
        let both = json!({"tables": ["notes", "repo_topics"], "seconds": 30});
        program_ask(store, "admin", "PROGRAM_LEASE_TAKE", both).await.result(store).await.unwrap_err();
        assert_eq!(store.count("leases"), 1);
    }

    async fn home_tells_what_waits_for_a_person(store: TestStore) {
        store.settings(json!({"language": "ru"})).await;
        let (irina, oleg, admin) = (store.id("irina"), store.id("oleg"), store.id("admin"));
        store.db.write(|tx| {
            rights::grant_to_user(tx, irina, "SCHEDULER")?;
            for (creator, executor, state) in
                [(admin, irina, "kNew"), (irina, oleg, "kAccept"), (irina, oleg, "kClose"), (admin, oleg, "kNew")]
            {
                let name = "a task".to_owned();
                tasks::create(tx, &NewTask { creator_id: creator, executor_id: executor, state: state.to_owned(),
                    name, body: String::new(), due: None, now: NOON.parse().unwrap() })?;
            }
            Ok(())
        }).unwrap();
        let ask = program_ask(store, "irina", "PROGRAM_HOME", json!({})).await;
        let before = store.dump();
        assert_eq!(ask.result(store).await.unwrap(), json!({
            "tasks": {"waiting": [{"state": "kNew", "name": "Новая", "count": 1}],
                      "given": [{"state": "kAccept", "name": "Принята", "count": 1}]},
            "memory": {"notes": 0, "critical": []},
            "in_work": [],
        }));
        assert!(store.dump() == before, "it only reads");
        store.mark("shop.lock", true);
        assert_eq!(ask.result(store).await, Err("SHOP_IS_LOCK".to_owned()));
    }

    async fn home_tells_nothing_that_is_not_the_persons_to_see(store: TestStore) {
        let ask = program_ask(store, "oleg", "PROGRAM_HOME", json!({})).await;
        assert_eq!(ask.result(store).await.unwrap(), json!({"tasks": null, "memory": null, "in_work": []}));
        let agents = TestRequest::new("PROGRAM_HOME").with("session", ticket(store, "oleg").await);
        assert!(agents.result(store).await.unwrap_err().starts_with("SESSION_EXPIRED"));
    }

    async fn home_tells_who_has_which_tables_in_work(store: TestStore) {
        let ask = program_ask(store, "irina", "PROGRAM_HOME", json!({})).await;
        let takes = [(NOON, json!(["repo_topics", "notes"]), "memory is edited"), ("2026-11-30T12:00:10Z", json!(["users"]), "")];
        for (now, tables, what) in takes {
            store.clock.set_now(now);
            let params = json!({"tables": tables, "what": what, "seconds": 30});
            program_ask(store, "admin", "PROGRAM_LEASE_TAKE", params).await.result(store).await.unwrap();
        }
        let both = ask.result(store).await.unwrap();
        let row = |what: &str, tables: Value, since: &str| {
            json!({"login": "admin", "name": "Administrator", "what": what, "tables": tables, "since": since})
        };
        let later = row("", json!(["users"]), "2026-11-30T12:00:10Z");
        assert_eq!(both["in_work"], json!([row("memory is edited", json!(["notes", "repo_topics"]), NOON), later]));
        // Two seconds more, for nodes whose clocks differ.
        store.clock.set_now("2026-11-30T12:00:32Z");
        assert_eq!(ask.result(store).await.unwrap()["in_work"], json!([later]));
    }

    async fn the_program_gets_tokens_that_the_engine_takes(store: TestStore) {
        let folder = TempDir::new().unwrap();
        let key = licensor::make_keys(folder.path()).unwrap();
        let domains = ["shop.example.com".to_owned()];
        let customer = licensor::add(folder.path(), "Flowers", &domains, &[], date(2027, 1, 1)).unwrap();
        let clock: std::sync::Arc<dyn engine::Clock> = store.clock.clone();
        let listen = "127.0.0.1:0".parse().unwrap();
        let authority = licensor::serve(folder.path().to_owned(), listen, clock).await.unwrap();
        store.settings(json!({"licence": {"public_key": key.to_string(), "domain": "shop.example.com"}})).await;
        let signed = program(store, "irina").await;
        assert_eq!(signed["licensed"], json!(true));
        let ask = TestRequest::new("PROGRAM_LICENCE").with("session", signed["ticket"].clone());
        assert_eq!(ask.result(store).await, Err("NO_LICENCE_SOURCE".to_owned()));
        store.settings(json!({
            "licence": {"public_key": key.to_string(), "domain": "shop.example.com", "authority": "http://a.example"},
            "secrets": {"licence": customer.secret},
        })).await;
        let proofs = ask.result(store).await.unwrap();
        assert_eq!((&proofs["authority"], &proofs["login"]), (&json!("http://a.example"), &json!("irina")));
        assert!(!proofs.to_string().contains(&customer.secret));
        let days: Vec<&Value> = proofs["proofs"].as_array().unwrap().iter().collect();
        assert_eq!([&days[0]["day"], &days[1]["day"]], ["2026-11-30", "2026-12-01"]);
        let mut request = json!({"domain": proofs["domain"], "login": "irina", "day": days[0]["day"], "proof": days[0]["proof"]});
        let (status, given) = post(authority.address(), &request).await;
        assert_eq!(status, 200, "{given}");
        let sign_in = TestRequest::sign_in("irina", PASSWORD).with("licence", given["token"].clone());
        let signed = sign_in.result(store).await.unwrap();
        assert_eq!(signed["licensed"], json!(true));
        let list = TestRequest::tool("memory_list", json!({})).with("session", signed["ticket"].clone());
        assert_eq!(list.result(store).await, Err("LICENCE_ERROR".to_owned()));
        list.with("licence", given["token"].clone()).result(store).await.unwrap();
        request["login"] = json!("admin");
        let (status, denied) = post(authority.address(), &request).await;
        assert_eq!((status, denied["error"].as_str().unwrap()), (403, "the proof does not fit the domain, the login and the day"));
        authority.stop().await;
    }
}
