//! The store's gate: every cause set up for real, the call refused without effect, the cure applied.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use testkit::{Client, Console, Running, TestStore, TryOptions, Trying, wait_for};

use crate::setup::{fixture, is_row, store};

/// Tables that a refused call may touch: the count of wrong passwords, and when a ticket was used last.
const NO_EFFECT_ON: &[&str] = &["attempts", "tickets"];

struct Scene<'a> {
    store: &'a TestStore<'a>,
    trying: &'a Trying,
}

impl Scene<'_> {
    fn config(&self, key: &str, value: Value) {
        self.store
            .config(|config| {
                config.insert(key.to_owned(), value);
            })
            .unwrap();
    }
}

/// One row of the table.
struct Case {
    row: &'static str,
    beginning: &'static str,
    cause: fn(&Scene<'_>),
    cure: fn(&Scene<'_>),
    /// Whether the session must be opened anew after the cure.
    sign_in_again: bool,
    /// Whether `shopwright check` names it beforehand.
    check_names_it: bool,
}

const fn case(
    row: &'static str,
    beginning: &'static str,
    cause: fn(&Scene<'_>),
    cure: fn(&Scene<'_>),
) -> Case {
    Case { row, beginning, cause, cure, sign_in_again: false, check_names_it: true }
}

/// `HH:MM` so many minutes from now, in the store's zone, which these tests set to UTC.
fn clock(minutes: i64) -> String {
    let then = Timestamp::now().checked_add(SignedDuration::from_mins(minutes)).unwrap();
    TimeZone::UTC.to_datetime(then).strftime("%H:%M").to_string()
}

fn hours(scene: &Scene<'_>, begin: &str, end: &str) {
    let value = |time: &str| if time.is_empty() { "null".to_owned() } else { format!("'{time}'") };
    let (begin, end) = (value(begin), value(end));
    let change = format!(
        "update operations set hours_begin = {begin}, hours_end = {end} where command = 'AGENT_MEMORY_SAVE'"
    );
    scene.store.sql(&change).unwrap();
}

fn load(scene: &Scene<'_>, limit: &str) {
    let change = format!(
        "update operations set load_1 = {limit}, load_5 = {limit}, load_15 = {limit} where command = 'AGENT_MEMORY_SAVE'"
    );
    scene.store.sql(&change).unwrap();
}

/// Causes that pass without a new sign-in, as the seed says, and those that need one.
const CASES: &[Case] = &[
    case(
        "shop_is_lock",
        "SHOP_IS_LOCK",
        |scene| drop(scene.store.store_command("lock", &[]).unwrap()),
        |scene| drop(scene.store.store_command("unlock", &[]).unwrap()),
    ),
    case(
        "version_client",
        "VERSION_CLIENT:",
        |scene| scene.config("program_least", json!("99.0")),
        |scene| scene.config("program_least", json!("")),
    ),
    Case {
        sign_in_again: true,
        check_names_it: false,
        ..case(
            "wrong_password",
            "WRONG_PASSWORD",
            |scene| {
                scene
                    .store
                    .sql("update users set password_version = password_version + 1 where login = 'irina'")
                    .unwrap()
            },
            |_| {},
        )
    },
    Case {
        sign_in_again: true,
        ..case(
            "access_denied_bare",
            "ACCESS_DENIED",
            |scene| drop(scene.store.store_command("block", &["--login", "irina"]).unwrap()),
            |scene| drop(scene.store.store_command("unblock", &["--login", "irina"]).unwrap()),
        )
    },
    case(
        "ip_blocked",
        "IP_BLOCKED",
        |scene| scene.config("ip_list", json!(["10.9.8.7", "192.168.0-127.*", "2001:db8::/32"])),
        |scene| scene.config("ip_list", json!(["10.9.8.7", "127.0.0.0/8"])),
    ),
    case(
        "backup_time",
        "BACKUP_TIME: ",
        |scene| {
            scene.config("backup_begin", json!(clock(-30)));
            scene.config("backup_end", json!(clock(30)));
        },
        |scene| {
            scene.config("backup_begin", json!(""));
            scene.config("backup_end", json!(""));
        },
    ),
    case(
        "command_timeout",
        "COMMAND_TIMEOUT: ",
        |scene| hours(scene, &clock(60), &clock(120)),
        |scene| hours(scene, &clock(-60), &clock(60)),
    ),
    case("command_load_max", "COMMAND_LOAD_MAX: ", |scene| load(scene, "0.000001"), |scene| load(scene, "0")),
];

#[test]
fn every_cause_refuses_without_effect_and_its_cure_lets_the_same_call_pass() {
    let store = store();
    set_zone(&store);
    let trying = store.start("irina").unwrap();
    let scene = Scene { store: &store, trying: &trying };
    let mut client = trying.connected().unwrap();
    for (count, case) in CASES.iter().enumerate() {
        let call = json!({"name": format!("After {count}")});
        (case.cause)(&scene);
        until(&mut client, &call, case);
        let before = store.dump(NO_EFFECT_ON).unwrap();
        let text = client.refused("memory_save", call.clone()).unwrap();
        assert!(is_row(&text, case.row), "{}: {text}", case.row);
        assert!(text.starts_with(case.beginning), "{}: {text}", case.row);
        assert_eq!(store.dump(NO_EFFECT_ON).unwrap(), before, "{}: something was done", case.row);
        let check = store.run(&["check", "--store", &store.store().display().to_string()]).unwrap();
        let named = check.out.contains(case.beginning.trim_end());
        assert_eq!(
            (check.code, named),
            (i32::from(case.check_names_it), case.check_names_it),
            "{}",
            check.out
        );
        (case.cure)(&scene);
        if case.sign_in_again {
            client.connect("again").unwrap();
        }
        let saved = wait_for(case.row, Duration::from_secs(3), || {
            let answer = client.call("memory_save", call.clone()).unwrap();
            (!answer.refused()).then(|| answer.data())
        });
        assert_eq!(saved.unwrap()["saved"], "created", "{}", case.row);
    }
}

fn set_zone(store: &TestStore<'_>) {
    store
        .config(|config| {
            config.insert("time_zone".to_owned(), json!("UTC"));
        })
        .unwrap();
}

/// A changed config.json works within a second; until then the call passes, and what it made is taken back.
fn until(client: &mut Client, call: &Value, case: &Case) {
    let refused = wait_for(case.row, Duration::from_secs(3), || {
        let answer = client.call("memory_save", call.clone()).unwrap();
        if answer.refused() {
            return Some(());
        }
        client.call("memory_remove", json!({"id": answer.data()["id"]})).unwrap();
        None
    });
    refused.unwrap();
}

/// A request past the MCP server, as a program of any build and clock could send it.
struct Raw {
    agent: String,
    program: String,
    people: BTreeMap<String, String>,
}

impl Raw {
    fn new(trying: &Trying) -> Self {
        let url = trying.url();
        Self {
            agent: format!("{url}/core/mcp.php"),
            program: format!("{url}/core/program.php"),
            people: trying.people(),
        }
    }

    fn request(command: &str, params: &Value) -> Map<String, Value> {
        let request = json!({
            "command": command, "params": params, "build": wire::BUILD, "time": Timestamp::now().to_string(),
        });
        match request {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    fn sign_in(&self, login: &str, change: impl FnOnce(&mut Map<String, Value>)) -> Value {
        let mut request =
            Self::request("AGENT_SESSION_CONNECT", &json!({"login": login, "password": self.people[login]}));
        change(&mut request);
        testkit::post(&self.agent, &Value::Object(request)).unwrap().json()
    }

    fn program_ticket(&self, login: &str) -> Value {
        let params = json!({"login": login, "password": self.people[login]});
        let answer =
            testkit::post(&self.program, &Value::Object(Self::request("PROGRAM_SIGN_IN", &params))).unwrap();
        answer.json()["data"]["ticket"].clone()
    }

    fn as_program(&self, ticket: &Value, command: &str, params: &Value) -> Value {
        let mut request = Self::request(command, params);
        request.insert("session".to_owned(), ticket.clone());
        testkit::post(&self.program, &Value::Object(request)).unwrap().json()
    }
}

fn refusal(answer: &Value) -> &str {
    answer["refusal"].as_str().unwrap_or_default()
}

#[test]
fn builds_clocks_and_malformed_requests_are_refused_by_the_engine() {
    let store = store();
    let trying = store.start("admin").unwrap();
    let raw = Raw::new(&trying);
    let engine_too_old = raw.sign_in("irina", |request| {
        request.insert("least".to_owned(), json!("99.0"));
    });
    assert_eq!(refusal(&engine_too_old), "version_server", "{engine_too_old}");
    assert!(engine_too_old["error"].as_str().unwrap().starts_with("VERSION_SERVER:"));
    let ticket = raw.sign_in("irina", |_| {})["data"]["ticket"].clone();
    let ask = |command: &str, tool: &str, change: &dyn Fn(&mut Map<String, Value>)| {
        let mut request = Raw::request(command, &json!({}));
        request.insert("session".to_owned(), ticket.clone());
        request.insert("tool".to_owned(), json!(tool));
        change(&mut request);
        testkit::post(&raw.agent, &Value::Object(request)).unwrap().json()
    };
    assert_eq!(ask("AGENT_MEMORY_LIST", "memory_list", &|_| {})["ok"], json!(true));
    let unknown = ask("AGENT_NO_SUCH", "no_such", &|_| {});
    assert_eq!(refusal(&unknown), "unknown_command", "{unknown}");
    let odd = ask("AGENT_MEMORY_LIST", "memory_list", &|request| {
        request.insert("params".to_owned(), json!({"colour": "green"}));
    });
    assert_eq!(refusal(&odd), "bad_request", "{odd}");
    for body in ["", "{", "[]", "{\"command\": 7}", "null", "\u{0}"] {
        let answer =
            testkit::send("POST", &raw.agent, &[("content-type", "application/json")], body.as_bytes())
                .unwrap();
        assert_eq!(refusal(&answer.json()), "bad_request", "{body:?}: {}", answer.text());
    }
    store.sql("delete from tickets").unwrap();
    let expired = ask("AGENT_MEMORY_LIST", "memory_list", &|_| {});
    assert_eq!(refusal(&expired), "ticket_unknown", "{expired}");
    store
        .config(|config| {
            config.insert("program_exact".to_owned(), json!(true));
        })
        .unwrap();
    let other = wait_for("version_fail", Duration::from_secs(3), || {
        let answer = raw.sign_in("irina", |request| {
            request.insert("build".to_owned(), json!("0.0.9"));
        });
        (answer["ok"] == json!(false)).then_some(answer)
    })
    .unwrap();
    assert_eq!(refusal(&other), "version_fail", "{other}");
    let words = other["error"].as_str().unwrap();
    assert!(
        words.starts_with("VERSION_FAIL:") && words.contains("0.0.9") && words.contains(wire::BUILD),
        "{words}"
    );
    assert_eq!(raw.sign_in("irina", |_| {})["ok"], json!(true));
}

#[test]
fn a_changed_password_ends_the_session_until_the_person_signs_in_again() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    let (root, fresh) = (store.root(), "battery staple");
    let mut command = store.command(&["store", "passwd", "--login", "irina", "--root"]);
    command.arg(root);
    let changed = testkit::run(&mut command, format!("{fresh}\n").as_bytes(), testkit::PATIENCE).unwrap();
    assert_eq!(changed.code, 0, "{}", changed.err);
    for (tool, arguments) in [("memory_list", json!({})), ("session_connect", json!({"topic": "x"}))] {
        let text = client.refused(tool, arguments).unwrap();
        assert!(is_row(&text, "wrong_password"), "{tool}: {text}");
    }
    let console = Console::open(trying.info()["console"].as_str().unwrap()).unwrap();
    console.sign_in("irina", fresh, false).unwrap();
    client.connect("x").unwrap();
    client.done("memory_save", json!({"name": "Back"})).unwrap();
}

#[test]
fn an_expired_ticket_is_renewed_without_the_agent() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    store.sql("delete from tickets").unwrap();
    client.done("memory_list", json!({})).unwrap();
}

#[test]
fn a_broken_engine_answers_with_an_incident_and_changes_nothing() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    store.sql("alter table notes rename to notes_away").unwrap();
    let text = client.refused("memory_list", json!({})).unwrap();
    assert!(is_row(&text, "engine_failed"), "{text}");
    assert!(!text.contains("notes_away") && !text.to_lowercase().contains("select"), "{text}");
    store.sql("alter table notes_away rename to notes").unwrap();
    client.done("memory_list", json!({})).unwrap();
}

#[test]
fn a_fault_of_the_server_itself_is_told_with_an_incident() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.client().unwrap();
    let list = store.home().join("stores.toml");
    let whole = std::fs::read(&list).unwrap();
    std::fs::write(&list, "stores = [broken").unwrap();
    let text = client.refused("session_connect", json!({"topic": "x"})).unwrap();
    assert!(is_row(&text, "internal"), "{text}");
    assert!(text.contains("incident"), "{text}");
    std::fs::write(&list, whole).unwrap();
    client.connect("x").unwrap();
}

#[test]
fn administrators_pass_the_list_of_addresses() {
    let store = store();
    let trying = store.start("admin").unwrap();
    let mut client = trying.connected().unwrap();
    let raw = Raw::new(&trying);
    store
        .config(|config| {
            config.insert("ip_list".to_owned(), json!(["10.9.8.7"]));
        })
        .unwrap();
    wait_for("the list", Duration::from_secs(3), || {
        (refusal(&raw.sign_in("irina", |_| {})) == "ip_blocked").then_some(())
    })
    .unwrap();
    client.done("memory_list", json!({})).unwrap();
    client.connect("again").unwrap();
    // A forwarded address is believed only from a trusted proxy.
    let forwarded = |address: &str| {
        let request = Raw::request(
            "AGENT_SESSION_CONNECT",
            &json!({"login": "irina", "password": raw.people["irina"]}),
        );
        let headers = [("content-type", "application/json"), ("x-forwarded-for", address)];
        testkit::send("POST", &raw.agent, &headers, Value::Object(request).to_string().as_bytes())
            .unwrap()
            .json()
    };
    assert_eq!(refusal(&forwarded("10.9.8.7")), "ip_blocked");
    store
        .config(|config| {
            config.insert("trusted_proxies".to_owned(), json!(["127.0.0.1"]));
        })
        .unwrap();
    let passed = wait_for("the proxy", Duration::from_secs(3), || {
        let answer = forwarded("10.9.8.7");
        (answer["ok"] == json!(true)).then_some(answer)
    });
    passed.unwrap();
    assert_eq!(refusal(&forwarded("10.9.8.8")), "ip_blocked");
    // The nearest untrusted address counts: what a client puts in front is its own invention.
    assert_eq!(refusal(&forwarded("10.9.8.7, 10.9.8.8")), "ip_blocked");
}

#[test]
fn the_first_cause_of_the_order_is_said() {
    let store = store();
    set_zone(&store);
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    let scene = Scene { store: &store, trying: &trying };
    let order = [
        "shop_is_lock",
        "version_client",
        "wrong_password",
        "access_denied_bare",
        "ip_blocked",
        "backup_time",
        "command_timeout",
        "command_load_max",
    ];
    let cases: Vec<&Case> =
        order.iter().map(|row| CASES.iter().find(|case| case.row == *row).unwrap()).collect();
    // All at once; blocking ends tickets, which would hide the wrong password, so the person is blocked by hand.
    for case in &cases {
        match case.row {
            "access_denied_bare" => {
                store.sql("update users set blocked = true where login = 'irina'").unwrap()
            }
            _ => (case.cause)(&scene),
        }
    }
    let said = |client: &mut Client| {
        let text = client.refused("memory_save", json!({"name": "x"})).unwrap();
        testkit::transcript::refusal_name(&text).unwrap()
    };
    for case in &cases {
        wait_for(case.row, Duration::from_secs(3), || (said(&mut client) == case.row).then_some(())).unwrap();
        match case.row {
            "access_denied_bare" => {
                store.sql("update users set blocked = false where login = 'irina'").unwrap()
            }
            "wrong_password" => {
                store
                    .sql("update users set password_version = password_version - 1 where login = 'irina'")
                    .unwrap();
            }
            _ => (case.cure)(&scene),
        }
    }
    wait_for("the end", Duration::from_secs(3), || {
        (!client.call("memory_save", json!({"name": "x"})).unwrap().refused()).then_some(())
    })
    .unwrap();
}

#[test]
fn near_the_backup_one_request_in_ten_is_refused_before_anything_is_done() {
    let store = store();
    set_zone(&store);
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    let scene = Scene { store: &store, trying: &trying };
    scene.config("backup_begin", json!(clock(20)));
    scene.config("backup_end", json!(clock(50)));
    let mut refused = 0;
    wait_for("the half-hour", Duration::from_secs(5), || {
        client.call("memory_list", json!({})).unwrap().refused().then_some(())
    })
    .unwrap();
    let notes =
        || store.cell("select count(*) from notes where name = 'Soon'").unwrap().parse::<usize>().unwrap();
    let (mut done, all) = (0, 2000);
    let numbers: Vec<usize> = (0..all).collect();
    // Many at once, but none so late that it waits for its time limit on a busy machine.
    for some in numbers.chunks(100) {
        let asked: Vec<u64> = some.iter().map(|number| ask_near_the_backup(&mut client, *number)).collect();
        for (number, id) in some.iter().zip(asked) {
            let answer = client.answer(id).unwrap()["result"].clone();
            if answer["isError"] == json!(true) {
                let text = answer["content"][0]["text"].as_str().unwrap();
                assert!(is_row(text, "backup_soon") && text.starts_with("BACKUP_SOON: "), "{text}");
                refused += 1;
            } else if number % 10 == 0 {
                done += 1;
            }
        }
    }
    assert_eq!(notes(), done, "a refused save did nothing, a done one is there");
    assert!((7 * all..=13 * all).contains(&(refused * 100)), "{refused} of {all}");
    assert!(scene.trying.info().is_object());
}

/// Every tenth request writes, the others read.
fn ask_near_the_backup(client: &mut testkit::Client, number: usize) -> u64 {
    let (tool, arguments) = if number.is_multiple_of(10) {
        ("memory_save", json!({"name": "Soon"}))
    } else {
        ("memory_list", json!({"find": "zzz"}))
    };
    client.ask("tools/call", json!({"name": tool, "arguments": arguments})).unwrap()
}

/// A licence authority and a store that it licenses.
struct Licensed {
    authority: Running,
    folder: tempfile::TempDir,
    url: String,
    key: String,
    secret: String,
}

fn licensor(folder: &std::path::Path, action: &str, rest: &[&str]) -> testkit::Output {
    let mut command = fixture().command();
    command.args(["licensor", action, "--folder"]).arg(folder).args(rest);
    let output = testkit::run(&mut command, b"", testkit::PATIENCE).unwrap();
    assert_eq!(output.code, 0, "{}", output.err);
    output
}

impl Licensed {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = licensor(folder.path(), "keys", &[]).out.trim().to_owned();
        let add = ["Tea shop", "--domain", "127.0.0.1", "--until", "2999-12-31"];
        let secret = licensor(folder.path(), "add", &add).out.trim().to_owned();
        let mut command = fixture().command();
        command.args(["licensor", "serve", "--listen", "127.0.0.1:0", "--folder"]).arg(folder.path());
        let authority = Running::start(&mut command).unwrap();
        let line = String::from_utf8(authority.line(testkit::PATIENCE).unwrap().unwrap()).unwrap();
        let url = line.split_whitespace().last().unwrap().to_owned();
        Self { authority, folder, url, key, secret }
    }

    fn license(&self, store: &TestStore<'_>, domain: &str) {
        let licence = json!({"public_key": self.key, "domain": domain, "authority": self.url});
        store
            .config(|config| {
                config.insert("licence".to_owned(), licence);
                config.insert("secrets".to_owned(), json!({"licence": self.secret}));
            })
            .unwrap();
    }
}

fn token_files(store: &TestStore<'_>) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(store.store().join("tokens")).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "lic")).collect();
    // By their day: late in the evening tomorrow's is there too.
    files.sort();
    files
}

#[test]
fn a_licensed_store_works_by_the_token_of_the_day() {
    let store = store();
    let mut licensed = Licensed::start();
    licensed.license(&store, "127.0.0.1");
    let trying = store.start("irina").unwrap();
    let tokens = wait_for("a token", Duration::from_secs(10), || {
        Some(token_files(&store)).filter(|all| !all.is_empty())
    });
    let mut client = trying.connected().unwrap();
    client.done("memory_list", json!({})).unwrap();

    // The file goes, then comes again: the open session works again by itself.
    let kept: Vec<(std::path::PathBuf, Vec<u8>)> =
        tokens.unwrap().into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    for (path, _) in &kept {
        std::fs::remove_file(path).unwrap();
    }
    let text = client.refused("memory_list", json!({})).unwrap();
    assert!(is_row(&text, "licence_none"), "{text}");
    assert!(text.starts_with("LICENCE_NONE:") && text.contains("tokens"), "the folder is named: {text}");
    let text = client.refused("session_connect", json!({"topic": "x"})).unwrap();
    assert!(is_row(&text, "licence_none"), "{text}");
    for (path, bytes) in &kept {
        std::fs::write(path, bytes).unwrap();
    }
    client.connect("x").unwrap();

    // A token that does not fit.
    for wrong in ["", "v4.public.AAAA", "nonsense"] {
        for (path, _) in &kept {
            std::fs::write(path, wrong).unwrap();
        }
        let text = client.refused("memory_list", json!({})).unwrap();
        assert!(is_row(&text, "licence_error") || is_row(&text, "licence_none"), "{wrong:?}: {text}");
        if !wrong.is_empty() {
            assert!(is_row(&text, "licence_error"), "{wrong:?}: {text}");
        }
    }
    for (path, bytes) in &kept {
        std::fs::write(path, bytes).unwrap();
    }
    client.done("memory_list", json!({})).unwrap();

    // The licence is for another domain.
    licensed.license(&store, "shop.example.com");
    let said = wait_for("the other domain", Duration::from_secs(3), || {
        let answer = client.call("memory_list", json!({})).unwrap();
        answer.refused().then(|| answer.text())
    })
    .unwrap();
    assert!(is_row(&said, "licence_domain"), "{said}");
    licensed.license(&store, "127.0.0.1");
    wait_for("the right domain", Duration::from_secs(3), || {
        (!client.call("memory_list", json!({})).unwrap().refused()).then_some(())
    })
    .unwrap();
    clocks_and_sources(&store, &trying, &licensed, &kept[0].1);
    assert!(licensed.authority.alive() && licensed.folder.path().exists());
}

fn clocks_and_sources(store: &TestStore<'_>, trying: &Trying, licensed: &Licensed, token: &[u8]) {
    let raw = Raw::new(trying);
    let token = json!(String::from_utf8_lossy(token).trim());
    let at = |minutes: i64| {
        raw.sign_in("irina", |request| {
            let time = Timestamp::now().checked_add(SignedDuration::from_mins(minutes)).unwrap();
            request.insert("time".to_owned(), json!(time.to_string()));
            request.insert("licence".to_owned(), token.clone());
        })
    };
    for minutes in [-11, 11, 600] {
        assert_eq!(refusal(&at(minutes)), "licence_date", "{minutes} minutes off");
    }
    assert_eq!(at(9)["ok"], json!(true), "{}", at(9));
    assert_eq!(at(-9)["ok"], json!(true));
    // Another login's token, and none.
    let foreign = raw.sign_in("admin", |request| {
        request.insert("licence".to_owned(), token.clone());
    });
    assert_eq!(refusal(&foreign), "licence_error");
    assert_eq!(refusal(&raw.sign_in("irina", |_| {})), "licence_error");
    // A program asks for proofs, and the settings do not say where tokens come from.
    let ticket = raw.program_ticket("irina");
    assert_eq!(raw.as_program(&ticket, "PROGRAM_LICENCE", &json!({}))["ok"], json!(true));
    store
        .config(|config| {
            config.insert("licence".to_owned(), json!({"public_key": licensed.key, "domain": "127.0.0.1"}));
        })
        .unwrap();
    let said = wait_for("no source", Duration::from_secs(3), || {
        let answer = raw.as_program(&ticket, "PROGRAM_LICENCE", &json!({}));
        (answer["ok"] == json!(false)).then_some(answer)
    })
    .unwrap();
    assert_eq!(refusal(&said), "no_licence_source", "{said}");
}

#[test]
fn a_table_in_work_is_not_written_until_its_holder_frees_it() {
    let store = store();
    store.store_command("grant", &["--login", "irina", "AGENT_ENGINE_DB_UNLOCKS"]).unwrap();
    let trying = store.start("irina").unwrap();
    let mut client = trying.connected().unwrap();
    let raw = Raw::new(&trying);
    let ticket = raw.program_ticket("admin");
    let take = json!({"tables": ["notes"], "what": "Memory window", "seconds": 60});
    let taken = raw.as_program(&ticket, "PROGRAM_LEASE_TAKE", &take);
    assert_eq!(taken["ok"], json!(true), "{taken}");
    let before = store.dump(NO_EFFECT_ON).unwrap();
    for (tool, arguments) in [("memory_save", json!({"name": "x"})), ("memory_remove", json!({"id": 8}))] {
        let text = client.refused(tool, arguments).unwrap();
        assert!(is_row(&text, "table_in_work"), "{text}");
        assert!(text.contains("Marta Lind") && text.contains("nothing was written"), "{text}");
    }
    assert_eq!(store.dump(NO_EFFECT_ON).unwrap(), before);
    client.done("memory_list", json!({})).unwrap();
    client.accept_rules("engine_db_locks", json!({})).unwrap();
    let locks = client.done("engine_db_locks", json!({})).unwrap();
    assert!(locks.to_string().contains("Marta Lind"), "{locks}");
    let text = client.refused("engine_db_unlocks", json!({"tables": ["notes"]})).unwrap();
    assert!(is_row(&text, "lease_not_own"), "{text}");
    let free = json!({"tables": ["notes"], "holder": taken["data"]["holder"]});
    assert_eq!(raw.as_program(&ticket, "PROGRAM_LEASE_FREE", &free)["ok"], json!(true));
    client.done("memory_save", json!({"name": "x"})).unwrap();
    // A holder that is gone does not hold for ever.
    let short = json!({"tables": ["notes"], "what": "Gone", "seconds": 1});
    assert_eq!(raw.as_program(&ticket, "PROGRAM_LEASE_TAKE", &short)["ok"], json!(true));
    client.refused("memory_save", json!({"name": "y"})).unwrap();
    wait_for("the end of the lease", Duration::from_secs(5), || {
        (!client.call("memory_save", json!({"name": "y"})).unwrap().refused()).then_some(())
    })
    .unwrap();
}

#[test]
fn wrong_passwords_are_slowed_down_and_others_are_not() {
    let store = store();
    store
        .config(|config| {
            config.insert("trusted_proxies".to_owned(), json!(["127.0.0.1"]));
        })
        .unwrap();
    let trying = store.start("admin").unwrap();
    let raw = Raw::new(&trying);
    let from = |address: &str, login: &str, password: &str| -> Value {
        let request = Raw::request("AGENT_SESSION_CONNECT", &json!({"login": login, "password": password}));
        let headers = [("content-type", "application/json"), ("x-forwarded-for", address)];
        let body = Value::Object(request).to_string();
        testkit::send("POST", &raw.agent, &headers, body.as_bytes()).unwrap().json()
    };
    // Which of the two is wrong is not told.
    let (unknown, known) = (from("203.0.113.5", "nobody", "wrong"), from("203.0.113.5", "irina", "wrong"));
    assert_eq!((&unknown["error"], refusal(&unknown)), (&known["error"], refusal(&known)));
    assert_eq!(refusal(&known), "wrong_password");
    // After very many of them the next tries queue up, and who would wait too long is told at once.
    store
        .sql("update attempts set count = 100000 where kind = 'address' and subject = '203.0.113.5'")
        .unwrap();
    std::thread::scope(|scope| {
        let (tell, told) = std::sync::mpsc::channel();
        for _ in 0..5 {
            let (tell, from) = (tell.clone(), &from);
            scope.spawn(move || tell.send(from("203.0.113.5", "nobody", "wrong")));
        }
        // Meanwhile somebody else, from elsewhere, signs in.
        let since = Instant::now();
        let passed = from("198.51.100.7", "admin", &raw.people["admin"]);
        assert_eq!(passed["ok"], json!(true), "{passed}");
        assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
        let first = told.recv_timeout(Duration::from_secs(9)).unwrap();
        assert_eq!(refusal(&first), "too_many_attempts", "{first}");
    });
}

#[test]
fn demo_mode_asks_for_no_password_and_says_so() {
    let store = store();
    std::fs::write(store.root().join("admin.here"), "").unwrap();
    let trying = store.start("irina").unwrap();
    let raw = Raw::new(&trying);
    let request = Raw::request("AGENT_SESSION_CONNECT", &json!({"login": "irina", "password": ""}));
    let answer = testkit::post(&raw.agent, &Value::Object(request)).unwrap().json();
    assert_eq!(answer["data"]["demo"], json!(true), "{answer}");
    let mut client = trying.client().unwrap();
    let connected = client.call("session_connect", json!({"topic": "demo"})).unwrap();
    assert_eq!(connected.data()["demo"], json!(true));
    assert!(connected.texts()[1].to_lowercase().contains("demo"), "{}", connected.texts()[1]);
    let mut open = store.command(&["serve", "--listen", "0.0.0.0:0", "--root"]);
    open.arg(store.root());
    let refused = testkit::run(&mut open, b"", testkit::PATIENCE).unwrap();
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("demo mode"), "{}", refused.err);
}

#[test]
fn a_closed_store_refuses_to_start_nothing_else() {
    let store = store();
    let trying = store.start_with(&TryOptions::login("irina")).unwrap();
    store.store_command("lock", &[]).unwrap();
    let mut client = trying.client().unwrap();
    let text = client.refused("session_connect", json!({"topic": "x"})).unwrap();
    assert!(is_row(&text, "shop_is_lock"), "{text}");
    client.done("session_init", json!({})).unwrap();
    store.store_command("unlock", &[]).unwrap();
    client.connect("x").unwrap();
}
