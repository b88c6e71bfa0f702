//! `try`, `tour`, `check` and the command line, as a person uses them.

use std::time::Instant;

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::{Client, PATIENCE, Running, TryOptions, Trying, run};

use crate::setup::{fixture, store};

#[test]
fn a_new_store_is_ready_soon_and_an_old_one_sooner() {
    let folder = tempfile::tempdir().unwrap();
    let since = Instant::now();
    let mut trying = Trying::start(fixture().binary(), folder.path(), &TryOptions::default()).unwrap();
    let fresh = since.elapsed();
    trying.client().unwrap().connect("first").unwrap();
    trying.stop().unwrap();
    let since = Instant::now();
    let trying = Trying::start(fixture().binary(), folder.path(), &TryOptions::default()).unwrap();
    let again = since.elapsed();
    trying.client().unwrap().connect("second").unwrap();
    println!("new {fresh:?}, again {again:?}");
}

#[test]
fn try_json_tells_everything_and_only_to_its_owner() {
    let store = store();
    let mut trying = store.start("irina").unwrap();
    let info = trying.info().clone();
    let keys: Vec<&String> = info.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["storefront", "console", "store", "root", "home", "people", "mcp"]);
    let people = info["people"].as_array().unwrap();
    let logins: Vec<&Value> = people.iter().map(|one| &one["login"]).collect();
    assert_eq!(logins, [&json!("admin"), &json!("irina"), &json!("oleg")]);
    for one in people {
        let keys: Vec<&String> = one.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["login", "password", "name", "group"]);
    }
    assert!(std::path::Path::new(info["mcp"]["command"].as_str().unwrap()).is_absolute());
    assert_eq!(info["mcp"]["args"], json!(["mcp", "--store", info["store"]]));
    assert_eq!(info["mcp"]["env"]["SHOPWRIGHT_HOME"], info["home"]);
    use std::os::unix::fs::PermissionsExt;
    let file = store.folder().join("try.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    trying.stop().unwrap();
    assert!(!file.exists(), "what does not run is not told of");
}

#[test]
fn both_signals_stop_cleanly() {
    let store = store();
    for signal in [Signal::INT, Signal::TERM] {
        let mut trying = store.start("irina").unwrap();
        trying.process().signal(signal).unwrap();
        let status = trying.process().wait(PATIENCE).unwrap();
        assert_eq!(status.code(), Some(0), "{signal:?}: {}", trying.process().errors());
        assert!(!store.home().join("desk.json").exists(), "the program has left");
    }
}

#[test]
fn a_second_try_on_the_same_folder_refuses_in_words() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let folder = store.folder().display().to_string();
    let output = store.run(&["try", &folder, "--port", "0"]).unwrap();
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.err.contains("another `shopwright try` works in"), "{}", output.err);
    assert!(store.folder().join("try.json").exists(), "the first one still tells of itself");
    trying.client().unwrap().connect("still").unwrap();
}

#[test]
fn a_killed_try_starts_again() {
    let store = store();
    let mut trying = store.start("irina").unwrap();
    trying.process().kill();
    assert!(store.folder().join("try.json").exists(), "nobody could remove it");
    std::fs::remove_file(store.folder().join("try.json")).unwrap();
    let trying = store.start("oleg").unwrap();
    let data = trying.client().unwrap().done("session_connect", json!({"topic": "x"})).unwrap();
    assert_eq!(data["user"]["login"], "oleg");
}

#[test]
fn lost_passwords_are_drawn_anew() {
    let store = store();
    let before = store.people().unwrap();
    std::fs::remove_file(store.folder().join("people.json")).unwrap();
    let trying = store.start("irina").unwrap();
    let after = trying.people();
    assert!(before.iter().all(|(login, password)| after[login] != *password));
    trying.connected().unwrap();
}

#[test]
fn a_taken_port_is_told_with_the_way_out() {
    let store = store();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let folder = store.folder().display().to_string();
    let output = store.run(&["try", &folder, "--port", &port]).unwrap();
    assert_eq!(output.code, 1);
    assert!(
        output.err.contains(&format!("port {port}")) && output.err.contains("--port 0"),
        "{}",
        output.err
    );
}

#[test]
fn nobody_of_that_login_is_told_who_there_is() {
    let store = store();
    let folder = store.folder().display().to_string();
    let output = store.run(&["try", &folder, "--port", "0", "--as", "bob"]).unwrap();
    assert_eq!(output.code, 1);
    assert!(output.err.contains("admin, irina, oleg"), "{}", output.err);
}

