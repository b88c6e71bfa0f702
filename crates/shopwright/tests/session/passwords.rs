//! Passwords on their way in: from a pipe, from a terminal, and for one address only.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use serde_json::json;
use testkit::{Console, PATIENCE, run};

use crate::setup::{is_row, store};

#[test]
fn a_byte_order_mark_is_no_part_of_a_password() {
    let store = store();
    let engine = store.serve(0).unwrap();
    let mut command = store.command(&["store", "passwd", "--login", "irina", "--root"]);
    let changed = run(command.arg(store.root()), "\u{feff}green leaf\r\n".as_bytes(), PATIENCE).unwrap();
    assert_eq!(changed.code, 0, "{}", changed.err);
    let signed_in = |password: &str| {
        let params = json!({"login": "irina", "password": password});
        let asked = json!({
            "command": "AGENT_SESSION_CONNECT", "build": wire::BUILD,
            "time": jiff::Timestamp::now().to_string(), "params": params,
        });
        testkit::post(&format!("{}/core/mcp.php", engine.url), &asked).unwrap().json()["ok"].clone()
    };
    assert_eq!(signed_in("green leaf"), json!(true));
    assert_eq!(signed_in("\u{feff}green leaf"), json!(false));
}

#[test]
fn ctrl_c_at_the_prompt_gives_the_terminal_its_echo_back() {
    if Command::new("script").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: there is no `script` here to make a terminal with");
        return;
    }
    let store = store();
    let passwd = store.command(&[]);
    let binary = passwd.get_program().to_str().unwrap();
    let root = store.root();
    let line = format!(
        "trap : INT; '{binary}' store passwd --login irina --root '{}'; echo code $?; stty -a",
        root.display()
    );
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).env("SHELL", "/bin/sh");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("New password of `irina`: ") {
        let mut part = [0; 256];
        let count = screen.read(&mut part).unwrap();
        assert!(count > 0, "no prompt: {}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&part[..count]);
    }
    keys.write_all(b"half a pass\x03").unwrap();
    screen.read_to_end(&mut seen).unwrap();
    child.wait().unwrap();
    let text = String::from_utf8_lossy(&seen);
    assert!(text.contains("stopped; nothing was changed") && text.contains("code 1"), "{text}");
    let modes: Vec<&str> = text.split_whitespace().collect();
    assert!(modes.contains(&"echo") && !modes.contains(&"-echo"), "{text}");
    assert!(!text.contains("half a pass"), "{text}");
}

#[test]
fn a_changed_address_gets_no_password() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let elsewhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    store.shop_ini("Url", &format!("http://{}", elsewhere.local_addr().unwrap())).unwrap();
    let mut client = trying.client().unwrap();
    let text = client.refused("session_connect", json!({"topic": "x"})).unwrap();
    assert!(is_row(&text, "no_settings") && text.contains("another address"), "{text}");
    assert!(elsewhere.accept().is_err(), "the other address was asked");
}

#[test]
fn a_pipe_in_place_of_shop_ini_stops_nothing() {
    let store = store();
    // Puts the store into the list.
    store.desk().unwrap().running.stop(PATIENCE).unwrap();
    let path = store.store().join("Shop.ini");
    std::fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let checked = run(store.command(&["check", "--store"]).arg(store.store()), b"", PATIENCE).unwrap();
    assert_eq!(checked.code, 1, "{}", checked.out);
    assert!(checked.out.contains("not a regular file"), "{}", checked.out);
    let desk = store.desk().unwrap();
    let page = Console::open(&desk.console).unwrap().get("/sign-in").unwrap().text();
    assert!(page.contains("not a regular file"), "{page}");
}
