//! The store from outside, where the store is hostile: sizes, redirects, cookies and bytes that no page should have.

use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Client, FaultyProxy, Reply, TestStore, Trying};

use crate::setup::{is_row, store};

/// A session over a proxy that plays the store's site, with the rules of `shop_` accepted.
fn behind_proxy(store: &TestStore<'_>) -> (Trying, FaultyProxy, Client) {
    let trying = store.start("irina").unwrap();
    let proxy = FaultyProxy::start(&trying.url()).unwrap();
    store.move_to("irina", &proxy.url).unwrap();
    let mut command = trying.mcp_command();
    command.env("SHOPWRIGHT_TIMEOUT", "5");
    let mut client = Client::open(&mut command, "2025-11-25").unwrap();
    client.connect("site").unwrap();
    client.accept_rules("shop_page", json!({})).unwrap();
    (trying, proxy, client)
}

fn page(headers: &str, body: &[u8]) -> Reply {
    Reply::http_with("200 OK", "text/html; charset=utf-8", headers, body)
}

fn redirect(to: &str) -> Reply {
    Reply::http_with("302 Found", "text/html", &format!("location: {to}\r\n"), b"elsewhere")
}

/// A head that promises another body than comes.
fn raw(head: &str, body: &[u8]) -> Reply {
    Reply::Raw([format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes(), body].concat())
}

fn gzip_bomb() -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..200 {
        packer.write_all(&zeros).unwrap();
    }
    packer.finish().unwrap()
}

/// Most memory that the server ever took, in KiB.
#[cfg(target_os = "linux")]
fn most_memory(client: &mut Client) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.server().pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn sites_without_measure_are_cut_off_in_words() {
    let store = store();
    let (_trying, proxy, mut client) = behind_proxy(&store);
    let large = vec![b'x'; 20 << 20];
    for (what, reply) in [
        ("a gigabyte", raw("content-length: 1073741824\r\n", &large)),
        ("endless", raw("connection: close\r\n", &large)),
        ("a bomb", page("content-encoding: gzip\r\n", &gzip_bomb())),
    ] {
        proxy.plan([reply.clone(), reply]);
        let text = client.refused("shop_page", json!({"url": "/large"})).unwrap();
        assert!(is_row(&text, "unexpected_answer") && text.contains("16 MiB"), "{what}: {text}");
    }
    #[cfg(target_os = "linux")]
    {
        let most = most_memory(&mut client);
        assert!(most < 200 * 1024, "{most} KiB");
    }
}

#[test]
fn redirects_never_leave_the_store() {
    let store = store();
    let (_trying, proxy, mut client) = behind_proxy(&store);
    let elsewhere = FaultyProxy::start("127.0.0.1:9").unwrap();
    for to in [
        "http://evil.example/",
        "//evil.example/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "gopher://127.0.0.1/",
        "http://user:pass@127.0.0.1/",
        "/core/mcp.php",
        "/core/metrics",
        &elsewhere.url,
    ] {
        proxy.plan([redirect(to)]);
        let answer = client.call("shop_module", json!({"url": "/go"})).unwrap();
        assert_eq!(answer.data()["status"], 302, "{to}: {}", answer.text());
        let text = answer.texts().pop().unwrap();
        assert!(text.starts_with("The page leads to `") && text.ends_with("elsewhere"), "{to}: {text}");
    }
    assert_eq!(elsewhere.count(), 0);
    // In circles: as many as are followed, and no more.
    let before = proxy.count();
    proxy.plan(std::iter::repeat_n(redirect("/round"), 50));
    let answer = client.call("shop_page", json!({"url": "/round"})).unwrap();
    assert_eq!(answer.data()["status"], 302);
    assert_eq!(proxy.count() - before, 6);
    proxy.plan([]);
}

