//! The program on this computer: running, on another store, silent, closed; and who may ask it.

use std::net::{TcpListener, TcpStream};
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::{Client, Console, PATIENCE, Running, TestStore, run, wait_for};

use crate::setup::{is_row, store};

fn state(client: &mut Client) -> (String, Value) {
    let answer = client.call("session_init", json!({})).unwrap();
    assert!(!answer.refused());
    (answer.texts().get(1).cloned().unwrap_or_default(), answer.data()["program"].clone())
}

#[test]
fn a_running_program_needs_no_words() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let (words, program) = state(&mut trying.client().unwrap());
    assert_eq!(program, json!({"state": "running", "store": ""}));
    assert_eq!(words, "", "the usual sign-in follows");
}

#[test]
fn a_stopped_program_is_silent_and_a_killed_one_closed() {
    let store = store();
    let mut trying = store.start("irina").unwrap();
    let mut client = trying.client().unwrap();
    trying.process().signal(Signal::STOP).unwrap();
    // On a busy machine it may answer once more before it stands still.
    let (words, program) = wait_for("a program that stands still", PATIENCE, || {
        Some(state(&mut client)).filter(|(_, program)| program["state"] != "running")
    })
    .unwrap();
    assert_eq!(program, json!({"state": "silent", "store": ""}));
    assert!(words.contains("does not answer"), "{words}");
    let text = client.refused("session_connect", json!({"topic": "x"})).unwrap();
    assert!(is_row(&text, "no_settings"), "{text}");
    assert!(text.contains("did not answer"), "{text}");
    trying.process().signal(Signal::CONT).unwrap();
    client.connect("x").unwrap();
    trying.process().kill();
    let (words, program) = state(&mut client);
    assert_eq!(program, json!({"state": "closed", "store": ""}));
    assert!(words.contains("not running"), "{words}");
    let text = client.refused("session_connect", json!({"topic": "x"})).unwrap();
    assert!(is_row(&text, "no_settings") && text.contains("the program is not running"), "{text}");
}

#[test]
fn a_program_on_another_store_is_named() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let second = store.folder().join("second");
    std::fs::create_dir(&second).unwrap();
    std::fs::copy(store.store().join("Shop.ini"), second.join("Shop.ini")).unwrap();
    let list = store.home().join("stores.toml");
    let mut text = std::fs::read_to_string(&list).unwrap();
    text.push_str(&format!("\n[[stores]]\nname = \"Second\"\nfolder = {:?}\n", second.display().to_string()));
    std::fs::write(&list, text).unwrap();
    let mut command = store.command(&["mcp", "--store"]);
    command.arg(&second);
    let mut client = Client::open(&mut command, "2025-11-25").unwrap();
    let (_, program) = state(&mut client);
    assert_eq!(program["state"], "other");
    assert_eq!(program["store"], trying.info()["store"]);
    let text = client.refused("session_connect", json!({"topic": "x"})).unwrap();
    assert!(is_row(&text, "no_settings"), "{text}");
    assert!(text.contains("another store") && text.contains(&store.store().display().to_string()), "{text}");
}

#[test]
fn a_program_that_is_signed_out_has_nothing_to_hand_over() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let console = Console::open(trying.info()["console"].as_str().unwrap()).unwrap();
    console.post("/sign-out", &[]).unwrap();
    let mut client = trying.client().unwrap();
    let (words, program) = state(&mut client);
    assert_eq!(program["state"], "running");
    assert!(words.contains("signed out"), "{words}");
    let text = client.refused("session_connect", json!({"topic": "x"})).unwrap();
    assert!(is_row(&text, "no_settings") && text.contains("signed out"), "{text}");
    console.sign_in("irina", &trying.people()["irina"], false).unwrap();
    client.connect("x").unwrap();
}

