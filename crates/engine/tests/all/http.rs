//! The engine's addresses as the network sees them.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};

use crate::client::{Line, TestRequest, get, raw, ticket};
use crate::test_store::{TestStore, on_both};

on_both! {
    async fn the_home_page_has_the_stores_name_and_language(store: TestStore) {
        let page = get(store, "/", "").await;
        assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
        assert!(page.text().contains("Flowers &amp; Co") && page.text().contains("<html lang=\"en\">"));
        store.settings(json!({"language": "ru"})).await;
        assert!(get(store, "/", "").await.text().contains("Добро пожаловать"));
        let lost = get(store, "/catalogue/roses", "").await;
        assert_eq!((lost.status, lost.header("content-type")), (404, Some("text/html; charset=utf-8")));
        store.mark("shop.lock", true);
        assert_eq!(get(store, "/", "").await.status, 503);
    }

    async fn an_endpoint_tells_a_browser_in_words_what_it_is(store: TestStore) {
        for path in ["/core/mcp.php", "/core/program.php"] {
            let page = get(store, path, "").await;
            assert_eq!((page.status, page.header("allow")), (405, Some("POST")));
            assert!(page.text().contains("endpoint"));
        }
        let ask = TestRequest::new("AGENT_MEMORY_LIST").header("origin", "http://evil.example.com");
        assert_eq!(ask.result(store).await, Err("Bad request: web pages may not call this address".to_owned()));
    }

    async fn what_is_no_request_is_refused_in_the_envelope(store: TestStore) {
        for (body, words) in [
            ("", "the JSON ends too early (line 1, column 0)"),
            ("{\"command\"", "the JSON ends too early (line 1, column 10)"),
            ("<html>", "not JSON (line 1, column 1)"),
            ("[]", "a field is missing or of the wrong kind (line 1, column 2)"),
            ("{\"command\": 7}", "a field is missing or of the wrong kind (line 1, column 13)"),
            ("{\"command\":\"A\",\"params\":[\"secret\"]}", "a field is missing or of the wrong kind (line 1, column 24)"),
        ] {
            let bytes = format!("POST /core/mcp.php HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            assert_eq!(raw(store, bytes.as_bytes()).await.result(), Err(format!("Bad request: {words}")), "{body}");
        }
        let deep = format!("{{\"command\":\"A\",\"params\":{{\"a\":{}1{}}}}}", "[".repeat(100_000), "]".repeat(100_000));
        let bytes = format!("POST /core/mcp.php HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{deep}", deep.len());
        raw(store, bytes.as_bytes()).await.result().unwrap_err();
    }

    async fn a_request_over_the_limit_is_413(store: TestStore) {
        store.settings(json!({"request_limit": 1})).await;
        let body = vec![b'x'; 3 << 20];
        let head = format!("POST /core/mcp.php HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n", body.len());
        assert_eq!(raw(store, &[head.as_bytes(), &body].concat()).await.status, 413);
        let chunked = format!("POST /core/mcp.php HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n", body.len());
        assert_eq!(raw(store, &[chunked.as_bytes(), &body, b"\r\n0\r\n\r\n"].concat()).await.status, 413);
        let waits = format!("{}expect: 100-continue\r\n\r\n", head.trim_end_matches("\r\n").to_owned() + "\r\n");
        assert_eq!(raw(store, waits.as_bytes()).await.status, 413);
        let big = TestRequest::tool("memory_save", json!({"name": "n", "body": "x".repeat(900_000)}));
        big.with("session", ticket(store, "irina").await).result(store).await.unwrap();
    }

    async fn a_request_of_many_small_parts_is_refused_before_it_is_read(store: TestStore) {
        let zeros = "0,".repeat(2 << 20);
        let body = format!("{{\"command\":\"x\",\"params\":{{\"a\":[{}0]}}}}", zeros);
        let head = format!("POST /core/mcp.php HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n", body.len());
        let words = raw(store, &[head.as_bytes(), body.as_bytes()].concat()).await.result();
        assert_eq!(words, Err("Bad request: the JSON has more than 200000 values".to_owned()));
    }

    async fn a_large_request_is_for_those_with_a_ticket(store: TestStore) {
        let large = |ask: TestRequest| ask.with("params", json!({"name": "n", "body": "x".repeat(70_000)}));
        let save = large(TestRequest::tool("memory_save", json!({})));
        assert_eq!(save.result(store).await, Err("SESSION_EXPIRED".to_owned()));
        assert_eq!(save.clone().with("session", "x").result(store).await, Err("SESSION_EXPIRED".to_owned()));
        for command in ["AGENT_SESSION_CONNECT", "PROGRAM_SIGN_IN"] {
            let words = large(TestRequest::new(command)).result(store).await;
            assert_eq!(words, Err("Bad request: nobody signs in with so many bytes".to_owned()));
        }
        save.clone().with("session", ticket(store, "irina").await).result(store).await.unwrap();
        store.mark("shop.lock", true);
        assert_eq!(save.result(store).await, Err("SHOP_IS_LOCK".to_owned()));
        store.mark("shop.lock", false);
        store.mark("admin.here", true);
        save.result(store).await.unwrap();
    }

    async fn a_big_answer_is_compressed_for_those_who_take_it(store: TestStore) {
        let session = ticket(store, "irina").await;
        let save = TestRequest::tool("memory_save", json!({"name": "n", "body": "word ".repeat(20_000)}));
        let saved = save.with("session", session.clone()).result(store).await.unwrap();
        let load = TestRequest::tool("memory_load", json!({"ids": [saved["id"]]})).with("session", session.clone());
        assert_eq!(load.send(store).await.header("content-encoding"), None);
        let small = load.header("accept-encoding", "gzip").send(store).await;
        assert_eq!(small.header("content-encoding"), Some("gzip"));
        assert!(small.body.starts_with(&[0x1f, 0x8b]) && small.body.len() < 20_000);
        let list = TestRequest::tool("memory_list", json!({})).with("session", session).header("accept-encoding", "gzip");
        assert_eq!(list.send(store).await.header("content-encoding"), None, "a small one is not");
    }

    async fn health_readiness_and_counts_can_be_asked(store: TestStore) {
        assert_eq!(get(store, "/core/health", "").await.status, 200);
        assert_eq!(get(store, "/core/ready", "").await.status, 200);
        TestRequest::sign_in("irina", "wrong").result(store).await.unwrap_err();
        TestRequest::new("AGENT_<made up>").result(store).await.unwrap_err();
        let counts = get(store, "/core/metrics", "").await;
        let line = "shopwright_requests_total{command=\"AGENT_SESSION_CONNECT\",outcome=\"wrong_password\"} 1";
        assert!(counts.text().contains(line), "{}", counts.text());
        assert!(!counts.text().contains("made up"));
        assert_eq!(get(store, "/core/metrics", "x-forwarded-for: 192.0.2.1\r\n").await.status, 404);
    }

    async fn a_store_without_tables_is_alive_but_not_ready(store: TestStore) {
        store.db.write(|tx| tx.run("alter table migrations rename to gone", &[])).unwrap();
        assert_eq!(get(store, "/core/ready", "").await.status, 503);
        assert_eq!(get(store, "/core/health", "").await.status, 200);
        store.db.write(|tx| tx.run("alter table gone rename to migrations", &[])).unwrap();
        assert_eq!(get(store, "/core/ready", "").await.status, 200);
    }

    async fn a_caller_that_goes_away_is_counted(store: TestStore) {
        let is_postgres = store.is_postgres();
        let request = TestRequest::tool("memory_save", json!({"name": "n", "body": "b"}));
        let request = request.with("session", ticket(store, "irina").await).bytes();
        let port = store.port();
        let cancelled = "command=\"AGENT_MEMORY_SAVE\",outcome=\"cancelled\"}";
        let (go, held) = std::sync::mpsc::channel();
        let counted = tokio::task::block_in_place(|| {
            // The call waits for this transaction when its caller goes.
            store.db.write(|tx| {
                if is_postgres {
                    tx.run("lock table notes", &[])?;
                }
                std::thread::spawn(move || {
                    let page = || {
                        let mut look = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
                        let ask = "GET /core/metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
                        look.write_all(ask.as_bytes()).unwrap();
                        let mut page = String::new();
                        look.read_to_string(&mut page).unwrap();
                        page
                    };
                    // One that goes before its request is read counts for nothing, so there may be several.
                    let counted = (0..1000).any(|_| {
                        let mut caller = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
                        caller.write_all(&request).unwrap();
                        page();
                        drop(caller);
                        page().contains(cancelled)
                    });
                    go.send(counted).unwrap();
                });
                Ok(held.recv().unwrap())
            })
        });
        assert!(counted.unwrap());
        // What was begun is done all the same.
        assert!((0..5000).any(|_| store.count("notes") == 1));
    }

    async fn a_large_request_of_nobody_is_refused_at_its_beginning(store: TestStore) {
        let head = "POST /core/mcp.php HTTP/1.1\r\nhost: a\r\ncontent-length: 40000000\r\n\r\n";
        let start = "{\"command\":\"AGENT_MEMORY_SAVE\",\"session\":\"x\",\"params\":{\"body\":\"";
        let mut line = Line::open(store, std::net::Ipv4Addr::LOCALHOST).await;
        line.write(&[head.as_bytes(), start.as_bytes(), &vec![b'x'; 70_000]].concat()).await;
        // The rest is not waited for to know better: what comes is thrown away, and it is no JSON.
        line.write(&vec![0; 40_000_000 - start.len() - 70_000]).await;
        assert_eq!(line.answer().await.result(), Err("SESSION_EXPIRED".to_owned()));
    }

    async fn a_large_page_comes_whole(store: TestStore) {
        let statics = store.root().join("templates/default/statics");
        std::fs::create_dir_all(&statics).unwrap();
        std::fs::write(statics.join("large.css"), "a{}\n".repeat(500_000)).unwrap();
        let page = get(store, "/statics/large.css", "").await;
        assert_eq!((page.status, page.body.len()), (200, 2_000_000));
        assert_eq!(page.header("content-length"), Some("2000000"));
    }

    async fn an_answer_may_not_be_kept_by_what_stands_between(store: TestStore) {
        let answer = TestRequest::sign_in("irina", crate::test_store::PASSWORD).send(store).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let envelope: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(envelope["ok"], json!(true));
    }
}

/// A store whose disk takes nothing more is alive, but not ready.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_whose_disk_takes_nothing_is_not_ready() {
    let store = TestStore::on(crate::test_store::Base::Sqlite).await.unwrap();
    assert_eq!(get(&store, "/core/ready", "").await.status, 200);
    let core = store.root().join("core");
    let mount = |arguments: &[&str]| {
        let command = std::process::Command::new("mount").args(arguments).arg(&core).status();
        command.is_ok_and(|status| status.success())
    };
    if !mount(&["--bind", core.to_str().unwrap()]) {
        println!("nothing can be mounted here: not run");
        return;
    }
    assert!(mount(&["-o", "remount,bind,ro"]));
    let ready = async || get(&store, "/core/ready", "").await.status;
    // An answer holds for a moment.
    let mut status = ready().await;
    for _ in 0..10_000 {
        if status != 200 {
            break;
        }
        status = ready().await;
    }
    assert_eq!((status, get(&store, "/core/health", "").await.status), (503, 200));
    assert!(std::process::Command::new("umount").arg("-l").arg(&core).status().unwrap().success());
    assert_eq!(ready().await, 200);
}
