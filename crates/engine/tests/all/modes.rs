//! Settings that change under the running engine, demo mode, starting and stopping.

use std::time::{Duration, Instant};

use engine::{Engine, Options, StartError};
use serde_json::json;

use crate::client::{Line, TestRequest, ticket};
use crate::test_store::{PASSWORD, TestStore, on_both};

/// Asks until the answer is this; how long it took.
async fn until(store: &TestStore, ask: &TestRequest, wanted: Result<(), &str>) -> Duration {
    let started = Instant::now();
    loop {
        let result = ask.result(store).await.map(|_| ());
        if result == wanted.map_err(str::to_owned) {
            return started.elapsed();
        }
        assert!(started.elapsed() < Duration::from_secs(10), "still {result:?}");
    }
}

on_both! {
    async fn changed_settings_are_taken_within_a_second(store: TestStore) {
        let ask = TestRequest::tool("memory_list", json!({})).with("session", ticket(store, "irina").await);
        ask.result(store).await.unwrap();
        store.write_settings(json!({"ip_list": ["10.0.0.1"]}));
        assert!(until(store, &ask, Err("IP_BLOCKED")).await < Duration::from_secs(1));
        // A broken file keeps what was; the list that follows it is taken again.
        let file = store.root().join("config.json");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, &text[..text.len() / 2]).unwrap();
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert_eq!(ask.result(store).await, Err("IP_BLOCKED".to_owned()));
        std::fs::write(&file, text).unwrap();
        store.write_settings(json!({"ip_list": []}));
        assert!(until(store, &ask, Ok(())).await < Duration::from_secs(1));
    }

    async fn demo_mode_asks_nothing_and_ends_with_its_marker(store: TestStore) {
        store.settings(json!({
            "licence": {"public_key": licence::Keys::generate().unwrap().public.to_string(), "domain": "x"},
            "ip_list": ["10.0.0.1"], "backup_begin": "11:00", "backup_end": "13:00",
        })).await;
        store.mark("admin.here", true);
        let signed = TestRequest::sign_in("oleg", "").result(store).await.unwrap();
        assert_eq!((&signed["demo"], &signed["licensed"], &signed["user"]["login"]), (&json!(true), &json!(false), &json!("oleg")));
        assert_eq!(signed["rights"]["closed"], json!([]));
        assert!(signed["tasks"].is_object() && signed["memory"].is_object() && signed["tools"].is_u64());
        let anybody = TestRequest::sign_in("nobody", "").result(store).await.unwrap();
        assert_eq!(anybody["user"]["login"], "admin");
        let save = TestRequest::tool("memory_save", json!({"name": "n"})).with("session", signed["ticket"].clone());
        save.result(store).await.unwrap();
        TestRequest::tool("memory_list", json!({})).result(store).await.unwrap();
        let params = json!({"login": "oleg", "password": ""});
        let program = TestRequest::new("PROGRAM_SIGN_IN").with("params", params).result(store).await.unwrap();
        assert_eq!((&program["demo"], &program["administrator"]), (&json!(true), &json!(true)));
        store.mark("shop.lock", true);
        assert_eq!(save.result(store).await, Err("SHOP_IS_LOCK".to_owned()));
        store.mark("shop.lock", false);
        store.mark("admin.here", false);
        store.settings(json!({"licence": null, "ip_list": [], "backup_begin": "", "backup_end": ""})).await;
        assert_eq!(save.result(store).await, Err("WRONG_PASSWORD".to_owned()), "its tickets end with it");
        assert_eq!(TestRequest::sign_in("oleg", "").result(store).await, Err("WRONG_PASSWORD".to_owned()));
    }

    async fn demo_mode_is_not_open_to_other_computers_unless_told(store: TestStore) {
        store.mark("admin.here", true);
        let open = Options { listen: Some("0.0.0.0:0".parse().unwrap()), ..Options::default() };
        let refused = Engine::start(store.root().to_owned(), open.clone()).await;
        assert!(matches!(refused, Err(StartError::OpenDemo(_))));
        let told = Options { allow_open_demo: true, ..open.clone() };
        Engine::start(store.root().to_owned(), told).await.unwrap().stop().await;
        // A marker that appears later does not open an engine that is open to others.
        store.mark("admin.here", false);
        let running = Engine::start(store.root().to_owned(), open).await.unwrap();
        store.mark("admin.here", true);
        let body = TestRequest::sign_in("admin", "").body.to_string();
        let request = format!("POST /core/mcp.php HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let answer = Line::to(("127.0.0.1", running.address().port())).await.send(request.as_bytes()).await;
        assert_eq!(answer.result(), Err("WRONG_PASSWORD".to_owned()));
        running.stop().await;
    }

    async fn demo_mode_is_not_open_through_a_proxy_unless_told(store: TestStore) {
        store.mark("admin.here", true);
        let sign_in = TestRequest::sign_in("admin", "");
        sign_in.result(store).await.unwrap();
        for header in ["x-forwarded-for", "forwarded", "x-real-ip"] {
            let forwarded = sign_in.clone().header(header, "192.0.2.7");
            assert_eq!(forwarded.result(store).await, Err("WRONG_PASSWORD".to_owned()), "{header}");
            let list = TestRequest::tool("memory_list", json!({})).header(header, "192.0.2.7");
            assert_eq!(list.result(store).await, Err("SESSION_EXPIRED".to_owned()), "{header}");
        }
        // A proxy that is named later may tell nothing of itself.
        store.write_settings(json!({"trusted_proxies": ["127.0.0.5"]}));
        until(store, &sign_in, Err("WRONG_PASSWORD")).await;
        store.stop().await;
        let options = Options { listen: Some("127.0.0.1:0".parse().unwrap()), ..Options::default() };
        let refused = Engine::start(store.root().to_owned(), options.clone()).await;
        assert!(matches!(refused, Err(StartError::ProxiedDemo)));
        let told = Options { allow_open_demo: true, ..options };
        let running = Engine::start(store.root().to_owned(), told).await.unwrap();
        sign_in.header("x-forwarded-for", "192.0.2.7").result_at(&running).await.unwrap();
        running.stop().await;
    }

    async fn an_administrator_of_demo_mode_frees_anybodys_tables(store: TestStore) {
        let params = json!({"login": "admin", "password": PASSWORD});
        let signed = TestRequest::new("PROGRAM_SIGN_IN").with("params", params).result(store).await.unwrap();
        let take = TestRequest::new("PROGRAM_LEASE_TAKE").with("params", json!({"tables": ["notes"], "seconds": 30}));
        take.with("session", signed["ticket"].clone()).result(store).await.unwrap();
        store.mark("admin.here", true);
        let signed = TestRequest::sign_in("oleg", "").result(store).await.unwrap();
        let free = TestRequest::tool("engine_db_unlocks", json!({"tables": ["notes"]}));
        let freed = free.with("session", signed["ticket"].clone()).result(store).await.unwrap();
        assert_eq!(freed["freed"], json!(["notes"]));
    }

    async fn demo_mode_gives_no_proofs_for_licence_tokens(store: TestStore) {
        let keys = licence::Keys::generate().unwrap();
        store.settings(json!({
            "licence": {"public_key": keys.public.to_string(), "domain": "shop.example.com", "authority": "https://a"},
            "secrets": {"licence": "secret"},
        })).await;
        store.mark("admin.here", true);
        let params = json!({"login": "irina", "password": ""});
        let signed = TestRequest::new("PROGRAM_SIGN_IN").with("params", params).result(store).await.unwrap();
        let proofs = TestRequest::new("PROGRAM_LICENCE").with("session", signed["ticket"].clone());
        assert_eq!(proofs.result(store).await, Err("NO_LICENCE_SOURCE".to_owned()));
    }

    async fn a_running_request_ends_before_the_engine_does(store: TestStore) {
        let sign_in = TestRequest::sign_in("irina", PASSWORD);
        let mut line = Line::open(store, sign_in.from).await;
        line.write(&sign_in.bytes()).await;
        // The hash takes longer than this; then the engine is told to stop while it is computed.
        tokio::time::sleep(Duration::from_millis(5)).await;
        store.stop().await;
        line.answer().await.result().unwrap();
    }

    async fn a_store_with_broken_settings_does_not_start(store: TestStore) {
        store.stop().await;
        std::fs::write(store.root().join("config.json"), "{\"time_zone\": \"Nowhere\"}").unwrap();
        let error = Engine::start(store.root().to_owned(), Options::default()).await.err().unwrap();
        assert_eq!(error.to_string(), "config.json key `time_zone`: not a time zone like `Europe/Berlin`");
    }
}