#[test]
fn bytes_that_no_page_should_have_are_answers() {
    let store = store();
    let (_trying, proxy, mut client) = behind_proxy(&store);
    proxy.plan([page("", b"<title>\xff\xfe</title>\xc3\x28\xf0")]);
    let answer = client.call("shop_page", json!({"url": "/bytes"})).unwrap();
    let file = answer.data()["file"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::read(file).unwrap(), b"<title>\xff\xfe</title>\xc3\x28\xf0");

    let title = format!("<title>{}</title>", "t".repeat(1 << 20));
    proxy.plan([page("", title.as_bytes())]);
    let data = client.done("shop_page", json!({"url": "/title", "find": "zzz"})).unwrap();
    assert!(data["title"].as_str().unwrap().chars().count() <= 301);

    let cookies: String =
        (0..60).map(|n| format!("set-cookie: c{n}={}; path=/\r\n", "x".repeat(4000))).collect();
    proxy.plan([page(&cookies, b"crumbs")]);
    let answer = client.call("shop_page", json!({"url": "/crumbs", "post": {}})).unwrap();
    let is_told = !answer.refused() || is_row(&answer.text(), "no_connection");
    assert!(is_told, "{}", answer.text());
    // The next form brings a header that servers take.
    proxy.plan([]);
    assert_eq!(client.done("shop_page", json!({"url": "/", "post": {}})).unwrap()["status"], 200);

    // A report that is none, and one of a wrong form.
    for report in ["{\"status\": \"x\", \"body\": 7, \"report\": []}", "[]", "no json"] {
        let reply = page("x-debug-report: 1\r\n", report.as_bytes());
        proxy.plan([reply]);
        let answer = client.call("shop_page", json!({"url": "/report"})).unwrap();
        assert!(!answer.refused(), "{report}: {}", answer.text());
    }
}

#[test]
fn a_form_whose_answer_is_lost_is_not_sent_twice() {
    let store = store();
    let (_trying, proxy, mut client) = behind_proxy(&store);
    for reply in
        [Reply::Close, Reply::PassAndLose, Reply::PassAndCut(40), Reply::Hang(Duration::from_secs(7))]
    {
        let before = proxy.count();
        proxy.plan([reply.clone()]);
        let text = client.refused("shop_page", json!({"url": "/", "post": {"a": 1}})).unwrap();
        assert!(is_row(&text, "no_connection") && text.contains("look before you send it again"), "{text}");
        assert_eq!(proxy.count() - before, 1, "{reply:?}");
    }
    // A look is repeated by itself.
    let before = proxy.count();
    proxy.plan([Reply::Close]);
    assert_eq!(client.done("shop_page", json!({})).unwrap()["status"], 200);
    assert_eq!(proxy.count() - before, 2);
}

#[test]
fn what_the_storefront_says_to_the_agents_units_is_put_into_words() {
    let store = store();
    let (_trying, proxy, mut client) = behind_proxy(&store);
    let unit = json!({"mod": "agent_x"});
    let unfit = || Reply::http("403 Forbidden", "text/plain", "ACCESS_DENIED: sign in anew\n");
    // The ticket is replaced once, in between.
    proxy.plan([unfit(), Reply::Pass, unfit()]);
    let text = client.refused("shop_agent", unit.clone()).unwrap();
    assert!(is_row(&text, "ticket_unfit"), "{text}");
    proxy.plan([Reply::http("404 Not Found", "text/html", "<html>no such page</html>")]);
    let text = client.refused("shop_agent", unit).unwrap();
    assert!(is_row(&text, "no_unit_endpoint"), "{text}");
}

#[test]
fn a_ticket_that_ran_out_is_replaced_before_a_module_is_called() {
    let store = store();
    let units = store.root().join("units");
    let code = "export function main() { return 'login: ' + shop.user.login; }";
    std::fs::write(units.join("agent_who.js"), code).unwrap();
    std::fs::write(units.join("agent_who.json"), "{\"entry_point\": true}").unwrap();
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    client.accept_rules("shop_agent", json!({"mod": "agent_who"})).unwrap();
    store.sql("delete from tickets where kind = 'agent'").unwrap();
    let answer = client.call("shop_agent", json!({"mod": "agent_who"})).unwrap();
    assert_eq!(answer.texts().last().unwrap(), "login: irina", "{}", answer.text());
}