#[test]
fn the_language_can_be_chosen_and_changed() {
    let folder = tempfile::tempdir().unwrap();
    let russian =
        TryOptions { arguments: vec!["--language".into(), "ru".into()], ..TryOptions::login("irina") };
    let mut trying = Trying::start(fixture().binary(), folder.path(), &russian).unwrap();
    let data = trying.client().unwrap().connect("ru").unwrap();
    assert_eq!(data["store"]["name"], "Медный чайник");
    assert_eq!(data["group"]["name"], "Менеджеры");
    trying.stop().unwrap();
    let english =
        TryOptions { arguments: vec!["--language".into(), "en".into()], ..TryOptions::login("irina") };
    let trying = Trying::start(fixture().binary(), folder.path(), &english).unwrap();
    assert_eq!(trying.client().unwrap().connect("en").unwrap()["group"]["name"], "Managers");
}

#[test]
fn a_home_that_is_set_is_kept() {
    let store = store();
    let own = tempfile::tempdir().unwrap();
    let home = own.path().join("home");
    let options = TryOptions {
        environment: vec![("SHOPWRIGHT_HOME".into(), home.display().to_string())],
        ..TryOptions::login("irina")
    };
    let trying = store.start_with(&options).unwrap();
    assert_eq!(trying.info()["home"], json!(home));
    assert!(home.join("stores.toml").exists());
    trying.connected().unwrap();
}

#[test]
fn a_home_that_another_program_holds_stays_as_it_is() {
    let (first, second) = (store(), store());
    let own = tempfile::tempdir().unwrap();
    let home = own.path().join("home").display().to_string();
    let options = TryOptions {
        environment: vec![("SHOPWRIGHT_HOME".into(), home.clone())],
        ..TryOptions::login("irina")
    };
    let trying = first.start_with(&options).unwrap();
    let list = std::fs::read_to_string(format!("{home}/stores.toml")).unwrap();
    let error = second.start_with(&options).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("already runs on this home") && !error.contains("port"), "{error}");
    assert_eq!(std::fs::read_to_string(format!("{home}/stores.toml")).unwrap(), list);
    trying.connected().unwrap();
}

#[test]
fn the_folder_opened_by_an_agent_application_starts_this_server() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let settings: Value =
        serde_json::from_slice(&std::fs::read(store.store().join(".mcp.json")).unwrap()).unwrap();
    let servers = settings["mcpServers"].as_object().unwrap();
    let ours = servers.values().next().unwrap();
    let mut command = std::process::Command::new(ours["command"].as_str().unwrap());
    command.args(ours["args"].as_array().unwrap().iter().filter_map(Value::as_str));
    for (name, value) in ours["env"].as_object().into_iter().flatten() {
        command.env(name, value.as_str().unwrap());
    }
    command.env("SHOPWRIGHT_HOME", trying.info()["home"].as_str().unwrap());
    command.current_dir(store.store());
    let mut client = Client::open(&mut command, "2025-11-25").unwrap();
    let data = client.connect("folder").unwrap();
    assert_eq!(data["store"]["pinned"], json!(true));
}

#[test]
fn the_tour_ends_well_for_each_of_the_people() {
    let store = store();
    let folder = store.folder().display().to_string();
    let output = store.run(&["tour", &folder]).unwrap();
    assert_eq!(output.code, 1, "nothing runs");
    assert!(output.err.contains("shopwright try"), "{}", output.err);
    for login in ["admin", "irina", "oleg"] {
        let mut trying = store.start(login).unwrap();
        let output = store.run(&["tour", &folder]).unwrap();
        assert_eq!(output.code, 0, "{login}: {}\n{}", output.err, output.out);
        assert!(output.out.contains("every answer as expected"), "{}", output.out);
        assert!(!output.out.contains('\u{1b}'), "no colours in a pipe");
        assert!(!output.out.contains(trying.people()[login].as_str()), "no password is shown");
        trying.stop().unwrap();
    }
    let mut trying = store.start("irina").unwrap();
    trying.process().signal(Signal::STOP).unwrap();
    let output = store.run(&["tour", &folder]).unwrap();
    assert_ne!(output.code, 0, "a silent program is not what a newcomer should see");
}

