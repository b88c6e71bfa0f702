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