/// The proof of identity, as the wire carries it, shows in no answer, file or log of the server.
#[test]
fn the_proof_and_the_debuggers_code_show_nowhere() {
    let store = store();
    let (_trying, proxy, mut client) = behind_proxy(&store);
    // The site echoes what it was sent.
    proxy.plan([Reply::Echo, Reply::Echo]);
    let answer = client.call("shop_module", json!({"url": "/echo", "post": {"a": "b"}})).unwrap();
    let text = answer.texts().pop().unwrap();
    assert!(text.to_lowercase().contains("authorization: bearer <pass_code>"), "{text}");
    let file = answer.data()["file"].as_str().unwrap().to_owned();
    assert!(std::fs::read_to_string(file).unwrap().contains("<pass_code>"));
    // A look brings none.
    let answer = client.call("shop_page", json!({"url": "/echo"})).unwrap();
    let text = answer.texts().pop().unwrap().to_lowercase();
    assert!(
        text.contains("get /echo") && !text.contains("authorization") && !text.contains("cookie"),
        "{text}"
    );
    let _: Value = answer.data();
}

#[test]
fn a_file_that_breaks_off_or_comes_in_odd_parts_leaves_nothing_behind() {
    let store = store();
    let trying = store.start("admin").unwrap();
    let proxy = FaultyProxy::start(&trying.url()).unwrap();
    store.move_to("admin", &proxy.url).unwrap();
    let mut command = trying.mcp_command();
    command.env("SHOPWRIGHT_TIMEOUT", "5");
    let mut client = Client::open(&mut command, "2025-11-25").unwrap();
    client.connect("files").unwrap();
    std::fs::create_dir_all(store.root().join("core/log")).unwrap();
    let bytes: Vec<u8> = (0..300_000_u32).flat_map(|number| number.to_be_bytes()).collect();
    std::fs::write(store.root().join("core/log/large.log"), &bytes).unwrap();
    let arguments = json!({"path": "core/log/large.log", "output": "out/large.log"});
    client.accept_rules("engine_whole_load", arguments.clone()).unwrap();
    let multi = |body: &str| Reply::http("200 OK", "multipart/mixed; boundary=b", body);
    let envelope = r#"{"ok": true, "ms": 1, "data": {"path": "x", "bytes": 3}}"#;
    let part = |length: usize| format!("--b\r\ncontent-length: {length}\r\n\r\n{envelope}\r\n--b\r\n");
    for reply in [
        Reply::PassAndCut(700),
        Reply::PassAndCut(200_000),
        multi("--c\r\n"),
        multi("--b\r\nno-length: 1\r\n\r\n"),
        multi("--b\r\ncontent-length: 99999999999\r\n\r\n"),
        multi(&part(envelope.len())),
        multi(&format!("{}content-length: 3\r\n\r\nabc\r\n--x--", part(envelope.len()))),
        multi(&part(1)),
        Reply::http("200 OK", "application/json", envelope),
    ] {
        proxy.plan(std::iter::repeat_n(reply.clone(), 3));
        let text = client.refused("engine_whole_load", arguments.clone()).unwrap();
        assert!(is_row(&text, "no_connection") || is_row(&text, "unexpected_answer"), "{reply:?}: {text}");
        let left: Vec<_> = std::fs::read_dir(store.store().join("out")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
    proxy.plan([]);
    let data = client.done("engine_whole_load", arguments).unwrap();
    assert_eq!(data["bytes"], bytes.len());
    assert!(std::fs::read(store.store().join("out/large.log")).unwrap() == bytes);
}