#[test]
fn check_says_what_is_wrong_and_who_mends_it() {
    let store = store();
    let folder = store.store().display().to_string();
    let check = || store.run(&["check", "--store", &folder]).unwrap();
    let closed = check();
    assert_eq!(closed.code, 1, "{}", closed.out);
    assert!(closed.out.lines().any(|line| line.starts_with("no ")), "{}", closed.out);
    let mut trying = store.start("irina").unwrap();
    let fine = check();
    assert_eq!(fine.code, 0, "{}{}", fine.out, fine.err);
    assert!(
        fine.out.lines().filter(|line| !line.starts_with(' ')).all(|line| line.starts_with("ok ")),
        "{}",
        fine.out
    );
    store.store_command("lock", &[]).unwrap();
    let locked = check();
    assert_eq!(locked.code, 1);
    assert!(locked.out.contains("SHOP_IS_LOCK"), "{}", locked.out);
    store.store_command("unlock", &[]).unwrap();
    store.store_command("block", &["--login", "irina"]).unwrap();
    let blocked = check();
    assert!(blocked.code == 1 && blocked.out.contains("ACCESS_DENIED"), "{}", blocked.out);
    store.store_command("unblock", &["--login", "irina"]).unwrap();
    store.sql("update operations set load_1 = 0.0000001 where command = 'AGENT_MEMORY_SAVE'").unwrap();
    let busy = check();
    let names_load = busy.out.contains("AGENT_MEMORY_SAVE is refused now: COMMAND_LOAD_MAX");
    // A machine that has done nothing for minutes has no load to limit.
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    assert!(names_load && busy.code == 1 || load.starts_with("0.00"), "{}", busy.out);
    store.sql("update operations set load_1 = 0").unwrap();
    let list = store.home().join("stores.toml");
    let stores = std::fs::read(&list).unwrap();
    std::fs::write(&list, "][").unwrap();
    let damaged = check();
    assert!(
        damaged.code == 1 && damaged.out.contains("the list of stores cannot be read"),
        "{}",
        damaged.out
    );
    std::fs::write(&list, stores).unwrap();
    std::fs::write(store.store().join("Shop.ini"), "nonsense").unwrap();
    let broken = check();
    assert!(broken.code == 1 && broken.out.contains("Shop.ini"), "{}", broken.out);
    trying.stop().unwrap();
    let nowhere = store.run(&["check", "--store", "/no/such/folder"]).unwrap();
    assert_eq!(nowhere.code, 1, "{}", nowhere.out);
}

#[test]
fn exit_codes_are_kept() {
    let store = store();
    assert_eq!(store.run(&["--help"]).unwrap().code, 0);
    assert_eq!(store.run(&["--version"]).unwrap().code, 0);
    assert_eq!(store.run(&["serve"]).unwrap().code, 2);
    assert_eq!(store.run(&["no-such"]).unwrap().code, 2);
    assert_eq!(store.run(&[]).unwrap().code, 2);
    assert_eq!(store.run(&["serve", "--root", "/no/such/root"]).unwrap().code, 1);
}

#[test]
fn a_store_is_made_served_and_signed_in_to() {
    let own = tempfile::tempdir().unwrap();
    let root = own.path().join("root").display().to_string();
    let init = |password: &str| {
        let mut command = fixture().command();
        command.args(["store", "init", "--root", &root, "--name", "Mine", "--listen", "127.0.0.1:0"]);
        run(&mut command, format!("{password}\n").as_bytes(), PATIENCE).unwrap()
    };
    assert_eq!(init("").code, 1, "an empty password is none");
    assert_eq!(init("correct horse").code, 0);
    assert_eq!(init("another").code, 1, "a store is never made over another");
    let mut command = fixture().command();
    command.args(["serve", "--root", &root]);
    let running = Running::start(&mut command).unwrap();
    let line = String::from_utf8(running.line(PATIENCE).unwrap().unwrap()).unwrap();
    let url = format!("{}/core/mcp.php", line.split_whitespace().last().unwrap());
    let sign_in_as = |login: &str, password: &str| {
        let asked = json!({
            "command": "AGENT_SESSION_CONNECT", "params": {"login": login, "password": password},
            "build": wire::BUILD, "time": jiff::Timestamp::now().to_string(),
        });
        testkit::post(&url, &asked).unwrap().json()
    };
    let sign_in = |password: &str| sign_in_as("admin", password);
    assert_eq!(sign_in("wrong")["error"], "WRONG_PASSWORD");
    assert_eq!(sign_in("correct horse")["ok"], json!(true));
    let mut command = fixture().command();
    command.args(["store", "passwd", "--root", &root, "--login", "admin"]);
    assert_eq!(run(&mut command, b"battery staple\n", PATIENCE).unwrap().code, 0);
    assert_eq!(sign_in("correct horse")["error"], "WRONG_PASSWORD");
    assert_eq!(sign_in("battery staple")["ok"], json!(true));
    let add = |group: &str| {
        let mut command = fixture().command();
        command.args(["store", "adduser", "--root", &root, "--login", "anna", "--name", "Anna"]);
        command.args(["--group", group]);
        run(&mut command, b"blue kettle\n", PATIENCE).unwrap()
    };
    assert!(add("NOBODY").err.contains("no such group"));
    assert_eq!(add("ADMIN").code, 0);
    assert_eq!(sign_in_as("anna", "blue kettle")["data"]["group"]["skey"], "ADMIN");
    assert!(add("ADMIN").err.contains("there is a user `anna` already"));
}
