//! Settings that change under the running engine, demo mode, starting and stopping.

use std::time::{Duration, Instant};

use engine::{Engine, Options, StartError};
use serde_json::json;

use crate::ask::{Ask, Line, ticket};
use crate::house::{House, PASSWORD, on_both};

/// Asks until the answer is this; how long it took.
async fn until(house: &House, ask: &Ask, wanted: Result<(), &str>) -> Duration {
    let started = Instant::now();
    loop {
        let result = ask.result(house).await.map(|_| ());
        if result == wanted.map_err(str::to_owned) {
            return started.elapsed();
        }
        assert!(started.elapsed() < Duration::from_secs(10), "still {result:?}");
    }
}

on_both! {
    async fn changed_settings_are_taken_within_a_second(house: House) {
        let ask = Ask::tool("memory_list", json!({})).with("session", ticket(house, "irina").await);
        ask.result(house).await.unwrap();
        house.write_settings(json!({"ip_list": ["10.0.0.1"]}));
        assert!(until(house, &ask, Err("IP_BLOCKED")).await < Duration::from_secs(1));
        // A broken file keeps what was; the list that follows it is taken again.
        let file = house.root().join("config.json");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, &text[..text.len() / 2]).unwrap();
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert_eq!(ask.result(house).await, Err("IP_BLOCKED".to_owned()));
        std::fs::write(&file, text).unwrap();
        house.write_settings(json!({"ip_list": []}));
        assert!(until(house, &ask, Ok(())).await < Duration::from_secs(1));
    }

    async fn demo_mode_asks_nothing_and_ends_with_its_marker(house: House) {
        house.settings(json!({
            "licence": {"public_key": licence::Keys::generate().unwrap().public.to_string(), "domain": "x"},
            "ip_list": ["10.0.0.1"], "backup_begin": "11:00", "backup_end": "13:00",
        })).await;
        house.mark("admin.here", true);
        let signed = Ask::sign_in("oleg", "").result(house).await.unwrap();
        assert_eq!((&signed["demo"], &signed["licensed"], &signed["user"]["login"]), (&json!(true), &json!(false), &json!("oleg")));
        assert_eq!(signed["rights"]["closed"], json!([]));
        assert!(signed["tasks"].is_object() && signed["memory"].is_object() && signed["tools"].is_u64());
        let anybody = Ask::sign_in("nobody", "").result(house).await.unwrap();
        assert_eq!(anybody["user"]["login"], "admin");
        let save = Ask::tool("memory_save", json!({"name": "n"})).with("session", signed["ticket"].clone());
        save.result(house).await.unwrap();
        Ask::tool("memory_list", json!({})).result(house).await.unwrap();
        let params = json!({"login": "oleg", "password": ""});
        let program = Ask::new("PROGRAM_SIGN_IN").with("params", params).result(house).await.unwrap();
        assert_eq!((&program["demo"], &program["administrator"]), (&json!(true), &json!(true)));
        house.mark("shop.lock", true);
        assert_eq!(save.result(house).await, Err("SHOP_IS_LOCK".to_owned()));
        house.mark("shop.lock", false);
        house.mark("admin.here", false);
        house.settings(json!({"licence": null, "ip_list": [], "backup_begin": "", "backup_end": ""})).await;
        assert_eq!(save.result(house).await, Err("WRONG_PASSWORD".to_owned()), "its tickets end with it");
        assert_eq!(Ask::sign_in("oleg", "").result(house).await, Err("WRONG_PASSWORD".to_owned()));
    }

    async fn demo_mode_is_not_open_to_other_computers_unless_told(house: House) {
        house.mark("admin.here", true);
        let open = Options { listen: Some("0.0.0.0:0".parse().unwrap()), ..Options::default() };
        let refused = Engine::start(house.root().to_owned(), open.clone()).await;
        assert!(matches!(refused, Err(StartError::OpenDemo(_))));
        let told = Options { allow_open_demo: true, ..open.clone() };
        Engine::start(house.root().to_owned(), told).await.unwrap().stop().await;
        // A marker that appears later does not open an engine that is open to others.
        house.mark("admin.here", false);
        let running = Engine::start(house.root().to_owned(), open).await.unwrap();
        house.mark("admin.here", true);
        let body = Ask::sign_in("admin", "").body.to_string();
        let request = format!("POST /core/mcp.php HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let answer = Line::to(("127.0.0.1", running.address().port())).await.send(request.as_bytes()).await;
        assert_eq!(answer.result(), Err("WRONG_PASSWORD".to_owned()));
        running.stop().await;
    }

    async fn demo_mode_is_not_open_through_a_proxy_unless_told(house: House) {
        house.mark("admin.here", true);
        let sign_in = Ask::sign_in("admin", "");
        sign_in.result(house).await.unwrap();
        for header in ["x-forwarded-for", "forwarded", "x-real-ip"] {
            let forwarded = sign_in.clone().header(header, "192.0.2.7");
            assert_eq!(forwarded.result(house).await, Err("WRONG_PASSWORD".to_owned()), "{header}");
            let list = Ask::tool("memory_list", json!({})).header(header, "192.0.2.7");
            assert_eq!(list.result(house).await, Err("SESSION_EXPIRED".to_owned()), "{header}");
        }
        // A proxy that is named later may tell nothing of itself.
        house.write_settings(json!({"trusted_proxies": ["127.0.0.5"]}));
        until(house, &sign_in, Err("WRONG_PASSWORD")).await;
        house.stop().await;
        let options = Options { listen: Some("127.0.0.1:0".parse().unwrap()), ..Options::default() };
        let refused = Engine::start(house.root().to_owned(), options.clone()).await;
        assert!(matches!(refused, Err(StartError::ProxiedDemo)));
        let told = Options { allow_open_demo: true, ..options };
        let running = Engine::start(house.root().to_owned(), told).await.unwrap();
        sign_in.header("x-forwarded-for", "192.0.2.7").result_at(&running).await.unwrap();
        running.stop().await;
    }

    async fn an_administrator_of_demo_mode_frees_anybodys_tables(house: House) {
        let params = json!({"login": "admin", "password": PASSWORD});
        let signed = Ask::new("PROGRAM_SIGN_IN").with("params", params).result(house).await.unwrap();
        let take = Ask::new("PROGRAM_LEASE_TAKE").with("params", json!({"tables": ["notes"], "seconds": 30}));
        take.with("session", signed["ticket"].clone()).result(house).await.unwrap();
        house.mark("admin.here", true);
        let signed = Ask::sign_in("oleg", "").result(house).await.unwrap();
        let free = Ask::tool("engine_db_unlocks", json!({"tables": ["notes"]}));
        let freed = free.with("session", signed["ticket"].clone()).result(house).await.unwrap();
        assert_eq!(freed["freed"], json!(["notes"]));
    }

    async fn demo_mode_gives_no_proofs_for_licence_tokens(house: House) {
        let keys = licence::Keys::generate().unwrap();
        house.settings(json!({
            "licence": {"public_key": keys.public.to_string(), "domain": "shop.example.com", "authority": "https://a"},
            "secrets": {"licence": "secret"},
        })).await;
        house.mark("admin.here", true);
        let params = json!({"login": "irina", "password": ""});
        let signed = Ask::new("PROGRAM_SIGN_IN").with("params", params).result(house).await.unwrap();
        let proofs = Ask::new("PROGRAM_LICENCE").with("session", signed["ticket"].clone());
        assert_eq!(proofs.result(house).await, Err("NO_LICENCE_SOURCE".to_owned()));
    }

    async fn a_running_request_ends_before_the_engine_does(house: House) {
        let sign_in = Ask::sign_in("irina", PASSWORD);
        let mut line = Line::open(house, sign_in.from).await;
        line.write(&sign_in.bytes()).await;
        // The hash takes longer than this; then the engine is told to stop while it is computed.
        tokio::time::sleep(Duration::from_millis(5)).await;
        house.stop().await;
        line.answer().await.result().unwrap();
    }

    async fn a_store_with_broken_settings_does_not_start(house: House) {
        house.stop().await;
        std::fs::write(house.root().join("config.json"), "{\"time_zone\": \"Nowhere\"}").unwrap();
        let error = Engine::start(house.root().to_owned(), Options::default()).await.err().unwrap();
        assert_eq!(error.to_string(), "config.json key `time_zone`: not a time zone like `Europe/Berlin`");
    }
}
