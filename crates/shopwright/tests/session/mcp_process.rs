//! The real `mcp` in odd surroundings: proxies, certificates, no home, a byte order mark before its input.

use std::net::TcpListener;
use std::process::Command;

use serde_json::json;
use testkit::{Client, PATIENCE, TestStore, run};

use crate::setup::{is_row, store};

/// Variables that lead elsewhere, taken out of the environment.
const WAYS: &[&str] = &[
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// What a sign-in at this address is told, with these variables.
fn told(store: &TestStore<'_>, url: &str, variables: &[(&str, &str)]) -> String {
    store.move_to("irina", url).unwrap();
    let mut command = store.mcp_command();
    for name in WAYS {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    let mut client = Client::open(&mut command, "2025-11-25").unwrap();
    client.refused("session_connect", json!({"topic": "x"})).unwrap()
}

/// A store that the program has in its list, and that nothing runs on.
fn listed() -> TestStore<'static> {
    let store = store();
    store.desk().unwrap().running.stop(PATIENCE).unwrap();
    store
}

#[test]
fn a_proxy_is_not_asked_for_this_computer_and_named_where_it_is_in_the_way() {
    let store = listed();
    let (proxy, engine) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let at = |listener: &TcpListener| listener.local_addr().unwrap();
    let seen = std::thread::spawn({
        let engine = engine.try_clone().unwrap();
        // Each try of the call comes here.
        move || (0..2).for_each(|_| drop(engine.accept()))
    });
    let variable = format!("http://somebody:secret@{}", at(&proxy));
    for name in ["HTTPS_PROXY", "ALL_PROXY"] {
        let text = told(&store, &format!("https://{}", at(&engine)), &[(name, &variable)]);
        assert!(is_row(&text, "no_connection") && !text.contains("proxy"), "{name}: {text}");
    }
    proxy.set_nonblocking(true).unwrap();
    assert!(proxy.accept().is_err(), "the proxy was asked for this computer");
    let address = at(&proxy);
    drop(proxy);
    let text = told(&store, "https://shop.example.com", &[("HTTPS_PROXY", &variable)]);
    assert!(is_row(&text, "no_connection") && text.contains(&format!("{address} (HTTPS_PROXY)")), "{text}");
    assert!(!text.contains("secret") && !text.contains("somebody"), "{text}");
    drop(engine);
    drop(seen);
}

#[test]
fn certificates_that_are_not_there_are_named_by_the_server() {
    let nowhere = [("SSL_CERT_FILE", "/nowhere/certificates.pem"), ("SSL_CERT_DIR", "/nowhere")];
    let text = told(&listed(), "https://127.0.0.1:9", &nowhere);
    assert!(is_row(&text, "no_connection"), "{text}");
    assert!(text.contains("SSL_CERT_FILE") && text.contains("/nowhere/certificates.pem"), "{text}");
    assert!(!text.contains("builder error"), "{text}");
}

#[test]
fn a_byte_order_mark_before_the_first_line_does_no_harm() {
    let store = store();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let input = format!("\u{feff}{hello}\n");
    let output = run(&mut store.mcp_command(), input.as_bytes(), PATIENCE).unwrap();
    assert_eq!(output.code, 0, "{}", output.err);
    let answer: serde_json::Value = serde_json::from_str(output.out.trim()).unwrap();
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
}

#[test]
fn a_user_without_a_home_is_told_so_over_the_protocol() {
    // A user whom the system does not know, without becoming one.
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-user=54321", "--"]);
    if !run(command.arg("true"), b"", PATIENCE).is_ok_and(|output| output.code == 0) {
        println!("skipped: no `unshare` here that makes an unknown user");
        return;
    }
    let store = store();
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-user=54321", "--"]).arg(store.command(&[]).get_program());
    command.arg("mcp").env_remove("HOME").env_remove("SHOPWRIGHT_HOME").env_remove("XDG_CONFIG_HOME");
    let mut client = Client::open(&mut command, "2025-11-25").unwrap();
    let looked = client.call("session_init", json!({})).unwrap();
    assert!(!looked.refused() && looked.texts().iter().any(|text| text.contains("NO_HOME:")), "{looked:?}");
    let text = client.refused("session_connect", json!({"topic": "x"})).unwrap();
    assert!(is_row(&text, "no_home") && text.contains("SHOPWRIGHT_HOME"), "{text}");
}

#[test]
fn a_changed_address_is_told_in_a_plain_sentence() {
    let store = listed();
    store.move_to("irina", "https://old.example.com").unwrap();
    store.shop_ini("Url", "https://new.example.com").unwrap();
    let mut client = Client::open(&mut store.mcp_command(), "2025-11-25").unwrap();
    let looked = client.call("session_init", json!({})).unwrap();
    let wanted = "The program is not running, and the saved password cannot be used: it was typed for the address \
                  https://old.example.com, and Shop.ini names another one now. Before `session_connect` the person";
    assert!(looked.texts().iter().any(|text| text.starts_with(wanted)), "{:?}", looked.texts());
}