#[test]
fn an_unpinned_session_follows_the_program_to_another_store_and_back() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let second = store.folder().join("second");
    std::fs::create_dir(&second).unwrap();
    std::fs::copy(store.store().join("Shop.ini"), second.join("Shop.ini")).unwrap();
    let mut client = Client::open(&mut trying.unpinned_command(), "2025-11-25").unwrap();
    let mut pinned = trying.connected().unwrap();
    let data = client.connect("x").unwrap();
    assert_eq!(data["store"]["pinned"], json!(false));
    let console = Console::open(trying.info()["console"].as_str().unwrap()).unwrap();
    let second_text = second.display().to_string();
    let added =
        console.post("/stores/add", &[("name", "Second"), ("folder", &second_text), ("url", &trying.url())]);
    assert!(added.unwrap().status < 400);
    let opened = console.post("/stores/open", &[("folder", &second_text)]).unwrap();
    assert!(opened.status < 400, "{}", opened.text());
    let text = client.refused("memory_list", json!({})).unwrap();
    assert!(is_row(&text, "store_switched"), "{text}");
    assert!(text.contains(&store.store().display().to_string()) && text.contains(&second_text), "{text}");
    pinned.done("memory_list", json!({})).unwrap();
    console.post("/stores/open", &[("folder", &store.store().display().to_string())]).unwrap();
    client.done("memory_list", json!({})).unwrap();
}

#[test]
fn another_user_of_the_computer_cannot_read_the_pair() {
    let store = store();
    let trying = store.start("irina").unwrap();
    // Even where every folder on the way is open, the socket and the program refuse.
    let script = r#"
import json, os, socket, sys
home = sys.argv[1]
for name in ("desk.json", "stores.toml", "credentials"):
    try:
        open(os.path.join(home, name)).read()
        print("read", name)
    except (PermissionError, FileNotFoundError):
        pass
try:
    line = socket.socket(socket.AF_UNIX)
    line.connect(sys.argv[2])
    line.sendall(sys.argv[3].encode() + b"\n")
    line.settimeout(3)
    print("answer", line.recv(4096))
except OSError:
    pass
"#;
    let desk: Value =
        serde_json::from_slice(&std::fs::read(store.home().join("desk.json")).unwrap()).unwrap();
    let socket = desk["socket"].as_str().unwrap().to_owned();
    let question = json!({"ask": "pair", "store": store.store()}).to_string();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "python3", "-c", script]);
    command.arg(store.home()).arg(&socket).arg(&question);
    let Ok(output) = run(&mut command, b"", PATIENCE) else {
        println!("skipped: no setpriv or python3 here");
        return;
    };
    if output.err.contains("setpriv:") {
        println!("skipped: only root can become somebody else ({})", output.err.trim());
        return;
    }
    let password = &trying.people()["irina"];
    assert!(!output.out.contains("read"), "{}", output.out);
    assert!(!output.out.contains(password.as_str()), "{}", output.out);
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&store.home()), 0o700);
    assert_eq!(mode(std::path::Path::new(&socket)), 0o600);
    assert_eq!(mode(&store.folder().join("try.json")), 0o600);
}

#[test]
fn the_console_turns_strangers_away() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let url = trying.info()["console"].as_str().unwrap();
    let origin = url.split("/start").next().unwrap();
    let without_cookie = testkit::get(&format!("{origin}/stores")).unwrap();
    assert_eq!(without_cookie.status, 401);
    let foreign = testkit::send("GET", url, &[("host", "evil.example")], b"").unwrap();
    assert_eq!(foreign.status, 421);
    let wrong = testkit::get(&format!("{origin}/start?secret=0000")).unwrap();
    assert!(wrong.status >= 400, "{}", wrong.status);
    let page = Console::open(url).unwrap().get("/").unwrap();
    assert!(!page.text().contains(trying.people()["irina"].as_str()), "no page shows a password");
}

/// The program alone on this store, in an environment of its own; gives the console's address.
fn desk(store: &TestStore<'_>, command: &mut Command) -> (Running, String) {
    command.args(["--listen", "127.0.0.1:0", "--store"]).arg(store.store());
    let running = Running::start(command).unwrap();
    let line = running.line(PATIENCE).unwrap().unwrap_or_else(|| panic!("{}", running.errors()));
    let line = String::from_utf8(line).unwrap();
    (running, line.split_whitespace().last().unwrap().to_owned())
}

#[test]
fn a_home_that_a_variable_decides_is_told_to_applications() {
    let store = store();
    let told = |set: &dyn Fn(&mut Command)| {
        let mut command = store.command(&["desk"]);
        command.env_remove("SHOPWRIGHT_HOME").env_remove("XDG_CONFIG_HOME").env("HOME", store.folder());
        set(&mut command);
        let (mut running, _) = desk(&store, &mut command);
        running.stop(PATIENCE).unwrap();
        let text = std::fs::read(store.store().join(".mcp.json")).unwrap();
        let settings: Value = serde_json::from_slice(&text).unwrap();
        settings["mcpServers"]["shopwright"]["env"]["SHOPWRIGHT_HOME"].clone()
    };
    let elsewhere = store.folder().join("elsewhere");
    assert_eq!(
        told(&|command| _ = command.env("XDG_CONFIG_HOME", &elsewhere)),
        json!(elsewhere.join("shopwright"))
    );
    // An application finds this one by the home directory alone.
    assert_eq!(told(&|_| ()), Value::Null);
    assert_eq!(told(&|command| _ = command.env("SHOPWRIGHT_HOME", &elsewhere)), json!(elsewhere));
}

#[test]
fn the_choice_of_asking_is_kept_for_later_starts() {
    let store = store();
    let codex = || std::fs::read_to_string(store.store().join(".codex/config.toml")).unwrap();
    for (choice, wanted) in [(Some("approve"), "approve"), (None, "approve"), (Some("ask"), "prompt")] {
        let mut command = store.command(&["desk"]);
        command.args(choice.map(|choice| format!("--approval={choice}")));
        let (mut running, _) = desk(&store, &mut command);
        running.stop(PATIENCE).unwrap();
        let told = format!("default_tools_approval_mode = \"{wanted}\"");
        assert!(codex().contains(&told), "{}", codex());
    }
}

#[test]
fn idle_connections_of_others_keep_nobody_out() {
    let store = store();
    // Few files, so that few connections do what a thousand would.
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -n 200 && exec \"$0\" \"$@\""])
        .arg(store.command(&[]).get_program())
        .arg("desk");
    command.env("SHOPWRIGHT_HOME", store.home()).env("SHOPWRIGHT_KEYRING", "file");
    let (_running, console) = desk(&store, &mut command);
    let address = console.trim_start_matches("http://").split('/').next().unwrap().to_owned();
    let idle: Vec<TcpStream> = (0..400).map(|_| TcpStream::connect(&address).unwrap()).collect();
    assert_eq!(Console::open(&console).unwrap().get("/sign-in").unwrap().status, 200);
    let mut client = Client::open(&mut store.mcp_command(), "2025-11-25").unwrap();
    let (_, program) = state(&mut client);
    assert_eq!(program["state"], "running");
    drop(idle);
}

/// What the console says to a sign-in at this address, with these variables.
fn says_to_a_sign_in(store: &TestStore<'_>, url: &str, variables: &[(&str, &str)]) -> String {
    store.shop_ini("Url", url).unwrap();
    let mut command = store.command(&["desk"]);
    for name in
        ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE"]
    {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    let (_running, console) = desk(store, &mut command);
    let fields = [("login", "irina"), ("password", "green leaf")];
    Console::open(&console).unwrap().post("/sign-in", &fields).unwrap().text()
}

#[test]
fn a_proxy_leads_nowhere_on_this_computer_and_is_named_elsewhere() {
    let store = store();
    let (proxy, engine) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let at = |listener: &TcpListener| listener.local_addr().unwrap();
    let seen = std::thread::spawn({
        let engine = engine.try_clone().unwrap();
        move || drop(engine.accept().unwrap())
    });
    let variable = format!("http://somebody:secret@{}", at(&proxy));
    let text = says_to_a_sign_in(&store, &format!("https://{}", at(&engine)), &[("HTTPS_PROXY", &variable)]);
    seen.join().unwrap();
    proxy.set_nonblocking(true).unwrap();
    assert!(proxy.accept().is_err(), "the proxy was asked for this computer");
    assert!(!text.contains("HTTPS_PROXY"), "{text}");
    let address = at(&proxy);
    drop(proxy);
    let text = says_to_a_sign_in(&store, "https://shop.example.com", &[("HTTPS_PROXY", &variable)]);
    assert!(text.contains(&format!("{address} (HTTPS_PROXY)")) && !text.contains("secret"), "{text}");
}

#[test]
fn certificates_that_are_not_there_are_named() {
    let store = store();
    let nowhere = [("SSL_CERT_FILE", "/nowhere/certificates.pem"), ("SSL_CERT_DIR", "/nowhere")];
    let text = says_to_a_sign_in(&store, "https://127.0.0.1:9", &nowhere);
    assert!(text.contains("SSL_CERT_FILE names") && text.contains("certificates.pem"), "{text}");
}
